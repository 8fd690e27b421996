"""
Estimate a quantum state, online and at once
============================================

Four qubits in a noisy W state, measured in Pauli settings: one letter X, Y or Z a qubit, 100 shots each. Online, every
setting gives 15 means of Pauli strings, tr(W P) = y + noise, which teach a density matrix W by matrix exponentiated
gradient (Tsuda, Raetsch and Warmuth, 2005):

::

    W_{t+1} = exp(log W_t - 2 eta (tr(W_t P_t) - y_t) P_t) / tr.

At once, the counts of all settings so far give the state of maximum likelihood, with a certificate: for any rho,
f(rho) - f* <= log lambda_max(R), R = sum_k (f_k / p_k) E_k.
"""

# %%
# A state, and what an experiment sees of it
# ------------------------------------------
# Settings at random, again and again: after 81 of them most of the 3^4 have been seen.

import matplotlib.pyplot as plt
import numpy as np
from matrixlearn_meg import MEGLearner
from matrixlearn_quantum import StateTomography, all_settings, fidelity, sample_counts, string_means, w_state

import matrixlearn as ml
from matrixlearn.present import presenter_of

rng = np.random.default_rng(0)
q, shots = 4, 100
d = 2**q
state = 0.95 * w_state(q) + 0.05 * np.eye(d) / d
settings = rng.choice(all_settings(q), 648)
counts = sample_counts(state, settings, shots, rng)
rounds = np.unique(np.geomspace(1, len(settings), 28).astype(int))

# %%
# Online: 15 strings a setting, each shown once
# ---------------------------------------------
# A string has one entry a column: a round costs O(d) beside the exponential.

curves = {}
for rate in ("adaptive", 0.01, 0.1):
    learner, found, before = MEGLearner(d, rate), [], 0
    for k in rounds:
        learner.learn(string_means(settings[before:k], counts[before:k]))
        found.append(fidelity(learner.W, state))
        before = k
    curves[rate] = found
    print(f"online, rate {rate}: fidelity {found[-1]:.4f} after {learner.rounds} strings of {len(settings)} settings")

# %%
# At once: the same counts, again at every check
# ----------------------------------------------

likely = [fidelity(ml.solve(StateTomography(settings[:k], counts[:k]), tol=1e-4).matrix, state) for k in rounds]
print(f"maximum likelihood: fidelity {likely[-1]:.4f} after {len(settings)} settings")

problem = StateTomography(settings, counts, target=state)
solution = ml.solve(problem, tol=1e-6)
print(solution.summary())
print(f"smallest eigenvalue {np.linalg.eigvalsh(solution.matrix)[0]:.1e}, trace {np.trace(solution.matrix).real:.15g}")
gradient = ml.solve(problem, "exponentiated-gradient", tol=1e-4)
for answer in (gradient, solution):
    print(f"{answer.method}: gap {answer.gap:.1e} after {answer.iterations} iterations, {answer.seconds:.2f} s")

# %%
figure, axes = plt.subplots(1, 3, figsize=(14, 3.8), layout="constrained", width_ratios=(1, 1, 1.4))
for rate, found in curves.items():
    axes[0].semilogx(rounds, found, label=f"online, {rate}" if rate == "adaptive" else f"online, $\\eta$ = {rate}")
axes[0].semilogx(rounds, likely, "o--", ms=3, color="C3", label="maximum likelihood")
axes[0].set(xlabel=f"settings measured, {shots} shots each", ylabel="fidelity with the state", ylim=(0, 1.02))
axes[0].legend(frameon=False, loc="lower right", fontsize=8)
for answer, color in ((gradient, "C2"), (solution, "C3")):
    h = answer.history
    axes[1].loglog(h.column("iteration") + 1, h.column("gap"), color=color, label=answer.method)
axes[1].set(xlabel="iteration", ylabel="certified gap")
axes[1].legend(frameon=False)
presenter_of(problem).plot(solution, axes[2])
plt.show()
