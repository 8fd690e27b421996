"""Bad input of the quantum plugin: a ProblemError that names the argument and says what was given."""

import numpy as np
import pytest
from matrixlearn_quantum import (
    PauliMeasurement,
    PauliString,
    StateTomography,
    fidelity,
    ghz_state,
    sample_counts,
)

from matrixlearn.exceptions import ProblemError

GOOD = np.ones((2, 4))
SETTINGS = ["XX", "ZZ"]


@pytest.mark.parametrize(
    ("settings", "counts", "match"),
    [
        (SETTINGS, -GOOD, "counts must not be negative, got -1"),
        (SETTINGS, 0 * GOOD, "counts are all zero"),
        (SETTINGS, GOOD[:1], r"counts .* 2 settings .* got shape \(1, 4\)"),
        (SETTINGS, np.ones((2, 3)), r"counts .* 4 outcomes, got shape \(2, 3\)"),
        (SETTINGS, np.ones(4), r"counts .* got shape \(4,\)"),
        (SETTINGS, 1j * GOOD, "counts must be real"),
        (SETTINGS, np.full((2, 4), np.nan), "counts holds 8 NaN"),
        (SETTINGS, [[1, 2, 3, np.inf], [0, 0, 0, 0]], "counts holds 1 NaN or infinite"),
        (SETTINGS, [[1, 2, 3], [0]], "counts is ragged"),
        (SETTINGS, [["a"] * 4] * 2, "counts must hold numbers"),
        (SETTINGS, None, "counts must hold numbers, got None"),
        (["XX", "ZI"], GOOD, r"settings .* X, Y, Z.* settings\[1\] = 'ZI'"),
        (["XX", "zz"], GOOD, r"settings\[1\] = 'zz'"),
        (["XX", "Z"], GOOD, r"settings .* same number of qubits.* settings\[1\] = 'Z'"),
        (["XX", ""], GOOD, r"settings\[1\] = ''"),
        (["XX", 3], GOOD, r"settings\[1\] = 3"),
        (["XX", np.nan], GOOD, r"settings\[1\] = nan"),
        ([], GOOD, "settings is empty"),
        (["X" * 13], np.ones((1, 1)), "settings name 13 qubits"),
    ],
)
def test_settings_and_counts(settings, counts, match):
    with pytest.raises(ProblemError, match=match):
        StateTomography(settings, counts)


@pytest.mark.parametrize(
    ("target", "match"),
    [
        (np.eye(4), "target .* trace 4"),
        (np.diag([1.5, -0.5, 0, 0]), "target .* smallest eigenvalue is -0.5"),
        (np.triu(np.ones((4, 4))) / 4, "target must be .*symmetric|target must be Hermitian"),
        (ghz_state(3), r"target .* \(4, 4\) or \(4,\), got \(8, 8\)"),
        (np.zeros(4), "target is the zero vector"),
        (np.full(4, np.nan), "target holds 4 NaN"),
    ],
)
def test_targets(target, match):
    with pytest.raises(ProblemError, match=match):
        StateTomography(SETTINGS, GOOD, target)


@pytest.mark.parametrize("label", ["", "XA", "xz", None, 3])
def test_letters_of_a_string(label):
    with pytest.raises(ProblemError, match="label must be a string of the letters I, X, Y, Z"):
        PauliString(label)


@pytest.mark.parametrize("weight", [np.nan, np.inf, "1"])
def test_weights_of_a_string(weight):
    with pytest.raises(ProblemError, match="weight must be"):
        PauliString("X", weight)


def test_matrices_of_another_size():
    with pytest.raises(ProblemError, match=r"rho must be a 4 x 4 matrix .* got \(8, 8\)"):
        PauliMeasurement(SETTINGS).probabilities(ghz_state(3))
    with pytest.raises(ProblemError, match=r"y must have shape \(2, 4\), got \(3,\)"):
        PauliMeasurement(SETTINGS).apply(np.ones(3))
    with pytest.raises(ProblemError, match="sigma must be a density matrix"):
        fidelity(ghz_state(2), ghz_state(3))
    with pytest.raises(ProblemError, match="rho must be a density matrix"):
        sample_counts(ghz_state(3), SETTINGS, 5)
    with pytest.raises(ProblemError, match="shots must be a whole number >= 0, got -1"):
        sample_counts(ghz_state(2), SETTINGS, -1)


def test_one_qubit_and_one_count():
    problem = StateTomography("Z", [[1, 0]])  # a setting of one qubit, given as a string
    assert problem.d == 2
    np.testing.assert_array_equal(problem.counts, [[1.0, 0.0]])
