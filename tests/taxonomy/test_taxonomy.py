"""The taxonomy against plain set arithmetic on its edge list."""

import copy
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy
from linnaeus.errors import TaxonomyError, UserError
from strategies import edge_lists, forests

DIAMOND = [("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("b", "d")]


def above(lines, v):
    """Brute force: a node and everything above it."""
    out = {v}
    while True:
        more = {p for p, c in lines if c in out and p is not None} - out
        if not more:
            return out
        out |= more


def number_by_the_rule(lines):
    """The numbering rule, read word by word: first appearance, but parents first."""
    seen = list(dict.fromkeys(v for line in lines for v in line if v is not None))
    parents = {v: {p for p, c in lines if c == v and p is not None} for v in seen}
    placed = []
    while len(placed) < len(seen):
        placed.append(next(v for v in seen if v not in placed and parents[v] <= set(placed)))
    return placed


@given(edge_lists())
def test_numbering_follows_first_appearance_with_parents_first(lines):
    assert list(Taxonomy.from_edges(lines).nodes) == number_by_the_rule(lines)


@given(edge_lists())
def test_relations_equal_set_arithmetic(lines):
    tax = Taxonomy.from_edges(lines)
    edges = {(p, c) for p, c in lines if p is not None}
    assert set(tax.edges) == edges
    assert set(tax.roots) == {v for v in tax if not any(c == v for _, c in edges)}
    assert set(tax.leaves) == {v for v in tax if not any(p == v for p, _ in edges)}
    for v in tax:
        assert set(tax.parents(v)) == {p for p, c in edges if c == v}
        assert set(tax.children(v)) == {c for p, c in edges if p == v}
        assert set(tax.ancestors(v)) == above(lines, v)
        assert set(tax.descendants(v)) == {u for u in tax if v in above(lines, u)}
        assert tax.names(tax.ancestors(tax.index(v))) == tax.ancestors(v)


@given(edge_lists())
def test_ancestor_matrix_and_depth(lines):
    tax = Taxonomy.from_edges(lines)
    A = tax.ancestor_matrix.toarray()
    for i, v in enumerate(tax.nodes):
        assert {tax.nodes[j] for j in np.flatnonzero(A[i])} == above(lines, v)
        longest = max((1 + tax.depth[tax.index(p)] for p in tax.parents(v)), default=0)
        assert tax.depth[i] == longest
    assert sorted(v for level in tax.levels for v in level) == sorted(tax.nodes)
    for d, level in enumerate(tax.levels):
        assert {int(tax.depth[tax.index(v)]) for v in level} == {d}


@given(forests())
def test_distance_and_lca_on_a_tree_equal_networkx(lines):
    tax = Taxonomy.from_edges(lines)
    g = nx.Graph([(p or "virtual root", c) for p, c in lines])
    for a in tax:
        for b in tax:
            assert tax.distance(a, b) == nx.shortest_path_length(g, a, b)
            common = above(lines, a) & above(lines, b)
            expected = max(common, key=lambda v: tax.depth[tax.index(v)], default=None)
            assert tax.lca(a, b) == expected


@given(edge_lists(max_nodes=8))
def test_distance_is_a_metric(lines):
    tax = Taxonomy.from_edges(lines)
    D = np.array([[tax.distance(a, b) for b in tax] for a in tax])
    assert (D == D.T).all()
    assert ((D == 0) == np.eye(len(tax), dtype=bool)).all()
    assert (D[:, None, :] <= D[:, :, None] + D[None, :, :]).all()


@given(edge_lists(), st.integers(0, 2**32 - 1))
def test_closure_and_most_specific(lines, seed):
    tax = Taxonomy.from_edges(lines)
    Y = (np.random.default_rng(seed).random((4, len(tax))) < 0.3).astype(int)
    closed = tax.closure(Y)
    for row, given_row in zip(tax.decode(closed), tax.decode(Y), strict=True):
        assert set(row) == set().union(*(above(lines, v) for v in given_row))
    for row, given_row in zip(tax.decode(tax.most_specific(Y)), tax.decode(Y), strict=True):
        assert set(row) == {
            v for v in given_row if not any(u != v and v in above(lines, u) for u in given_row)
        }
    assert (tax.closure(closed) == closed).all()
    assert (tax.closure(tax.most_specific(Y)) == closed).all()
    assert (tax.most_specific(closed) == tax.most_specific(Y)).all()
    sparse = tax.closure(sp.csr_array(Y))
    assert sp.issparse(sparse) and (sparse.toarray() == closed).all()


@given(edge_lists())
def test_encode_inverts_decode(lines):
    tax = Taxonomy.from_edges(lines)
    sets = [sorted(set(tax.nodes[i::3]), key=tax.index) for i in range(4)]
    Y = tax.encode(sets)
    assert Y.shape == (4, len(tax))
    assert tax.decode(Y) == sets


def test_labels_come_in_many_forms():
    tax = Taxonomy.from_edges(DIAMOND)
    one = tax.encode(["c", "d"])
    assert tax.decode(one) == [["c"], ["d"]]
    assert tax.decode(tax.encode([["c", "c"], [], ("a",)])) == [["c"], [], ["a"]]
    assert tax.decode(tax.encode(np.array(["d", "c"]))) == [["d"], ["c"]]
    assert tax.decode(np.array([0, 1, 0, 0, 1])) == [["a", "d"]]
    assert tax.decode(tax.closure([["c"], ["d"]])) == [["r", "a", "b", "c"], ["r", "b", "d"]]


def test_unknown_label_names_row_value_and_the_nearest_node():
    tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog")])
    with pytest.raises(UserError, match=r"Row 1: 'catt' is not a node.*did you mean 'cat'"):
        tax.encode([["dog"], ["catt"]])
    with pytest.raises(UserError, match="7 is not a node"):
        tax.encode([[7]])


def test_an_indicator_must_fit():
    tax = Taxonomy.from_edges(DIAMOND)
    with pytest.raises(UserError, match="3 columns, but the taxonomy has 5 nodes"):
        tax.closure(np.zeros((1, 3)))
    with pytest.raises(UserError, match="holds the value -1.*0 and 1"):
        tax.closure(np.array([[1, -1, -1, 1, 0]]))
    with pytest.raises(UserError, match="holds the value 2"):
        tax.closure(sp.csr_array((np.ones(2, int), np.array([1, 1]), np.array([0, 2])), (1, 5)))
    with pytest.raises(UserError, match="Row 0 has the missing value nan in the column 0"):
        tax.closure(np.full((1, 5), np.nan))


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], r"has a cycle: .*a -> b.*remove one of these"),
        ([("a", "a")], "'a' is given as its own parent"),
        ([("", "b")], "empty name"),
        ([("a", "b", "c")], r"must be a \(parent, child\) pair, but \('a', 'b', 'c'\)"),
        ([7], r"must be a \(parent, child\) pair, but 7"),
        ([(None, "b"), ("a", "b")], "'b' is declared a root .* but also has a parent"),
        ([("a", 1.5)], "1.5 is of type float"),
        ([("a", float("nan"))], "nan is of type float"),
        ([("a", None)], "name None"),
    ],
)
def test_bad_edges_are_refused(edges, message):
    with pytest.raises(TaxonomyError, match=message):
        Taxonomy.from_edges(edges)


def test_a_long_name_does_not_flood_the_message():
    with pytest.raises(TaxonomyError) as caught:
        Taxonomy.from_edges([("x" * 100_000, "x" * 100_000)])
    assert len(str(caught.value)) < 300
    assert "100,000 characters" in str(caught.value)


def test_a_cycle_below_a_root_is_found_and_shown():
    with pytest.raises(TaxonomyError, match="b -> c -> b|c -> b -> c"):
        Taxonomy.from_edges([("r", "a"), ("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")])


def test_from_parents():
    tax = Taxonomy.from_parents({"c": ["a", "b"], "a": "r", "b": "r", "r": None, "lone": []})
    assert tax.nodes == ("r", "a", "b", "c", "lone")
    assert tax.roots == ("r", "lone")
    with pytest.raises(TaxonomyError, match="'a' has the unknown parent 'rot'.*mean 'root'"):
        Taxonomy.from_parents({"a": "rot", "root": None})


def test_from_paths_makes_path_ids_with_titles():
    tax = Taxonomy.from_paths(["Shoes/Men/Boots", "Shoes/Women/Boots", "Hats"])
    assert tax.titles["Shoes/Men/Boots"] == tax.titles["Shoes/Women/Boots"] == "Boots"
    assert tax.parents("Shoes/Women/Boots") == ("Shoes/Women",)
    assert "Hats" not in tax.titles  # id and title are the same
    assert Taxonomy.from_paths(["a > b"], sep=" > ").nodes == ("a", "a > b")
    with pytest.raises(TaxonomyError, match="'a//b' has an empty part"):
        Taxonomy.from_paths(["a//b"])


def test_flat_and_graph():
    flat = Taxonomy.flat(["x", "y"])
    assert flat.roots == flat.leaves == ("x", "y")
    assert flat.is_tree
    with pytest.raises(TaxonomyError, match="'x' is given twice"):
        Taxonomy.flat(["x", "y", "x"])
    graph = Taxonomy.from_edges([], related=[("b", "a"), ("a", "c"), ("a", "b"), ("c", "c")])
    assert graph.nodes == ("b", "a", "c")
    assert graph.related == (("b", "a"), ("a", "c"))


def test_integer_names_and_numpy_input():
    tax = Taxonomy.from_edges(np.array([[5, 3], [5, 1]]))
    assert tax.nodes == (5, 3, 1)
    assert tax.index(np.int64(3)) == 1
    assert tax.parents(3) == (5,)  # a name, where a node has that name
    assert tax.parents(2) == (0,)  # a number, where none has
    assert tax.decode(tax.encode(np.array([3, 1]))) == [[3], [1]]
    text = Taxonomy.from_edges(np.array([["r", "a"], ["r", "b"]]))
    assert type(text.nodes[0]) is str


def test_an_indicator_comes_in_many_forms():
    tax = Taxonomy.from_edges([(0, 1), (0, 2), (1, 3), (1, 4)])
    closed = [[1, 1, 0, 1, 0]]
    assert tax.closure(np.array([[0, 0, 0, 1, 0]])).tolist() == closed
    assert tax.closure(pd.DataFrame([[0, 0, 0, 1, 0]])).tolist() == closed
    assert tax.decode(tax.closure([[0, 0, 0, 1, 0]])) == [[0, 1]]  # 0 and 1 are labels here
    text = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("a", "d")])
    assert text.closure([[0, 0, 0, 1, 0]]).tolist() == closed
    assert tax.decode(tax.closure([[3]])) == [[0, 1, 3]]
    signs = tax.closure(np.array([[-1, -1, -1, 1, -1]]))
    assert signs.tolist() == [[1, 1, -1, 1, -1]]


def test_a_deep_chain_closes_without_its_whole_closure():
    n = 100_000
    tax = Taxonomy.from_edges(np.column_stack([np.arange(n - 1), np.arange(1, n)]))
    assert tax.closure(tax.encode([[n - 1], [5]])).sum(axis=1).tolist() == [n, 6]


def test_nothing_can_be_set():
    tax = Taxonomy.from_edges(DIAMOND)
    with pytest.raises(TaxonomyError, match="'nodes' cannot be set"):
        tax.nodes = ("x",)


def test_the_order_does_not_depend_on_how_sets_are_hashed():
    assert Taxonomy.from_parents({"c": {"b", "a"}, "a": None, "b": None}).nodes == ("a", "b", "c")
    assert Taxonomy.flat({"b", "a", "c"}).nodes == ("a", "b", "c")
    series = pd.Series({"a": None, "b": "a"})
    assert Taxonomy.from_parents(series).nodes == ("a", "b")
    with pytest.raises(TaxonomyError, match=r"as \{child: parent\}"):
        Taxonomy.from_parents([-1, 0, 0])


def test_names_that_look_alike_stay_apart():
    names = [1, "1", "'1'", "a\0b", "a", "b", "é", "e\u0301", " a", "\ud800"]
    assert Taxonomy.flat(names).nodes == tuple(names)
    many = [f"n{i}" for i in range(50_000)]
    assert Taxonomy.from_edges([(None, v) for v in many * 2]).nodes == tuple(many)


@given(edge_lists())
def test_networkx_round_trip(lines):
    tax = Taxonomy.from_edges(lines, titles={lines[0][1]: "Title"})
    assert Taxonomy.from_networkx(tax.to_networkx()) == tax


def test_undirected_networkx_graphs_become_related_links():
    g = nx.cycle_graph(4)
    g.add_node("alone")
    tax = Taxonomy.from_networkx(g)
    assert len(tax.related) == 4
    assert "alone" in tax


def test_it_is_immutable_hashable_and_copies_to_itself():
    tax = Taxonomy.from_edges(DIAMOND, related=[("a", "b")], titles={"c": "Sea"})
    assert copy.copy(tax) is tax
    assert copy.deepcopy(tax) is tax
    again = pickle.loads(pickle.dumps(tax))
    assert again == tax and hash(again) == hash(tax)
    assert tax != Taxonomy.from_edges(DIAMOND)
    assert tax != 3
    with pytest.raises(TypeError):
        tax.titles["c"] = "See"
    with pytest.raises(ValueError, match="read-only"):
        tax.dag.parents[0] = 1
    assert tax.digest() == again.digest() != Taxonomy.from_edges(DIAMOND).digest()


def test_it_holds_what_a_container_holds():
    tax = Taxonomy.from_edges(DIAMOND)
    assert len(tax) == 5 and list(tax) == ["r", "a", "b", "c", "d"]
    assert "c" in tax and "x" not in tax and ["c"] not in tax
    assert not tax.is_tree
    assert "DAG of 5 nodes, 5 edges" in repr(tax)
    with pytest.raises(TaxonomyError, match="needs a tree, but node 'c' has 2 parents"):
        _ = tax.tree
    tree = Taxonomy.from_edges([("r", "a"), ("a", "b")]).tree
    assert tree.parent.tolist() == [-1, 0, 1] and tree.n_children.tolist() == [1, 1, 0]
    with pytest.raises(TaxonomyError, match="title is given for 'z'"):
        Taxonomy.from_edges(DIAMOND, titles={"z": "Zed"})


def test_empty_taxonomy():
    tax = Taxonomy.from_edges([])
    assert len(tax) == 0 and tax.levels == () and tax.roots == ()
    assert tax.encode([[]]).shape == (1, 0)


def test_show(capsys):
    Taxonomy.from_edges(DIAMOND, titles={"d": "Dee"}).show(marks={"c": "0.9"})
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "r",
        "├── a",
        "│   └── c  0.9",
        "└── b",
        "    ├── c  0.9",
        "    └── Dee [d]",
    ]
    Taxonomy.from_edges(DIAMOND).show(max_depth=1)
    assert "├── a (1 below)" in capsys.readouterr().out
    Taxonomy.from_edges(DIAMOND).show(root="b", max_children=1)
    assert capsys.readouterr().out.splitlines() == ["b", "├── c", "└── ... 1 more"]


ROWS = [["pet", "cat"], ["pet", "dog"], ["toy", "cat"], ["toy"]]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [[*row, "", None][:3] for row in ROWS],
        np.array([[*row, ""][:2] for row in ROWS]),
        np.array([[*row, None][:2] for row in ROWS], dtype=object),
        [[*row, float("nan")][:2] for row in ROWS],
        (tuple(row) for row in ROWS),
    ],
)
def test_paths_as_rows_of_names(rows):
    tax = Taxonomy.from_paths(rows)
    assert tax.nodes == ("pet", "pet/cat", "dog", "toy", "toy/cat")
    assert tax.titles == {"pet/cat": "cat", "toy/cat": "cat"}
    assert tax.edges == (("pet", "pet/cat"), ("pet", "dog"), ("toy", "toy/cat"))


def test_namesakes_are_told_apart_or_merged():
    merged = Taxonomy.from_paths(ROWS, ids="name")
    assert merged.parents("cat") == ("pet", "toy") and not merged.titles
    assert Taxonomy.from_paths(["pet/cat", "toy/cat"], ids="name").edges == (
        ("pet", "cat"), ("toy", "cat"),
    )  # fmt: skip
    deep = Taxonomy.from_paths([["x", "a", "b"], ["y", "a", "b"], ["b"]], sep=">")
    assert deep.nodes == ("x", "x>a", "x>a>b", "y", "y>a", "y>a>b", "b")
    assert Taxonomy.from_paths([[1, 2], [2, 2]]).nodes == (1, "1/2", 2, "2/2")
    for bad, message in (
        ([["a/b"], ["a", "b"], ["c", "b"]], r"both get the id 'a/b'. Give another separator"),
        ([["a", "b"], ["a ", "c"]], "Row 1: 'a ' differs from 'a' in blanks only"),
        ([["a", "", "b"]], "Row 0: the path .* has a gap"),
        ([["a"], []], r"Row 1: the path \[\] is empty"),
        (["a/b", ["a"]], "A path must be a text such as 'A/B'"),
        ("a/b", "Give a list of paths"),
    ):
        with pytest.raises(UserError, match=message):
            Taxonomy.from_paths(bad)
    with pytest.raises(UserError, match="ids='id' is not known"):
        Taxonomy.from_paths(ROWS, ids="id")


def test_renaming_keeps_everything_else():
    tax = Taxonomy.from_edges(
        [("r", "a"), ("r", "b"), ("a", "c")], related=[("b", "c")], titles={"a": "A", "b": "B"}
    ).with_misc(["a"])
    new = tax.renamed({"a": "b", "b": "a", "c": 3, "a/misc": "rest"})
    assert new.nodes == ("r", "b", "a", 3, "rest") and new.related == (("a", 3),)
    assert new.titles == {"b": "A", "a": "B"} and new.misc == {"rest": "b"}
    assert new.edges == (("r", "b"), ("r", "a"), ("b", 3), ("b", "rest"))
    assert new.renamed({"b": "a", "a": "b", 3: "c", "rest": "a/misc"}) == tax
    for bad, message in (
        ({"x": "y"}, "'x' is not a node of the taxonomy"),
        ({"a": "r"}, "The nodes 'r' and 'a' would both be called 'r'"),
        ({"a": 1, "b": 1}, "The nodes 'a' and 'b' would both be called 1"),
        ({"a": ""}, "The new name of 'a' is ''"),
        ({"a": 1.5}, "The new name of 'a' is 1.5"),
        (["a"], r"New names must be given as \{old: new\}"),
    ):
        with pytest.raises(UserError, match=message):
            tax.renamed(bad)
