"""The registry: lazy, read-only, and an error says which distribution to blame."""

import sys
from collections.abc import MutableMapping

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.exceptions import (
    CapabilityError,
    PluginConflictError,
    PluginLoadError,
    PluginNotFoundError,
    ProblemError,
)
from matrixlearn.registry import _installed, registered_engines
from matrixlearn.testing.laws.engine import Opaque
from matrixlearn.testing.strategies import random_instance


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """Put a distribution with one entry point on the path, as pip would."""

    def make(name, entry, value, group="problems", **modules):
        site = tmp_path / name
        info = site / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[matrixlearn.{group}]\n{entry} = {value}\n")
        for module, source in modules.items():
            (site / f"{module}.py").write_text(source)
            monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.syspath_prepend(str(site))

    return make


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    for registry in (ml.registered_problems(), registered_engines()):
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.delenv("MATRIXLEARN_PLUGINS", raising=False)


GOOD = "from matrixlearn_maxcut import MaxCut\nclass Other(MaxCut):\n    name = 'other'\n"


def test_a_plugin_is_found_and_loaded_by_name(distribution):
    distribution("good-plugin", "other", "good_module:Other", good_module=GOOD)
    assert "other" in ml.registered_problems()
    assert ml.registered_problems()["other"].__name__ == "Other"
    assert ml.registered_problems().origin("other") == "good-plugin"


def test_a_conflict_names_both_distributions_and_spares_the_others(distribution):
    distribution("first-plugin", "clash", "good_module:Other", good_module=GOOD)
    distribution("second-plugin", "clash", "another_module:Other", another_module=GOOD)
    with pytest.raises(PluginConflictError, match=r"(?s)(first-plugin.*second-plugin|second-plugin.*first-plugin)"):
        ml.registered_problems()["clash"]
    assert ml.registered_problems()["maxcut"].name == "maxcut"


def test_a_stranger_cannot_take_a_name_of_ours_silently(distribution):
    distribution("usurper", "maxcut", "good_module:Other", good_module=GOOD)
    with pytest.raises(PluginConflictError, match="usurper"):
        ml.registered_problems()["maxcut"]


def test_the_same_distribution_twice_on_the_path_is_no_conflict(distribution, tmp_path, monkeypatch):
    distribution("good-plugin", "other", "good_module:Other", good_module=GOOD)
    (tmp_path / "copy").symlink_to(tmp_path / "good-plugin")
    monkeypatch.syspath_prepend(str(tmp_path / "copy"))
    assert ml.registered_problems()["other"].__name__ == "Other"


def test_a_failed_import_names_the_distribution_and_keeps_the_cause(distribution):
    distribution("broken-plugin", "broken", "broken_module:X", broken_module="raise RuntimeError('no luck')")
    assert "broken" in ml.registered_problems()  # listing does not import
    with pytest.raises(PluginLoadError, match=r"broken-plugin.*broken_module:X.*no luck") as caught:
        ml.registered_problems()["broken"]
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("value", ["missing_module:X", "hollow_module:Nothing"])
def test_a_missing_module_or_name_is_a_load_error(distribution, value):
    distribution("hollow-plugin", "hollow", value, hollow_module="")
    with pytest.raises(PluginLoadError, match="hollow-plugin"):
        ml.registered_problems()["hollow"]


def test_what_is_no_problem_is_a_load_error(distribution):
    distribution("odd-plugin", "odd", "odd_module:X", odd_module="X = dict")
    with pytest.raises(PluginLoadError, match=r"odd-plugin.*Problem"):
        ml.registered_problems()["odd"]


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(PluginNotFoundError, match=r"maxkut.*maxcut") as caught:
        ml.registered_problems()["maxkut"]
    assert isinstance(caught.value, KeyError)
    assert ml.registered_problems().get("maxkut") is None


def test_the_mapping_is_read_only():
    problems = ml.registered_problems()
    assert not isinstance(problems, MutableMapping)
    with pytest.raises(TypeError):
        problems["mine"] = ml.LinearSDP
    with pytest.raises(TypeError):
        del problems["sdp"]
    assert len(problems) == len(list(problems))


def test_listing_imports_no_plugin(run_python, tmp_path):
    script = (
        "import sys, matrixlearn as ml; known = ml.registered_problems(); list(known); 'maxcut' in known; len(known);"
        "print([m for m in sys.modules if m.startswith('matrixlearn_')])"
    )
    assert run_python("-c", script, cwd=tmp_path).strip() == "[]"


def test_metadata_are_read_once_until_a_folder_changes(distribution):
    list(ml.registered_problems())
    misses = _installed.cache_info().misses
    assert "maxcut" in ml.registered_problems() and "other" not in ml.registered_problems()
    assert _installed.cache_info().misses == misses
    distribution("good-plugin", "other", "good_module:Other", good_module=GOOD)
    assert "other" in ml.registered_problems()


def test_an_unused_broken_plugin_breaks_nothing(distribution):
    distribution("broken-plugin", "broken", "broken_module:X", broken_module="raise RuntimeError")
    solution = ml.solve(random_instance(ml.registered_problems()["maxcut"], 3))
    assert solution.status == "optimal"


@pytest.mark.parametrize(
    ("value", "names"),
    [("maxcut", {"maxcut", "sdp"}), (" maxcut , discrepancy", {"maxcut", "discrepancy", "sdp"}), ("", {"sdp"})],
)
def test_the_allow_list_limits_what_is_offered(monkeypatch, value, names):
    monkeypatch.setenv("MATRIXLEARN_PLUGINS", value)
    assert set(ml.registered_problems()) == names


def test_the_allow_list_settles_a_conflict_of_names_not_on_it(monkeypatch, distribution):
    distribution("usurper", "maxcut", "good_module:Other", good_module=GOOD)
    monkeypatch.setenv("MATRIXLEARN_PLUGINS", "discrepancy")
    with pytest.raises(PluginNotFoundError):
        ml.registered_problems()["maxcut"]
    assert ml.registered_problems()["discrepancy"].name == "discrepancy"


def test_register_offers_a_class_and_gives_it_its_name():
    @ml.register("mine")
    class Mine(ml.LinearSDP):
        pass

    assert ml.registered_problems()["mine"] is Mine
    assert Mine.name == "mine"
    assert ml.LinearSDP.name == "sdp"


def test_register_again_from_the_same_cell_replaces():
    def cell():
        @ml.register("mine")
        class Mine(ml.LinearSDP):
            pass

        return Mine

    first, second = cell(), cell()
    assert first is not second
    assert ml.registered_problems()["mine"] is second


@pytest.mark.parametrize(("name", "holder"), [("sdp", "LinearSDP"), ("maxcut", "matrixlearn")])
def test_register_refuses_a_name_that_is_taken(name, holder):
    class Mine(ml.LinearSDP):
        pass

    with pytest.raises(PluginConflictError, match=holder):
        ml.register(name)(Mine)
    assert ml.registered_problems()[name] is not Mine


# -- engines ----------------------------------------------------------------------------------------

ENGINE = """
from matrixlearn.engines import InteriorPoint
class Patient(InteriorPoint):
    name = "patient"
    def preferred(self, problem, tol):
        return "it is a stranger's"
"""


def game():
    return ml.LinearSDP(np.diag([1.0, 2.0]), [np.eye(2)], [1.0], 2.0)


def test_a_strangers_engine_is_found_listed_and_asked_for_by_name(distribution):
    distribution("good-engine", "patient", "engine_module:Patient", group="engines", engine_module=ENGINE)
    assert registered_engines().origin("patient") == "good-engine"
    assert "patient" in ml.methods(game())
    solution = ml.solve(game(), method="patient", tol=1e-6)
    assert solution.method == "patient"
    assert solution.value == pytest.approx(2.0, rel=1e-5)


def test_an_engine_that_is_installed_does_not_change_what_auto_takes(distribution):
    before = ml.solve(game()).method
    distribution("good-engine", "patient", "engine_module:Patient", group="engines", engine_module=ENGINE)
    assert ml.solve(game()).method == before
    assert "engine_module" not in sys.modules


def test_an_engine_is_all_that_auto_has_for_a_problem_of_its_own(distribution):
    source = """
from matrixlearn.engines import Engine, Proposal, State
class Guess(Engine):
    name = "guess"
    def objection(self, problem):
        return "" if type(problem).__name__ == "Opaque" else "guess is for Opaque problems"
    def init(self, problem, incumbent):
        return State()
    def step(self, problem, state, incumbent):
        return State((Proposal(y=[0.5]),), "a guess is all")
"""
    with pytest.raises(CapabilityError, match="no engine can solve"):
        ml.solve(Opaque())
    distribution("guesses", "guess", "guess_module:Guess", group="engines", guess_module=source)
    solution = ml.solve(Opaque())
    assert (solution.method, solution.status, solution.lower, solution.upper) == ("guess", "stopped", 0.0, 1.0)


@pytest.mark.parametrize("source", ["raise RuntimeError('no luck')", "Broken = dict"])
def test_a_broken_engine_breaks_only_those_who_ask_for_it(distribution, source):
    distribution("bad-engine", "broken", "bad_engine:Broken", group="engines", bad_engine=source)
    assert ml.solve(game()).status == "optimal"
    assert "broken" not in ml.methods(game())
    with pytest.raises(PluginLoadError, match="bad-engine"):
        ml.solve(game(), method="broken")


def test_two_engines_of_one_name_are_a_conflict_for_those_who_ask(distribution):
    distribution("usurper", "pdhg", "engine_module:Patient", group="engines", engine_module=ENGINE)
    distribution("usurper-of-newton", "newton", "engine_module:Patient", group="engines", engine_module=ENGINE)
    assert registered_engines()["pdhg"] is ml.engines.HybridGradient  # the library's own cannot be taken
    with pytest.raises(PluginConflictError, match="usurper-of-newton"):
        registered_engines()["newton"]


def test_the_allow_list_keeps_the_engines_of_a_problem_that_it_names(monkeypatch):
    monkeypatch.setenv("MATRIXLEARN_PLUGINS", "definiteboost")
    assert {"corrective", "barrier"} <= set(registered_engines())
    assert "joint" not in registered_engines()


def test_an_engine_of_a_notebook_is_registered_like_a_problem():
    @ml.register("mine")
    class Mine(ml.engines.InteriorPoint):
        pass

    assert registered_engines()["mine"] is Mine
    assert Mine.name == "mine"
    assert ml.engines.InteriorPoint.name == "interior-point"
    assert ml.solve(game(), method="mine").method == "mine"


def test_what_is_neither_problem_nor_engine_cannot_be_registered():
    with pytest.raises(ProblemError, match="Problem or of Engine"):
        ml.register("mine")(dict)
