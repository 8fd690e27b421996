"""Readers of files, and the data set that is shipped."""

import gzip
import io

import networkx as nx
import numpy as np
import pytest
from matrixlearn_discrepancy import load_beijing_air
from matrixlearn_discrepancy.data import summer_to_winter
from matrixlearn_discrepancy.files import read_domains, read_samples
from matrixlearn_maxcut.files import read_graph

from matrixlearn.exceptions import ProblemError

X = np.array([[1.0, -2.5, 3e-4], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv", "x.txt", "x.csv.gz"])
def test_samples_are_read_from_each_format(tmp_path, name):
    path = tmp_path / name
    text = "\n".join(("," if "csv" in name else " ").join(repr(float(v)) for v in row) for row in X)
    if name.endswith("npy"):
        np.save(path, X)
    elif name.endswith("npz"):
        np.savez(path, anything=X)
    elif name.endswith("gz"):
        path.write_bytes(gzip.compress(("a,b,c\n" + text + "\n").encode()))
    else:
        path.write_text("# a comment\n" + text + "\n\n")
    np.testing.assert_array_equal(read_samples(path), X)


def test_samples_that_are_none_are_refused_by_file(tmp_path):
    np.savez(tmp_path / "two.npz", a=X, b=X)
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    (tmp_path / "not.npy").write_text("1 2")
    for name in ("two.npz", "ragged.csv", "not.npy"):
        with pytest.raises(ProblemError, match=name):
            read_samples(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c\n1,,2\n1,2,\n", "line 2: column 'b' is missing"),  # as cells between blanks the columns would shift
        ("NA,1,2\n3,4,5\n", "line 1: column 1 is missing"),  # not a line of names
        ("id,a\nrow0,1\n", "line 2: column 'id' holds 'row0'"),
        ("a;b\n0,5;0,7\n", "line 2: column 'a' holds '0,5'"),
        ("# a remark\n1 2\n\n3 4 5\n", "line 4: it has 3 cells, the first line has 2"),
        (",a,b\n0,1,2\n", "index=False"),
        ("a,b\n", "line 1: it has no row of numbers"),
        ("", "line 1: it has no row of numbers"),
        ("1.O,2\n3,4\n", "line 1: '1.O' is no number"),  # no line of names
        ("1.O\n2\n3\n", "line 1: '1.O' is no number"),
        ("a,a\n1,2\n", "line 1: two columns are called 'a'"),
        ("0,1,2\n0.5,1,2\n", "line 1: 0, 1, ..., 2: names of columns, as pandas writes"),
        ("1,2\n3,1e400\n", "line 2: column 2 holds '1e400'"),
        ("1,2\n3,inf\n", "line 2: column 2 holds 'inf'"),
        ("1,2\n3,1_000\n", "line 2: column 2 holds '1_000'"),
        ('a,b\n1,"2\n3",4\n', "line 2: no line of CSV"),
        ("1," + "1" * 200_000 + "\n", "line 1"),
        ("1,2\n3,\x004\n", "line 2: the character"),
    ],
)
def test_tables_with_holes_are_refused_by_their_place(tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(ProblemError, match=f"x.csv.*{message}"):
        read_samples(tmp_path / "x.csv")


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.npy", b"", "it is empty"),
        ("x.npy", npy(X)[:-8], "48 bytes, and 40 bytes follow"),
        ("x.npy", npy(X)[:40], "not an .npy file"),
        ("x.npy", npy(X) + b"x", "49 bytes follow"),
        ("x.npy", npy(X).replace(b"(2, 3), }             ", b"(2, 3000000000000), }"), "not an .npy file"),
        ("x.npy", npy(np.array([{}])), "not an .npy file"),
        ("x.npy", npy(np.array(["a"])), "must hold numbers"),
        ("x.npy", npy(X[0]), "must be two-dimensional"),
        ("x.npy", npy(X * 1j), "must be real"),
        ("x.npy", npy(np.array([[np.nan]])), "holds 1 NaN"),
        ("x.npz", b"", "it is empty"),
        ("x.npz", npz(X=X)[:-30], "is not an .npz file"),
        ("x.npz", npz(X=X)[:60], "is not an .npz file"),
        ("x.npz", npz(), "does not begin"),
        ("x.npz", npz(X=np.array([{}])), "is not an .npz file"),
        ("x.csv.gz", b"1,2\n", "not a gzip file"),
        ("x.csv.gz", gzip.compress(b"1,2\n3,4\n")[:-5], "not a whole gzip file"),
        ("x.csv", npz(X=X), "a zip archive"),
        ("x.csv", b"1,2\n3,\xff\n", "line 2: not text"),
    ],
)
def test_broken_files_are_one_error_that_names_them(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ProblemError, match=f"{name}.*{words}"):
        read_samples(tmp_path / name)


@pytest.mark.parametrize("separator", [",", ", ", ";", "\t", "  "])
def test_no_row_is_lost_to_marks_that_are_not_seen(tmp_path, separator):
    text = "\r\n".join(separator.join(repr(float(v)) for v in row) for row in X)
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())  # as spreadsheets write: a byte order mark first
    np.testing.assert_array_equal(read_samples(tmp_path / "x.csv"), X)


def test_columns_of_two_files_are_matched_by_name(tmp_path):
    source, target = tmp_path / "s.csv", tmp_path / "t.csv"
    source.write_text('"a, b",c\n1,2\n')
    target.write_text('c,"a, b"\n4,3\n')
    np.testing.assert_array_equal(read_domains(source, target), [[[1, 2]], [[3, 4]]])
    target.write_text('c,"a, b",y\n4,3,5\n')
    with pytest.raises(ProblemError, match="only the first has nothing, the second y"):
        read_domains(source, target)
    target.write_text("3 4\n")  # no names, nothing to match
    np.testing.assert_array_equal(read_domains(source, target)[1], [[3, 4]])


def edges(graph):
    return {frozenset((u, v)): w for u, v, w in graph.edges(data="weight")}


def test_a_gset_file_keeps_its_weights_and_its_lonely_vertices(tmp_path):
    path = tmp_path / "g.txt.gz"
    path.write_bytes(gzip.compress(b"5 2\n1 2 -1\n2 4 3\n"))
    graph = read_graph(path)
    assert list(graph.nodes) == ["1", "2", "3", "4", "5"]
    assert edges(graph) == {frozenset("12"): -1.0, frozenset("24"): 3.0}


def test_an_edge_list_is_not_taken_for_a_gset_file(tmp_path):
    path = tmp_path / "edges"
    path.write_text("1 2\n2 3\n3 1\n")  # "1 2" would announce one vertex and two edges
    assert edges(read_graph(path)) == {frozenset(p): 1.0 for p in ("12", "23", "31")}


def test_what_networkx_writes_is_read(tmp_path):
    graph = nx.gnp_random_graph(12, 0.4, seed=1)
    for u, v in graph.edges:
        graph[u][v]["weight"] = 0.25 * (u + v) - 1
    nx.write_weighted_edgelist(graph, tmp_path / "edges")
    assert edges(read_graph(tmp_path / "edges")) == {frozenset(map(str, e)): w for e, w in edges(graph).items()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\nb a\n", "line 2.*twice"),
        ("a b x\n", "line 1.*weight 'x'"),
        ("a\n", "line 1.*no edge"),
        ("a b 1 2\n", "line 1.*no edge"),
    ],
)
def test_lines_that_are_no_edges_are_refused_by_number(tmp_path, text, message):
    (tmp_path / "edges").write_text(text)
    with pytest.raises(ProblemError, match=message):
        read_graph(tmp_path / "edges")


def test_files_that_are_no_graphs_are_refused_by_name(tmp_path):
    (tmp_path / "bad.mtx").write_text("no header\n")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("bad.mtx", "bytes"):
        with pytest.raises(ProblemError, match=name):
            read_graph(tmp_path / name)


def test_the_air_of_beijing():
    air = load_beijing_air()
    assert air.X.shape == (8432, 9) == (len(air.y), len(air.features))
    assert np.all(np.isfinite(air.X)) and np.all(np.isfinite(air.y))
    assert len(set(air.station)) == 12
    assert 0.4 < air.is_winter.mean() < 0.6
    temperature = air.X[:, air.features.index("TEMP")]
    assert temperature[air.is_winter].mean() < 5 < 20 < temperature[~air.is_winter].mean()
    assert set(np.unique(air.date.astype("datetime64[M]").astype(int) % 12 + 1)) == {1, 2, 6, 7, 8, 12}


def test_a_draw_of_the_task_is_what_it_says():
    air = load_beijing_air()
    task = summer_to_winter(air, 3)
    assert task.X_source.shape == (400, 9) and task.X_target.shape == (200, 9) and task.X_labelled.shape == (100, 9)
    seen = np.concatenate([task.X_source, task.X_target])
    np.testing.assert_allclose(seen.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(seen.std(axis=0), 1, rtol=1e-10)
    # the target is winter at other stations: none of its rows is a source row, and it is colder
    rows = {row.tobytes() for row in task.X_source}
    assert not any(row.tobytes() in rows for part in (task.X_target, task.X_labelled, task.X_test) for row in part)
    column = air.features.index("TEMP")
    assert task.X_source[:, column].mean() > task.X_test[:, column].mean() + 1
    again = summer_to_winter(air, 3)
    np.testing.assert_array_equal(task.X_test, again.X_test)
    assert not np.array_equal(task.y_source, summer_to_winter(air, 4).y_source)
