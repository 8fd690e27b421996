"""Quantum state estimation: Pauli operators without matrices, and certified maximum likelihood from counts."""

from matrixlearn_quantum.effects import EffectMeasurement
from matrixlearn_quantum.factored import Factored
from matrixlearn_quantum.gradient import ExponentiatedGradient
from matrixlearn_quantum.measurement import PauliMeasurement, all_settings, string_means
from matrixlearn_quantum.pauli import PauliString
from matrixlearn_quantum.problem import StateTomography
from matrixlearn_quantum.states import fidelity, ghz_state, random_state, sample_counts, w_state
from matrixlearn_quantum.transforms import pauli_expectations, pauli_labels, pauli_sum

__all__ = [
    "EffectMeasurement",
    "ExponentiatedGradient",
    "Factored",
    "PauliMeasurement",
    "PauliString",
    "StateTomography",
    "all_settings",
    "fidelity",
    "ghz_state",
    "pauli_expectations",
    "pauli_labels",
    "pauli_sum",
    "random_state",
    "sample_counts",
    "string_means",
    "w_state",
]
