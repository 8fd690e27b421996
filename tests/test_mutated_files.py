"""A few mutants of every format: the same answer, what the changed file says, or an error with file and line."""

import importlib.util
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "benchmarks" / "files" / "mutated_files.py"
spec = importlib.util.spec_from_file_location("mutated_files", SOURCE)
mutated = sys.modules["mutated_files"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutated)


@pytest.mark.parametrize("name", mutated.formats())
def test_mutants_of_each_format(name):
    verdicts, failures = mutated.trials(mutated.formats()[name], 25, seed=7)
    assert failures == []
    assert verdicts["refused"] > 0


def test_broken_answers():
    verdicts, failures = mutated.answers(50, seed=7)
    assert failures == []
    assert verdicts["refused"] > 25


def test_the_harness_notices_another_problem(monkeypatch):
    """A reader that leaves out a line is caught."""
    import matrixlearn_maxcut.present as present

    read = present.read_graph_file

    def careless(path):
        path.write_bytes(b"\n".join(line for line in path.read_bytes().split(b"\n") if not line.startswith(b"v1 v2")))
        return read(path)

    monkeypatch.setattr(present, "read_graph_file", careless)
    _, failures = mutated.trials(mutated.formats()["edge list"], 5)
    assert any(verdict == "reader: another problem" for _, verdict in failures)
