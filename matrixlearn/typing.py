"""Names for the types in signatures."""

from __future__ import annotations

from types import ModuleType
from typing import Any, TypeAlias

Array: TypeAlias = Any
"""An array of any namespace of the array API standard (NumPy, array-api-strict, torch, ...)."""

ArrayNamespace: TypeAlias = ModuleType
