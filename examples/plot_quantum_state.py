"""
Estimate a quantum state, online and at once
============================================

Four qubits in a noisy GHZ state. Online, one noisy expectation of a Pauli string a round teaches a density matrix W by
matrix exponentiated gradient (Tsuda, Raetsch and Warmuth, 2005):

    W_{t+1} = exp(log W_t - 2 eta (tr(W_t P_t) - y_t) P_t) / tr.

At once, counts in all 3^4 Pauli bases give the state of maximum likelihood, with a certificate: for any rho,
f(rho) - f* <= log lambda_max(R), R = sum_k (f_k / p_k) E_k.
"""

# %%
# A state, and what an experiment sees of it
# ------------------------------------------

import matplotlib.pyplot as plt
import numpy as np
from matrixlearn_meg import MEGLearner
from matrixlearn_quantum import (
    PauliString,
    StateTomography,
    all_settings,
    fidelity,
    ghz_state,
    pauli_labels,
    sample_counts,
)

import matrixlearn as ml

rng = np.random.default_rng(0)
q, shots = 4, 100
d = 2**q
state = 0.9 * ghz_state(q) + 0.1 * np.eye(d) / d
settings = all_settings(q)

# %%
# Online: a string at random, the mean of 100 outcomes +1 and -1
# --------------------------------------------------------------
# A string has one entry a column: a round costs O(d) beside the exponential.

labels = pauli_labels(q)[1:]  # the identity tells nothing


def stream(rounds):
    for k in rng.integers(0, len(labels), rounds):
        string = PauliString(labels[k])
        ups = rng.binomial(shots, (1 + string.inner(state)) / 2)
        yield string, 2 * ups / shots - 1


rounds = np.unique(np.geomspace(1, 8000, 40).astype(int))
curves = {}
for rate in (0.05, 0.2):
    learner, found = MEGLearner(d, rate), []
    for t in rounds:
        learner.learn(stream(t - learner.rounds))
        found.append(fidelity(learner.W, state))
    curves[rate] = found
    print(f"online, eta = {rate:g}: fidelity {found[-1]:.4f} after {learner.rounds} rounds")

# %%
# At once: 100 shots in each of the 81 settings
# ---------------------------------------------

problem = StateTomography(settings, sample_counts(state, settings, shots, random_state=1), target=state)
solution = ml.solve(problem, tol=1e-6)
print(solution.summary())
print(f"smallest eigenvalue {np.linalg.eigvalsh(solution.matrix)[0]:.1e}, trace {np.trace(solution.matrix).real:.15g}")
gradient = ml.solve(problem, "exponentiated-gradient", tol=1e-4)
for answer in (gradient, solution):
    print(f"{answer.method}: gap {answer.gap:.1e} after {answer.iterations} iterations, {answer.seconds:.2f} s")

# %%
# The same with fewer and more shots, to compare both ways for the same number of measurements

total, likely = [], []
for each in (10, 30, 100, 300, 1000, 10_000):
    counts = sample_counts(state, settings, each, random_state=2)
    total.append(counts.sum() / shots)
    likely.append(fidelity(ml.solve(StateTomography(settings, counts), tol=1e-5).matrix, state))

# %%
figure, axes = plt.subplots(1, 3, figsize=(14, 3.8), layout="constrained", width_ratios=(1, 1, 1.4))
for rate, found in curves.items():
    axes[0].semilogx(rounds, found, label=f"online, $\\eta$ = {rate:g}")
axes[0].semilogx(total, likely, "o--", color="C3", label="maximum likelihood")
axes[0].set(xlabel=f"rounds, of {shots} shots each", ylabel="fidelity with the state", ylim=(0, 1.02))
axes[0].legend(frameon=False, loc="lower right")
for answer, color in ((gradient, "C2"), (solution, "C3")):
    h = answer.history
    axes[1].loglog(h.column("iteration") + 1, h.column("gap"), color=color, label=answer.method)
axes[1].set(xlabel="iteration", ylabel="certified gap")
axes[1].legend(frameon=False)
problem.plot(solution, axes[2])
figure.savefig("quantum_state.png", dpi=100)
plt.show()
