"""Graphs from files: each format gives the same graph; what breaks the rules of its format is refused with its line."""

import gzip
import io
import random

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_maxcut import MaxCut
from matrixlearn_maxcut.files import read_graph_file

from matrixlearn.exceptions import ProblemError

CYCLE = [(1, 2), (2, 3), (3, 4), (4, 5), (1, 5)]


def gset(edges, n):
    return f"{n} {len(edges)}\n" + "".join(f"{i} {j} {w:g}\n" for i, j, w in edges)


def metis(edges, n):
    near = {v: [] for v in range(1, n + 1)}
    for i, j, w in edges:
        near[i].append(f"{j} {w:g}")
        near[j].append(f"{i} {w:g}")
    return f"% neighbours\n{n} {len(edges)} 001\n" + "".join(" ".join(near[v]) + "\n" for v in range(1, n + 1))


def dimacs(edges, n):
    return f"c a graph\np edge {n} {len(edges)}\n" + "".join(f"e {i} {j}\n" for i, j, _ in edges)


def edge_list(edges, n):
    return "# u v w\n" + "".join(f"v{i} v{j} {w!r}\n" for i, j, w in edges)


def comma_separated(edges, n):
    return "Source,Target,Weight\n" + "".join(f'"{i}",{j},{w!r}\n' for i, j, w in edges)


def matrix_market(edges, n):
    out = io.BytesIO()
    i, j, w = np.array(edges).T
    matrix = sp.coo_array((w, (i.astype(int) - 1, j.astype(int) - 1)), shape=(n, n))
    scipy.io.mmwrite(out, (matrix + matrix.T).tocoo(), symmetry="symmetric")
    return out.getvalue().decode()


FORMATS = {
    "Gset": gset, "METIS": metis, "DIMACS": dimacs, "edge list": edge_list, "CSV": comma_separated,
    "MatrixMarket": matrix_market,
}  # fmt: skip


def weights(path):
    """The weights of a file's graph, by pairs of the digits in the names of its vertices."""
    problem = MaxCut(read_graph_file(path).graph)
    matrix = sp.coo_array(sp.csr_array(problem.adjacency))
    plain = [int("".join(filter(str.isdecimal, str(node)))) + (isinstance(node, int)) for node in problem.nodes]
    at = zip(matrix.row, matrix.col, matrix.data, strict=True)
    return {(plain[i], plain[j]): w for i, j, w in at if plain[i] < plain[j]}


@pytest.mark.parametrize("name", FORMATS)
@given(seed=st.integers(0, 10**6))
def test_each_format_is_recognised_and_gives_the_same_graph(tmp_path_factory, name, seed):
    rng = random.Random(seed)
    graph = nx.gnm_random_graph(rng.randint(6, 12), rng.randint(7, 14), seed=seed)
    weight = (lambda: 1.0) if name == "DIMACS" else (lambda: rng.choice([-1.5, 0.25, 1.0, 3.0]))
    edges = [(i + 1, j + 1, weight()) for i, j in graph.edges]
    path = tmp_path_factory.mktemp("graph") / rng.choice(["graph", "graph.txt", "graph.gz"])
    text = FORMATS[name](edges, len(graph)).encode()
    if rng.random() < 0.5:
        text = b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")  # a mark and line ends of Windows
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    assert read_graph_file(path).format == name
    assert weights(path) == {(i, j): w for i, j, w in edges}


def test_dimacs_lists_edges_both_ways_too(tmp_path):
    both = [(i, j) for a, b in CYCLE for i, j in ((a, b), (b, a))]
    for m in (5, 10):  # as found in the field
        (tmp_path / "a.col").write_text(f"p col 5 {m}\n" + "".join(f"e {i} {j}\n" for i, j in both))
        assert weights(tmp_path / "a.col") == dict.fromkeys(CYCLE, 1.0)
    (tmp_path / "a.col").write_text("p col 5 9\n" + "".join(f"e {i} {j}\n" for i, j in both[:-1]))
    with pytest.raises(ProblemError, match=r"line 1.*4 of 5 edges are listed both ways"):
        read_graph_file(tmp_path / "a.col")


def test_metis_without_weights_and_with_those_of_vertices(tmp_path):
    near = {v: [str(u) for u in range(1, 6) if (min(u, v), max(u, v)) in CYCLE] for v in range(1, 6)}
    (tmp_path / "a.graph").write_text("5 5\n" + "".join(" ".join(near[v]) + "\n" for v in near))
    assert weights(tmp_path / "a.graph") == dict.fromkeys(CYCLE, 1.0)
    (tmp_path / "a").write_text("6 5 10 2\n" + "".join("7 8 " + " ".join(near[v]) + "\n" for v in near) + "7 8\n")
    assert read_graph_file(tmp_path / "a").format == "METIS"
    assert weights(tmp_path / "a") == dict.fromkeys(CYCLE, 1.0)


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("dense", [True, False])
def test_what_scipy_writes_is_read_as_scipy_reads_it(tmp_path, symmetry, dense):
    W = np.triu(np.random.default_rng(1).normal(size=(4, 4)) * (np.random.default_rng(2).random((4, 4)) < 0.7))
    W = W + W.T
    scipy.io.mmwrite(tmp_path / "w.mtx", W if dense else sp.coo_array(W), symmetry=symmetry, comment="a remark")
    graph = read_graph_file(tmp_path / "w.mtx").graph
    np.testing.assert_array_equal(
        graph.toarray(), np.array(sp.coo_array(scipy.io.mmread(tmp_path / "w.mtx")).todense())
    )


# -- the 5-cycle, whose relaxation is worth 4.5225, and what used to be taken for another graph --------------

WEIGHTED = "5 5\n" + "".join(f"{i} {j} 1\n" for i, j in CYCLE)
PLAIN = "5 5\n" + "".join(f"{i} {j}\n" for i, j in CYCLE)
METIS = metis([(i, j, 2.0) for i, j in CYCLE], 5)
SPARSE = matrix_market([(i, j, 1.0) for i, j in CYCLE], 5)


def test_a_byte_order_mark_is_none_of_the_graph(tmp_path):
    for encoding in ("utf-8-sig", "utf-16"):
        (tmp_path / "g").write_bytes(WEIGHTED.encode(encoding))
        assert read_graph_file(tmp_path / "g").format == "Gset"
        assert weights(tmp_path / "g") == dict.fromkeys(CYCLE, 1.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (WEIGHTED.replace("3 4 1\n", ""), "line 1: 5 edges are declared, and 4 follow"),
        (WEIGHTED + "1 3 1\n", "line 1: 5 edges are declared, and 6 follow"),
        (WEIGHTED.replace("5 5\n", "5 5 1\n"), "line 1: '5 5 1' is an edge, or a header"),
        (WEIGHTED.replace("1 5 1", "0 5 1"), "line 6: the vertex 0 is not among those declared, 1 to 5"),
        (WEIGHTED.replace("1 5 1", "1 6 1"), "line 6: the vertex 6"),
        (WEIGHTED.replace("1 5 1", "2 2 1"), "line 6: the edge 2 - 2 leads from a vertex to itself"),
        (WEIGHTED.replace("1 5 1", "2 1 1"), "line 6: the edge 2 - 1 comes twice"),
        (WEIGHTED.replace("1 5 1", "1 5"), "line 6: '1 5' has 2 cells"),
        (WEIGHTED.replace("1 5 1", "1 5 1 1"), "line 6: '1 5 1 1' is no edge"),
        (WEIGHTED.replace("1 5 1", "1 5 nan"), "line 6: the weight 'nan'"),
        (WEIGHTED.replace("1 5 1", "1 5 1e400"), "line 6: the weight '1e400'"),
        (WEIGHTED.replace("1 5 1", "1 5 1_0"), "line 6: the weight '1_0'"),
        (WEIGHTED.replace("1 5 1", "1 \x005 1"), r"line 6: the character '\\x00'"),
        (PLAIN.replace("3 4\n", ""), "line 1: '5 5' is an edge, or a header 'n m', but 4 lines follow"),
        (PLAIN.replace("5 5\n", "5 6\n"), "line 1"),
        (PLAIN.replace("5 5\n", "1 5\n"), "line 1: '1 5'.*the vertex 2 on line 2"),
        (PLAIN.replace("5 5\n", "5 3\n").replace("3 4", "9 4"), "line 1: '5 3'.*the vertex 9 on line 4"),
        (PLAIN.replace("5 5\n", "-5 5\n"), "line 1: a vertex is no number here"),
        (PLAIN.replace("5 5\n", "5,5\n"), "line 1|line 2"),
        (PLAIN.replace("2 3\n", "O2 3\n"), "line 1|line 3"),
        (PLAIN.replace("1 5\n", "0 4\n"), "line 6: the vertex 0"),
        ("1 2\n2 3\n3 4\n04 1\n", "line 4: the vertices 4 and 04 are one number"),
        ("1000000000000 1\n", "line 1"),
        ("1000000000000 1\n1 2 1\n", "line 1: 1000000000000 vertices are declared for 1 edges"),
        (METIS.replace("5 5 001", "5 6 001"), "line 2: 6 edges are declared, and 10 neighbours"),
        (METIS.replace("5 5 001", "6 5 001"), "line 2: 6 vertices are declared, and 5 lines"),
        (METIS.replace("5 5 001", "5 5 002"), "line 2"),
        (METIS.replace("1 2 3 2\n", "1 2 4 2\n"), "line 4: .*does not say the same"),
        (METIS.replace("1 2 3 2\n", "1 2 3 3\n"), "line 4: .*does not say the same"),
        ("5 5\n2 5\n1 3\n2 4\n3 5\n4 1\n", "line 1.*as both: name it .rud or .graph"),
        ("5 5\n2 5\n1 3\n2 4\n3 5\n4 2\n", "line 1.*as both|line 6"),
        ("p edge 5 4\n" + "".join(f"e {i} {j}\n" for i, j in CYCLE), "line 1: 4 edges are declared, and 5 listed"),
        ("p edge 5 5 1\n" + "".join(f"e {i} {j}\n" for i, j in CYCLE), "line 1"),
        ("".join(f"e {i} {j}\n" for i, j in CYCLE), "line 1: an edge comes before"),
        ("p edge 5 1\ne 1 2 3\n", "line 2.*weights have no place"),
        ("p sp 5 1\na 1 2 3\n", "line 1"),
        ("c a\n", "line 1: the line 'p edge n m' is missing"),
        ("source,target,weight\na,b,1\nb,c\n", "line 3: 'b c' has 2 cells"),
        ("one,two,three\na,b,1\n", "line 1: the weight 'three'"),
        ('a,b,1\nb,"c\nd",1\n', "line 2: no line of CSV"),
        ("a,b,1\nb,,1\n", "line 2: a cell is empty"),
        ("a,b," + "1" * 200_000 + "\n", "line 1"),
        (SPARSE.replace("5 5 5", "5 5 6"), "6 entries are declared, and 5 follow"),
        (SPARSE.replace("5 5 5", "5 6 5"), "not 5 x 6"),
        (SPARSE.replace("5 5 5", "1000000000 1000000000 5"), "1000000000 vertices are declared"),
        (SPARSE.replace("symmetric", "hermitian"), "line 1: want"),
        (SPARSE.replace("symmetric", "general"), "differ: the graph must be undirected"),
        (SPARSE.replace("5 4 1", "5 4 1 2"), "not the one finite number"),
        (SPARSE.replace("5 4 1", "6 4 1"), "no entry of an 5 x 5 matrix"),
        (
            "%%MatrixMarket matrix array real general\n1000000000 1000000000\n1.0\n",
            "line 2: 1000000000000000000 entries",
        ),
        ("", "line 1"),
        ("# nothing\n\n", "line 1"),
    ],
)
def test_what_breaks_the_rules_is_refused_with_its_line(tmp_path, text, words):
    assert text not in (WEIGHTED, PLAIN, METIS, SPARSE)
    (tmp_path / "g.txt").write_text(text)
    with pytest.raises(ProblemError, match=f"g.txt, .*{words}"):
        read_graph_file(tmp_path / "g.txt")


def test_the_end_of_a_name_decides_where_the_content_does_not(tmp_path):
    (tmp_path / "g.edges").write_text("3 1\n1 2\n2 3\n")  # 'n m' of a Gset file would be wrong
    assert weights(tmp_path / "g.edges") == {(1, 3): 1.0, (1, 2): 1.0, (2, 3): 1.0}
    both = "5 5\n2 5\n1 3\n2 4\n3 5\n4 1\n"
    (tmp_path / "g.rud").write_text(both)
    (tmp_path / "g.graph").write_text(both)
    assert weights(tmp_path / "g.rud") == dict.fromkeys([(2, 5), (1, 3), (2, 4), (3, 5), (1, 4)], 1.0)
    assert weights(tmp_path / "g.graph") == dict.fromkeys(CYCLE, 1.0)
    for name in ("g.col", "g.mtx", "g.graph"):
        (tmp_path / name).write_text("a b 1\n")
        with pytest.raises(ProblemError, match=f"{name}, line 1"):
            read_graph_file(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("g.gz", b"5 5\n", "named .gz but is not a gzip file"),
        ("g.gz", gzip.compress(WEIGHTED.encode())[:-9], "not a whole gzip file"),
        ("g.gz", b"\x1f\x8b" + bytes(30), "not a whole gzip file"),
        ("g", b"5 5\n1 2\n\xff 3\n", "line 3: not text in UTF-8"),
        ("g", b"PK\x03\x04" + bytes(30), "a zip archive"),
        ("g", b"\x93NUMPY\x01", "a NumPy array"),
    ],
)
def test_files_that_are_no_text_are_refused_by_name(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ProblemError, match=f"{name}.*{words}"):
        read_graph_file(tmp_path / name)


def test_a_gzip_stream_that_unpacks_to_more_than_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("matrixlearn.files.available_memory", lambda: 2.0**23)
    (tmp_path / "g.gz").write_bytes(gzip.compress(b"# " + bytes(2**22).replace(b"\0", b"x")))
    with pytest.raises(ProblemError, match="too many for the memory"):
        read_graph_file(tmp_path / "g.gz")
