"""Says what to install where the kit's dependencies are missing."""

from importlib.util import find_spec

from matrixlearn.exceptions import MissingExtraError

missing = [name for name in ("hypothesis", "cvxpy") if find_spec(name) is None]
if missing:
    msg = f"matrixlearn.testing needs {' and '.join(missing)}: pip install 'matrixlearn[test]'"
    raise MissingExtraError(msg)
