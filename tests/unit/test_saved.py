"""Saved answers: a broken file is one named error, writers do not meet, and verify compares all that a file says."""

import csv
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.exceptions import CertificateError, MatrixLearnError
from matrixlearn.files import read_archive, replacing


def pentagon():
    W = np.zeros((5, 5))
    for i in range(5):
        W[i, (i + 1) % 5] = W[(i + 1) % 5, i] = 1
    return ml.registered_problems()["maxcut"](W)


@pytest.fixture(scope="module")
def solution():
    return ml.solve(pentagon(), tol=1e-6)


# -- formats ------------------------------------------------------------------------------------------------


def test_the_end_of_a_name_says_what_is_written(solution, tmp_path):
    solution.save(tmp_path / "cut.csv")
    rows = list(csv.reader((tmp_path / "cut.csv").read_text().splitlines()))
    assert rows[0] == ["vertex", "side"] and [row[0] for row in rows[1:]] == list("01234")
    side = np.array([int(row[1]) for row in rows[1:]])
    assert solution.problem.cut_weight(side) == 4  # of the pentagon no cut is larger
    solution.save(tmp_path / "cut.json")
    said = json.loads((tmp_path / "cut.json").read_text())
    assert (said["problem"], said["status"], said["value"]) == ("maxcut", "optimal", solution.value)
    assert said["answer"]["side"] == side.tolist()
    np.testing.assert_array_equal(said["y"], solution.y)
    solution.save(tmp_path / "cut.NPZ")
    assert ml.Solution.load(tmp_path / "cut.NPZ").value == solution.value


@pytest.mark.parametrize("name", ["answer", "answer.txt", "answer.csv.gz"])
def test_another_end_is_refused_before_anything_is_written(solution, tmp_path, name):
    with pytest.raises(MatrixLearnError, match=r"\.npz.*\.json or \.csv"):
        solution.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_json_says_null_where_a_bound_is_infinite(tmp_path):
    program = ml.LinearSDP(np.array([[1.0, 1j], [-1j, 0.0]]), np.eye(2)[None], np.array([-1.0]), 3.0)
    solution = ml.solve(program)
    assert solution.status == "infeasible"
    solution.save(tmp_path / "none.json")
    said = json.loads((tmp_path / "none.json").read_text(), parse_constant=pytest.fail)
    assert said["value"] is None and said["status"] == "infeasible"


def test_complex_answers_are_written_by_halves(tmp_path):
    solution = ml.solve(ml.LinearSDP(np.array([[1.0, 1j], [-1j, 0.0]]), np.eye(2)[None], np.array([1.0]), 3.0))
    solution.save(tmp_path / "a.json")
    said = json.loads((tmp_path / "a.json").read_text())["X"]
    np.testing.assert_array_equal(np.array(said["real"]) + 1j * np.array(said["imag"]), solution.matrix)


# -- broken files -------------------------------------------------------------------------------------------


def test_every_flipped_byte_is_the_same_answer_or_one_error(solution, tmp_path):
    solution.save(tmp_path / "whole.npz")
    whole, rng, refused = (tmp_path / "whole.npz").read_bytes(), np.random.default_rng(0), 0
    path = tmp_path / "broken.npz"
    for at in rng.integers(0, len(whole), 150):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ int(rng.integers(1, 256))]) + whole[at + 1 :])
        try:
            loaded = ml.Solution.load(path)
        except MatrixLearnError as error:
            refused += "broken.npz is not a matrixlearn solution file" in str(error) or pytest.fail(str(error))
        else:
            assert loaded.summary() == solution.summary()
            np.testing.assert_array_equal(loaded.y, solution.y)
    assert refused > 50


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_a_cut_file_is_one_error(solution, tmp_path, part):
    path = tmp_path / "cut.npz"
    solution.save(path)
    path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])
    with pytest.raises(MatrixLearnError, match=r"cut\.npz is not a matrixlearn solution file"):
        ml.Solution.load(path)


def forged(solution, path, **changes):
    """The file of a solution with other claims; a value None removes one."""
    solution.save(path)
    arrays = read_archive(path)
    meta = json.loads(str(arrays["meta"])) | {key: value for key, value in changes.items() if value is not None}
    arrays["meta"] = np.array(
        json.dumps({key: value for key, value in meta.items() if key not in changes or changes[key] is not None})
    )
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": 2}, "format 2"),
        ({"format": None}, "lacks 'format'"),
        ({"status": "splendid"}, "splendid"),
        ({"rigour": "divine"}, "divine"),
        ({"lower": float("nan")}, "lower is no number"),
        ({"tol": "small"}, "small"),
        ({"parameters": {"graph": 3}}, ""),
        ({"notes": 5}, ""),
        ({"iterations": []}, ""),
        ({"problem": None}, "lacks 'problem'"),
    ],
)
def test_what_no_answer_can_say_is_one_error(solution, tmp_path, changes, words):
    with pytest.raises(MatrixLearnError, match=f"forged.npz is not a matrixlearn solution file: .*{words}"):
        ml.Solution.load(forged(solution, tmp_path / "forged.npz", **changes))


def test_a_size_that_the_file_cannot_hold_is_refused_before_memory_is_asked_for(tmp_path):
    import zipfile

    header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("meta.npy", header + text.ljust(117) + b"\n")
    with pytest.raises(MatrixLearnError, match=r"huge\.npz.*8000000000000 bytes, and 0 bytes follow"):
        ml.Solution.load(tmp_path / "huge.npz")


# -- verify -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": 999.0}, "value 999.0"),
        ({"value": float("nan")}, "value nan"),
        ({"status": "infeasible"}, "status infeasible"),
        ({"status": "stationary"}, "status stationary"),
        ({"tol": 1e-12}, "stopped at tol = 1e-12"),
        ({"tol": 0.0}, "tol"),
        ({"tol": -1.0}, "tol"),
        ({"lower": 4.6}, "not the claimed"),
        ({"upper": 4.0}, "not the claimed"),
    ],
)
def test_verify_compares_what_the_file_says_with_what_is_proved(solution, tmp_path, changes, words):
    claim = ml.Solution.load(forged(solution, tmp_path / "forged.npz", **changes))
    with pytest.raises(CertificateError, match=words):
        claim.verify()


def test_verify_lets_a_modest_answer_pass(solution, tmp_path):
    for changes in ({}, {"tol": 0.5}, {"rigour": "estimate", "status": "estimated"}):
        ml.Solution.load(forged(solution, tmp_path / "modest.npz", **changes)).verify()


def test_verify_of_a_proof_that_nothing_is_feasible(tmp_path):
    infeasible = ml.solve(ml.LinearSDP(np.eye(2), np.eye(2)[None], np.array([-1.0]), 3.0))
    assert infeasible.status == "infeasible"
    infeasible.verify()
    with pytest.raises(CertificateError, match="value"):
        ml.Solution.load(forged(infeasible, tmp_path / "a.npz", value=1.0)).verify()


# -- writing ------------------------------------------------------------------------------------------------


def _save_often(path, times):
    solution = ml.solve(pentagon(), tol=1e-2)
    for _ in range(times):
        solution.save(path)


def test_two_writers_and_a_reader_never_meet(tmp_path):
    path = tmp_path / "answer.npz"
    _save_often(path, 1)
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_save_often, args=(path, 15)) for _ in range(2)]
    for writer in writers:
        writer.start()
    reads = 0
    while any(writer.is_alive() for writer in writers):
        assert ml.Solution.load(path).status == "optimal"
        reads += 1
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0] and reads > 5
    assert [entry.name for entry in tmp_path.iterdir()] == ["answer.npz"]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
def test_a_killed_writer_leaves_nothing_behind(tmp_path):
    script = (
        "import sys, time\nfrom matrixlearn.files import replacing\n"
        f"with replacing({str(tmp_path / 'answer.npz')!r}) as file:\n"
        "    file.write(b'half')\n    file.flush()\n    print('writing', flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"writing\n"
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []


def test_a_block_that_raises_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    for unnamed in (True, False):
        if not unnamed:
            monkeypatch.setattr("matrixlearn.files._unnamed", lambda folder: None)
        with pytest.raises(TypeError, match="str"), replacing(path) as file:
            file.write("new")  # no bytes
        assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1
        with replacing(path) as file:
            file.write(b"new")
        assert path.read_bytes() == b"new" and len(list(tmp_path.iterdir())) == 1
        path.write_bytes(b"old")


def test_what_a_link_leads_to_is_replaced_and_a_device_is_written_to(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_bytes() == b"new"
    with replacing(os.devnull) as file:
        file.write(b"gone")
    assert not Path(os.devnull).is_file()
