"""The online learner: a state that streams of examples move on, one at a time or by the million.

Batch and online are two classes, not one with a flag: `MEGRegression` asks for an optimum and gets a
certificate; `MEGLearner` promises a bound on what its predictions cost on the way, and has no optimum.
(``solve(MEGRegression(X, y), method="online")`` is one pass of it, certified against that optimum.)
Both run through the same engine, `matrixlearn.engines.MirrorDescent`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn.engines import MirrorDescent, run
from matrixlearn.engines.base import INTERRUPTED, OUT_OF_REACH
from matrixlearn.engines.mirror import MirrorState
from matrixlearn.exceptions import MachinesError, MatrixLearnError, ProblemError
from matrixlearn.files import archive, read_archive, reading_state_of, replacing
from matrixlearn.machines import Ledger, Local, Machines, Shards
from matrixlearn.oracles import Done
from matrixlearn.problems import Bound, Play, Problem
from matrixlearn_meg.instances import as_instance
from matrixlearn_meg.losses import SQUARE, loss_of
from matrixlearn_meg.maps import StreamExponent, first_losses, map_of
from matrixlearn_meg.meter import Meter, comparator_of, divergence
from matrixlearn_meg.minibatches import Minibatches, check_labels
from matrixlearn_meg.rates import Fixed, rate_of
from matrixlearn_meg.stream import Examples, Memory, Setting, Snapshots, pairs_of

FORMAT = 1
HERE: Machines = Local()


@dataclass(frozen=True, eq=False)
class Pass(Problem):
    """One pass over a stream, as a problem for the engine of rounds: an exponent and an oracle, and no bounds."""

    routine: StreamExponent
    examples: Examples | Minibatches

    scale = 1.0

    @property
    def like(self) -> np.ndarray:
        return self.routine.start

    def play(self) -> Play:
        return Play(self.routine, self.examples)

    def bound_from_matrix(self, X: Any) -> Bound:
        return Bound(point=X)

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        return Bound(point=y)

    def reference(self) -> Any:
        raise NotImplementedError


class MEGLearner:
    """W_{t+1} = exp(log W_1 - sum_s eta_s l'_s sym(X_s)) / Z: online learning of a density matrix.

    Parameters
    ----------
    d : int
        Side length.
    rate : float, "adaptive" or Rate
        eta: a number (`Fixed`), `Lemma32`, or `Adaptive`, which needs to know nothing.
    loss : str or Loss
        "square", "absolute", "huber", "logistic".
    update : {"normalized", "unnormalized", "logdet"}
        (3.5), (3.4), or the implicit LogDet update. Only the first has trace one and a loss bound.
    W1 : array, shape (d, d), optional
        Where to begin, positive definite; I / d by default.
    comparator : array, shape (d, d), optional
        A density matrix U for the regret meter.
    snapshot_every : int
        Keep a copy of W every so many rounds, in `snapshots`; 0 keeps none.

    Attributes
    ----------
    W : array, shape (d, d)
        The matrix after all rounds so far.
    rounds : int
    meter : Meter
        Losses and bound, round by round.
    snapshots : dict of int to array
        W by the number of rounds before it.
    ledger : matrixlearn.machines.Ledger or None
        What the last `learn_from` has sent.

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_meg import MEGLearner, Pair
    >>> learner = MEGLearner(3, rate=0.5)
    >>> for _ in range(200):
    ...     learner = learner.learn([(Pair(0, 1, 3), 0.9), (Pair(1, 2, 3), 0.1)])
    >>> bool(abs(learner.predict(Pair(0, 1, 3)) - 0.9) < 1e-3)
    True

    References
    ----------
    Tsuda, Raetsch and Warmuth (2005), Algorithm 1 and Section 3.2.
    """

    def __init__(
        self,
        d: int,
        rate: Any = "adaptive",
        *,
        loss: Any = "square",
        update: str = "normalized",
        W1: Any = None,
        comparator: Any = None,
        snapshot_every: int = 0,
    ) -> None:
        if not (isinstance(d, int | np.integer) and d >= 1):
            msg = f"d must be a whole number >= 1, got {d!r}"
            raise ProblemError(msg)
        if not (isinstance(snapshot_every, int | np.integer) and snapshot_every >= 0):
            msg = f"snapshot_every must be a whole number >= 0, got {snapshot_every!r}"
            raise ProblemError(msg)
        self.d = int(d)
        self.update = update
        self.loss = loss_of(loss)
        self.rate = rate_of(rate)
        self._map = map_of(update, self.d)
        if update != "normalized" and not isinstance(self.rate, Fixed):
            msg = f"rate must be a number for the {update} update: Lemma 3.2 and its relatives need trace one"
            raise ProblemError(msg)
        self._G = first_losses(update, self.d, W1)
        self._W: np.ndarray | None = None
        self._memory = Memory()
        self._W1 = self._map(self._G)
        U = None if comparator is None else comparator_of(comparator, self.d)
        covered = update == "normalized" and self.loss == SQUARE
        self.meter = Meter(U, divergence(U, self._G) if U is not None and covered else 0.0, covered)
        self._snapshots = Snapshots(int(snapshot_every))
        self.ledger: Ledger | None = None

    # -- learning ---------------------------------------------------------------------------------

    def learn(self, examples: Iterable[tuple[Any, Any]]) -> MEGLearner:
        """One round for each (X_t, y_t); the iterable is read one by one and never held.

        Raises
        ------
        ProblemError
            For a bad example, naming its round; the rounds before it are learned, it leaves no trace.
        """
        if not hasattr(examples, "__iter__"):
            msg = f"examples must be an iterable of pairs (X, y), got {type(examples).__name__}"
            raise ProblemError(msg)
        return self._played(self.reading(examples))

    def learn_from(self, shards: Shards, machines: Machines = HERE, batch: int = 100) -> MEGLearner:
        """One pass over vectors that stay on machines: X_t = x_t x_t^T, a round is ``batch`` rows of each machine.

        Of a round W goes to all machines, and their losses and gradients, d^2 numbers each, come back; no row travels.
        The loss of a round is the mean of its rows, and Lemma 3.1 is about that.

        Parameters
        ----------
        shards : Shards
            Rows x_t, (n_i, d), and labels y_t of each machine.
        machines : Machines
            Where they are kept; let go at the end.
        batch : int
            >= 1.

        Raises
        ------
        ProblemError
            For rows or labels that cannot be right, and for the LogDet update, whose step is one of a single instance.
        MachinesError
            Where the machines are lost for good; what was learned by then stays.
        """
        if not (isinstance(batch, int | np.integer) and not isinstance(batch, bool) and batch >= 1):
            msg = f"batch must be a number of rows >= 1, got {batch!r}"
            raise ProblemError(msg)
        if self.update == "logdet":
            msg = "learn_from has no LogDet update: its implicit step is that of one instance"
            raise ProblemError(msg)
        held = machines.hold(shards)
        try:
            width = int(held.map(check_labels, loss=self.loss)[0])
            if width != self.d:
                msg = f"the rows have {width} features, and the learner is of matrices of side {self.d}"
                raise ProblemError(msg)
            oracle = Minibatches(self._setting(iter(())), self._memory, held, int(batch))
            self.ledger = held.opened(self.d)
            return self._played(Pass(StreamExponent(self._map, self._G, self._W), oracle))
        finally:
            held.rest()

    def _played(self, problem: Pass) -> MEGLearner:
        """Rounds until the stream ends; what they have learned stays, however they end."""
        done = run(MirrorDescent(), problem, tol=-1.0)
        state = done.state
        if isinstance(state, MirrorState) and isinstance(state.oracle, Examples | Minibatches):
            last = state.last
            self._G, self._memory = state.G, state.oracle.memory
            self._W = None
            if done.ended == INTERRUPTED:  # after the last whole round
                raise KeyboardInterrupt
            if last is not None and isinstance(last.answer, Done):
                self._W = last.X
                if last.answer.evidence is not None:
                    raise last.answer.evidence
        if done.ended.startswith(OUT_OF_REACH):
            raise MachinesError(done.ended)
        return self  # perhaps interrupted before the first round

    def reading(self, examples: Iterable[tuple[Any, Any]]) -> Pass:
        """The pass through a stream, from where this learner stands, for an engine to run."""
        return Pass(StreamExponent(self._map, self._G, self._W), Examples(self._setting(iter(examples)), self._memory))

    def _setting(self, stream: Iterator[tuple[Any, Any]]) -> Setting:
        """What stays the same from round to round."""
        return Setting(stream, self.d, self.loss, self.rate, self.update, self.meter, self._W1, self._snapshots)

    def partial_fit(self, X: Any, y: Any) -> MEGLearner:
        """Learn from a stack: X of shape (T, d, d), or (T, d) for dyads x x^T, or a list; y of shape (T,)."""
        return self.learn(pairs_of(X, y))

    # -- what was learned -------------------------------------------------------------------------

    @property
    def W(self) -> np.ndarray:
        if self._W is None:
            self._W = self._map(self._G)
        return self._W

    @property
    def rounds(self) -> int:
        return self._memory.rounds

    @property
    def total_loss(self) -> float:
        """sum_t l(tr(W_t X_t), y_t)."""
        return self._memory.total_loss

    @property
    def snapshots(self) -> dict[int, np.ndarray]:
        return self._snapshots.taken

    def predict(self, X: Any) -> float:
        """tr(W X) of one instance."""
        return as_instance(X, self.d).inner(self.W)

    # -- files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to an .npz file (no pickle): G, what is remembered, the meter, the snapshots."""
        m = self.meter
        arrays = {
            "G": self._G,
            "losses": np.array(m.losses),
            "comparator_losses": np.array(m.comparator_losses),
            "bounds": np.array(m.bounds),
            "snapshot_rounds": np.array(sorted(self.snapshots), dtype=np.int64),
            "snapshots": np.array([self.snapshots[t] for t in sorted(self.snapshots)]),
        }
        if m.comparator is not None:
            arrays["comparator"] = m.comparator
        meta = {
            "format": FORMAT,
            "d": self.d,
            "update": self.update,
            "memory": self._memory._asdict(),
            "meter": [m.distance, m.bounded, m.weighted, m.least_rate],
        }
        with replacing(path) as file:
            file.write(archive(meta, arrays))

    def restore(self, path: str | os.PathLike[str]) -> MEGLearner:
        """Take over the state that `save` wrote; rate and loss are this learner's own.

        Raises
        ------
        MatrixLearnError
            For a file of another kind, size or update.
        """
        with reading_state_of("MEGLearner", path):
            arrays = read_archive(path)
            meta = json.loads(str(arrays["meta"]))
            known = (meta["format"], meta["d"], meta["update"])
            distance, bounded, weighted, least = meta["meter"]
            memory = Memory(**meta["memory"])
            meter = Meter(arrays.get("comparator"), distance, bounded, weighted=weighted, least_rate=least)
            for name in ("losses", "comparator_losses", "bounds"):
                getattr(meter, name).extend(arrays[name].tolist())
            snapshots = dict(zip(arrays["snapshot_rounds"].tolist(), arrays["snapshots"], strict=True))
            G = arrays["G"]
        if known != (FORMAT, self.d, self.update):
            msg = f"the file has (format, d, update) = {known}, this learner {(FORMAT, self.d, self.update)}"
            raise MatrixLearnError(msg)
        self._G, self._W, self._memory, self.meter = G, None, memory, meter
        self._snapshots.taken = snapshots
        return self
