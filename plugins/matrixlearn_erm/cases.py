"""Which of the four cases a problem is, and which methods theory and measurement prefer there.

    case   psi strongly convex   f smooth     form              rates to an error eps, plain and accelerated
    1      yes                   yes          primal or dual    (n + L R^2/sigma) log 1/eps,   (n + sqrt(n L R^2/sigma)) log 1/eps
    2      yes                   no           dual              n + G^2/(sigma eps),           n + sqrt(n) G / sqrt(sigma eps)
    3      no                    yes          primal            n + L R^2/eps,                 n + sqrt(n L R^2/eps)
    4      no                    no           saddle            n + G^2/eps^2,                 n + sqrt(n) G/eps

R = max ||a_i||, L the smoothness of f, sigma the strong convexity of psi, G = R max |f'|. Acceleration pays where
kappa = L R^2 / sigma exceeds n: then sqrt(n kappa) < kappa.
"""  # noqa: E501

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matrixlearn_erm.problem import ERM

FORMS = {1: "primal or dual", 2: "dual", 3: "primal", 4: "saddle"}


@dataclass(frozen=True)
class Case:
    """The case of a problem.

    Attributes
    ----------
    number : int
        1 to 4, as in the table.
    kappa : float
        L R^2 / sigma; inf in the cases 2 to 4.
    n : int
        Samples.
    """

    number: int
    kappa: float
    n: int

    @classmethod
    def of(cls, problem: ERM) -> Case:
        """The case of a problem, its R counted with the shares of samples."""
        L, sigma = problem.loss.smoothness, problem.penalty.strong_convexity
        smooth, strong = math.isfinite(L), sigma > 0
        number = (1 if smooth else 2) if strong else (3 if smooth else 4)
        return cls(number, L * problem.R2 / sigma if number == 1 else math.inf, problem.n)

    @property
    def accelerate(self) -> bool:
        """Whether theory has the accelerated methods ahead: kappa > n."""
        return self.kappa > self.n

    @property
    def theory(self) -> str:
        """What theory prefers among methods that look at one sample a step."""
        if self.number == 1:
            return "katyusha, apcg or spdc" if self.accelerate else "sdca or svrg; acceleration gains nothing"
        return {2: "sdca, the dual being smooth", 3: "katyusha", 4: "chambolle-pock"}[self.number]

    @property
    def measured(self) -> str:
        """What was the fastest to a certified gap (``benchmarks/erm/peers.py``)."""
        return {
            1: "newton-cg, at any kappa; chambolle-pock, restarted, for penalties other than the elastic net",
            2: "dual-interior-point up to 1000 features or samples, beyond it "
            "chambolle-pock; sdca where R^2 / sigma n is below 100",
            3: "newton-cg on the weights that are not 0; chambolle-pock, restarted, for penalties other than l1",
            4: "chambolle-pock, restarted",
        }[self.number]

    def __str__(self) -> str:
        has = (
            f"psi {'strongly convex' if self.number in (1, 2) else 'not strongly convex'}",
            f"f {'smooth' if self.number in (1, 3) else 'not smooth'}",
        )
        against = f", kappa = {self.kappa:.3g} against n = {self.n}" if self.number == 1 else ""
        return f"{self.number} ({has[0]}, {has[1]}{against}): the {FORMS[self.number]} form"

    def advice(self) -> str:
        """The case, and both preferences, in a few lines for `Solution.explain`."""
        return f"case {self}\ntheory prefers {self.theory}\nmeasured: {self.measured}"
