"""The public names: what `__all__` says is what is there, documented."""

import importlib
import inspect
import re
from types import ModuleType

import pytest

import matrixlearn as ml
from matrixlearn.engines.schedules import Schedule

# modules that users and plugin authors import by name, each with a table of contents
MODULES = (
    "matrixlearn",
    "matrixlearn.engines",
    "matrixlearn.exponents",
    "matrixlearn.linalg",
    "matrixlearn.maps",
    "matrixlearn.losses",
    "matrixlearn.machines",
    "matrixlearn.multitask",
    "matrixlearn.oracles",
    "matrixlearn.present",
    "matrixlearn.penalties",
    "matrixlearn.problems",
    "matrixlearn.reductions",
    "matrixlearn.sets",
    "matrixlearn.testing",
    "matrixlearn_definiteboost",
    "matrixlearn_discrepancy",
    "matrixlearn_erm",
    "matrixlearn_maxcut",
    "matrixlearn_meg",
    "matrixlearn_network",
    "matrixlearn_quantum",
)
CONTRACTS = (ml.exponents.Exponent, Schedule)  # protocols: a class need not inherit from them
# docs/design.md, "Public names (keep)"
PROMISED = {
    "Certificate", "LinearSDP", "Solution", "Status", "certify", "methods", "problems", "register",
    "registered_engines", "registered_problems", "solve",
}  # fmt: skip


def public(module):
    """Names without an underscore that are no modules, and the modules that `__all__` offers."""
    names = {
        name
        for name, value in vars(module).items()
        if name[0] != "_"
        and not isinstance(value, ModuleType)
        and name != "TYPE_CHECKING"
        and getattr(value, "__module__", "") != "typing"
    }
    return names | {name for name in module.__all__ if isinstance(getattr(module, name), ModuleType)}


@pytest.mark.parametrize("name", MODULES)
def test_all_equals_reality(name):
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    lazy = {entry for entry in module.__all__ if entry not in vars(module)}
    assert set(module.__all__) - {"__version__"} == public(module) | lazy
    for entry in module.__all__:
        assert getattr(module, entry) is not None


def test_the_promised_names_are_there():
    assert set(ml.__all__) >= PROMISED
    signature = inspect.signature(ml.solve)
    assert list(signature.parameters) == [
        "problem", "method", "tol", "max_iter", "time_limit", "progress", "callback", "warm_start", "random_state",
        "atol", "checkpoint", "resume",
    ]  # fmt: skip
    assert signature.parameters["method"].default == "auto"
    assert signature.parameters["tol"].default == 1e-3


def test_testing_is_reachable_and_a_wrong_name_is_an_attribute_error():
    assert ml.testing is importlib.import_module("matrixlearn.testing")
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = ml.no_such_name


def test_the_import_stays_light(run_python, tmp_path):
    heavy = ("cvxpy", "hypothesis", "sklearn", "matplotlib", "pytest", "click", "rich", "matrixlearn.testing")
    script = f"import sys, matrixlearn; print([m for m in {heavy!r} if m in sys.modules])"
    assert run_python("-c", script, cwd=tmp_path).strip() == "[]"


def documented():
    for name in MODULES:
        module = importlib.import_module(name)
        yield pytest.param(module, id=name)
        for entry in module.__all__:
            value = getattr(module, entry)
            if inspect.isfunction(value) or inspect.isclass(value):
                yield pytest.param(value, id=f"{name}.{entry}")


@pytest.mark.parametrize("thing", list(documented()))
def test_everything_public_has_a_docstring(thing):
    own = thing.__doc__ or ""
    assert len(own) >= 8
    assert not own.startswith(f"{getattr(thing, '__name__', '')}("), (
        "the signature that dataclasses write is no docstring"
    )
    if not inspect.isclass(thing):
        return
    for name, member in vars(thing).items():
        wrapped = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        if name[0] == "_" or not inspect.isfunction(wrapped) or wrapped.__module__.split(".")[0] != "matrixlearn":
            continue
        # an override inherits the docstring of its contract; a class may list its attributes together
        contracts = [*thing.__mro__, *(contract for contract in CONTRACTS if issubclass_of(thing, contract))]
        texts = [getattr(vars(contract).get(name), "__doc__", None) for contract in contracts]
        listed = re.search(rf"^\s*(\w+, )*{name}\b", own.partition("Attributes\n")[2], re.M)
        assert any(texts) or listed, f"{thing.__qualname__}.{name} has no docstring, and no contract that has one"


def issubclass_of(thing, contract):
    """Whether a class has every method of a protocol."""
    return all(hasattr(thing, name) for name in vars(contract) if name[0] != "_")
