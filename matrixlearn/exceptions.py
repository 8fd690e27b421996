"""The errors of matrixlearn: each message says what happened, what was given and what to do."""

from __future__ import annotations


class MatrixLearnError(Exception):
    """Base class of every error raised on purpose by matrixlearn."""


class ProblemError(MatrixLearnError, ValueError):
    """The data of a problem are not usable; the message names the argument."""


class CapabilityError(MatrixLearnError, ValueError):
    """An engine was asked for a problem that lacks a primitive which the engine needs."""


class MachinesError(MatrixLearnError, RuntimeError):
    """Machines that keep data cannot be had, or were lost; the message says which and what to do."""


class CertificateError(MatrixLearnError):
    """A certificate does not hold for the data it claims to be about."""


class ContradictionError(CertificateError):
    """Two proved bounds contradict each other: a bug, or data that changed under the proof."""


class PluginError(MatrixLearnError):
    """Base class of the errors of the plugin registry."""


class PluginNotFoundError(PluginError, KeyError):
    """No problem of this name is registered."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show the repr of the message


class PluginLoadError(PluginError, ImportError):
    """A registered plugin could not be imported; the message names its distribution."""


class PluginConflictError(PluginError):
    """Two distributions register the same name."""


class MissingExtraError(MatrixLearnError, ImportError):
    """An optional dependency is not installed; the message says how to install it."""


class UnseenTaskWarning(UserWarning):
    """A label that ``fit`` did not see, or one that is misspelt: it is predicted by what all tasks share."""
