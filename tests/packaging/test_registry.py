"""The registry: lazy, read-only, and an error says which distribution to blame."""

import sys
from collections.abc import MutableMapping

import pytest

import matrixlearn as ml
from matrixlearn import registry
from matrixlearn.exceptions import PluginConflictError, PluginLoadError, PluginNotFoundError
from matrixlearn.testing.strategies import random_instance


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """Put a distribution with one entry point on the path, as pip would."""

    def make(name, entry, value, **modules):
        site = tmp_path / name
        info = site / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[matrixlearn.problems]\n{entry} = {value}\n")
        for module, source in modules.items():
            (site / f"{module}.py").write_text(source)
            monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.syspath_prepend(str(site))

    return make


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.delenv("MATRIXLEARN_PLUGINS", raising=False)


GOOD = "from matrixlearn_maxcut import MaxCut\nclass Other(MaxCut):\n    name = 'other'\n"


def test_a_plugin_is_found_and_loaded_by_name(distribution):
    distribution("good-plugin", "other", "good_module:Other", good_module=GOOD)
    assert "other" in ml.problems()
    assert ml.problems()["other"].__name__ == "Other"
    assert ml.problems().origin("other") == "good-plugin"


def test_a_conflict_names_both_distributions_and_spares_the_others(distribution):
    distribution("first-plugin", "clash", "good_module:Other", good_module=GOOD)
    distribution("second-plugin", "clash", "another_module:Other", another_module=GOOD)
    with pytest.raises(PluginConflictError, match=r"(?s)(first-plugin.*second-plugin|second-plugin.*first-plugin)"):
        ml.problems()["clash"]
    assert ml.problems()["maxcut"].name == "maxcut"


def test_a_stranger_cannot_take_a_name_of_ours_silently(distribution):
    distribution("usurper", "maxcut", "good_module:Other", good_module=GOOD)
    with pytest.raises(PluginConflictError, match="usurper"):
        ml.problems()["maxcut"]


def test_the_same_distribution_twice_on_the_path_is_no_conflict(distribution, tmp_path, monkeypatch):
    distribution("good-plugin", "other", "good_module:Other", good_module=GOOD)
    (tmp_path / "copy").symlink_to(tmp_path / "good-plugin")
    monkeypatch.syspath_prepend(str(tmp_path / "copy"))
    assert ml.problems()["other"].__name__ == "Other"


def test_a_failed_import_names_the_distribution_and_keeps_the_cause(distribution):
    distribution("broken-plugin", "broken", "broken_module:X", broken_module="raise RuntimeError('no luck')")
    assert "broken" in ml.problems()  # listing does not import
    with pytest.raises(PluginLoadError, match=r"broken-plugin.*broken_module:X.*no luck") as caught:
        ml.problems()["broken"]
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("value", ["missing_module:X", "hollow_module:Nothing"])
def test_a_missing_module_or_name_is_a_load_error(distribution, value):
    distribution("hollow-plugin", "hollow", value, hollow_module="")
    with pytest.raises(PluginLoadError, match="hollow-plugin"):
        ml.problems()["hollow"]


def test_what_is_no_problem_is_a_load_error(distribution):
    distribution("odd-plugin", "odd", "odd_module:X", odd_module="X = dict")
    with pytest.raises(PluginLoadError, match=r"odd-plugin.*Problem"):
        ml.problems()["odd"]


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(PluginNotFoundError, match=r"maxkut.*maxcut") as caught:
        ml.problems()["maxkut"]
    assert isinstance(caught.value, KeyError)
    assert ml.problems().get("maxkut") is None


def test_the_mapping_is_read_only():
    problems = ml.problems()
    assert not isinstance(problems, MutableMapping)
    with pytest.raises(TypeError):
        problems["mine"] = ml.LinearSDP
    with pytest.raises(TypeError):
        del problems["sdp"]
    assert len(problems) == len(list(problems))


def test_listing_imports_no_plugin(run_python, tmp_path):
    script = (
        "import sys, matrixlearn as ml; list(ml.problems()); 'maxcut' in ml.problems(); len(ml.problems());"
        "print([m for m in sys.modules if m.startswith('matrixlearn_')])"
    )
    assert run_python("-c", script, cwd=tmp_path).strip() == "[]"


def test_an_unused_broken_plugin_breaks_nothing(distribution):
    distribution("broken-plugin", "broken", "broken_module:X", broken_module="raise RuntimeError")
    solution = ml.solve(random_instance(ml.problems()["maxcut"], 3))
    assert solution.status == "optimal"


@pytest.mark.parametrize(
    ("value", "names"),
    [("maxcut", {"maxcut", "sdp"}), (" maxcut , discrepancy", {"maxcut", "discrepancy", "sdp"}), ("", {"sdp"})],
)
def test_the_allow_list_limits_what_is_offered(monkeypatch, value, names):
    monkeypatch.setenv("MATRIXLEARN_PLUGINS", value)
    assert set(ml.problems()) == names


def test_the_allow_list_settles_a_conflict_of_names_not_on_it(monkeypatch, distribution):
    distribution("usurper", "maxcut", "good_module:Other", good_module=GOOD)
    monkeypatch.setenv("MATRIXLEARN_PLUGINS", "discrepancy")
    with pytest.raises(PluginNotFoundError):
        ml.problems()["maxcut"]
    assert ml.problems()["discrepancy"].name == "discrepancy"


def test_register_offers_a_class_and_gives_it_its_name():
    @ml.register("mine")
    class Mine(ml.LinearSDP):
        pass

    assert ml.problems()["mine"] is Mine
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
    assert ml.problems()["mine"] is second


@pytest.mark.parametrize(("name", "holder"), [("sdp", "LinearSDP"), ("maxcut", "matrixlearn")])
def test_register_refuses_a_name_that_is_taken(name, holder):
    class Mine(ml.LinearSDP):
        pass

    with pytest.raises(PluginConflictError, match=holder):
        ml.register(name)(Mine)
    assert ml.problems()[name] is not Mine
