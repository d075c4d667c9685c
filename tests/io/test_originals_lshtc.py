"""LSHTC files: DMOZ, Wikipedia and Kaggle flavours."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.io import read_collection, read_lshtc, write_collection
from linnaeus.io.originals.cycles import without_cycles

HIERARCHY = "1 2\n1 3\n3 4\n3 5\n"


@pytest.fixture
def folder(tmp_path):
    def write(hierarchy=HIERARCHY, **files):
        here = tmp_path / "task"
        here.mkdir(exist_ok=True)
        if hierarchy is not None:
            (here / "cat_hier.txt").write_text(hierarchy)
        for name, text in files.items():
            (here / f"{name}.txt").write_text(text)
        return here

    return write


def test_dmoz(folder):
    at = folder(train="4 1:2 7:1\n5 3:1.5\n", validation="2 1:1\n", test="0 9:1\n0 2:1\n")
    data = read_lshtc(at)
    assert data.train.labels == [["4"], ["5"]] and data.valid.labels == [["2"]]
    assert data.test.labels == [[], []] and data.test.X.shape == (2, 9)
    assert data.train.X.shape == (2, 9) and data.train.X.dtype == np.float32
    np.testing.assert_array_equal(data.train.X.toarray()[:, [0, 2, 6]], [[2, 0, 1], [0, 1.5, 0]])
    assert data.taxonomy.leaves == ("2", "4", "5") and data.name == "task"
    assert data.train.ids == ["0", "1"] and data.train.skipped == ()
    assert [name for name, _ in read_lshtc(at, parts=["test"]).parts()] == ["test"]


def test_wikipedia_has_several_labels_and_features_in_any_order(folder):
    data = read_lshtc(folder(train="4, 5,2 9:1 1:3 9:2\n\n 3:1\n2:1 5:1\n4\n"))
    assert data.train.labels == [["4", "5", "2"], [], [], ["4"]]
    X = data.train.X.toarray()
    assert X[0, 8] == 3 and X[0, 0] == 3 and X[2, 1] == 1 and X[2, 4] == 1 and not X[3].any()


def test_kaggle_has_headers_and_ids(folder):
    data = read_lshtc(folder(train="Data\n4, 5 1:1\n", test="Id,Data\n17,0 1:1\n18,0 2:1\n"))
    assert data.train.labels == [["4", "5"]]
    assert data.test.labels == [[], []] and data.test.ids == ["17", "18"]


def test_feature_zero(folder):
    at = folder(train="4 0:5 1:2\n5 2:1\n")
    data = read_lshtc(at)
    np.testing.assert_array_equal(data.train.X.toarray(), [[2, 0], [0, 1]])
    assert data.train.skipped == (f"{at / 'train.txt'}: feature 0 left out of 1 rows.",)
    kept = read_lshtc(at, zero="keep")
    np.testing.assert_array_equal(kept.train.X.toarray(), [[5, 2, 0], [0, 0, 1]])
    assert kept.train.skipped == ()


def test_labels_that_the_hierarchy_lacks(folder):
    at = folder(train="4 1:1\n4,77 1:1\n77 1:1\n")
    with pytest.raises(UserError, match=r"train.txt, line 2: the label '77' is not a node"):
        read_lshtc(at)
    part = read_lshtc(at, missing_labels="drop").train
    assert part.labels == [["4"], ["4"], []]
    assert part.skipped == (
        f"{at / 'train.txt'}: the label '77' is not in the hierarchy; left out of 2 rows.",
    )
    part = read_lshtc(at, skip_bad=True).train
    assert part.labels == [["4"]] and len(part.skipped) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("4 1:x", "line 2: feature '1:x' has the value 'x', which is not a number"),
        ("4 0:1 seven:1", "line 2: feature 'seven:1' is not a number, a colon and a value"),
        ("4 0:x", "line 2: feature '0:x' has the value 'x', which is not a number"),
        ("4 1:1e999", "line 2: feature '1:1e999' is not finite as float32"),
        ("4 9999999999:1", "line 2: feature '9999999999:1' has a number above"),
        ("4 5 1:1", "line 2: feature '5' is not a number, a colon and a value"),
        (",4 1:1", "line 2: "),
    ],
)
def test_bad_lines_are_named(folder, line, message):
    with pytest.raises(UserError, match=message):
        read_lshtc(folder(train=f"4 1:1\n{line}\n"))


def test_the_hierarchy_may_lie_above_or_be_given(folder, tmp_path):
    at = folder(None, train="4 1:1\n")
    with pytest.raises(UserError, match="lacks cat_hier.txt, there or in the folder above"):
        read_lshtc(at)
    (tmp_path / "cat_hier.txt.gz").write_bytes(gzip.compress(HIERARCHY.encode()))
    assert read_lshtc(at).taxonomy.nodes == ("1", "2", "3", "4", "5")
    other = tmp_path / "other.txt"
    other.write_text("9 4\n")
    assert read_lshtc(at, hierarchy=other).taxonomy.nodes == ("9", "4")


def test_cycles_can_be_broken(folder):
    at = folder("1 2\n2 3\n3 2\n3 4\n4 1\n5 5\n", train="4 1:1\n")
    with pytest.raises(UserError, match="cycle|itself|above"):
        read_lshtc(at)
    data = read_lshtc(at, cycles="break")
    tax = data.taxonomy
    note = f"{at / 'cat_hier.txt'}: 3 edges that lead back up were removed, the first '3 2'."
    assert data.train.skipped == (note,)
    assert set(tax.edges) == {("1", "2"), ("2", "3"), ("3", "4")}


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=20))
def test_breaking_cycles_leaves_a_taxonomy_and_removes_no_edge_of_one(edges):
    kept, removed = without_cycles(edges)
    assert sorted(kept + removed) == sorted(set(edges))
    assert all(a != b for a, b in kept)
    if kept:
        assert set(Taxonomy.from_edges(kept).edges) == set(kept)
    for edge in removed:  # each of them closes a cycle among those that stay
        with pytest.raises(UserError):
            Taxonomy.from_edges([*kept, edge])


def test_cycles_are_refused_with_the_ways_out(folder):
    with pytest.raises(UserError, match="has a cycle.*pass graph=True; to remove") as caught:
        read_lshtc(folder("1 2\n2 3\n3 1\n", train="3 1:1\n"))
    assert "cat_hier.txt: The taxonomy has a cycle" in caught.value.shell
    assert "give --graph; to remove some edges -p cycles=break" in caught.value.shell


def test_a_graph_keeps_its_cycles(folder):
    at = folder("1 2\n2 3\n3 2\n3 4\n4 1\n5 5\n1 2\n", train="4 1:1\n2, 5 2:1\n", test="3 1:1\n")
    data = read_lshtc(at, graph=True)
    tax = data.taxonomy
    assert tax.is_graph and tax.edges == () and tax.nodes == ("1", "2", "3", "4", "5")
    assert tax.related == (("1", "2"), ("1", "4"), ("2", "3"), ("3", "4"))  # 5 has no link
    note = (
        f"{at / 'cat_hier.txt'}: 1 edges from a node to itself and 2 between nodes that are linked "
        f"already were left out."
    )
    assert (data.train.skipped, data.test.skipped) == ((note,), ())
    assert data.train.labels == [["4"], ["2", "5"]]


@pytest.mark.parametrize("options", [{"graph": True}, {"cycles": "break"}, {}])
def test_a_bad_line_of_the_hierarchy_is_named(folder, options):
    at = folder("1 2\n\n7\n", train="2 1:1\n")
    with pytest.raises(
        UserError, match=r"cat_hier.txt, line 3: found 1 column in '7'. Write a par"
    ):
        read_lshtc(at, **options)
    with pytest.raises(UserError, match=r"cat_hier.txt: there is no node in the file"):
        read_lshtc(folder("\n", train="2 1:1\n"), **options)


def test_a_graph_is_asked_for_clearly(folder):
    at = folder(train="4 1:1\n")
    with pytest.raises(UserError, match="cycles='break' has no meaning with graph=True") as caught:
        read_lshtc(at, graph=True, cycles="break")
    assert "-p cycles=break has no meaning with --graph" in caught.value.shell
    with pytest.raises(UserError, match="graph is 'yes'. Use True or False"):
        read_lshtc(at, graph="yes")


IDS = st.sampled_from(["1", "2", "03", "40", "5"])


@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=12))
def test_a_graph_comes_back_from_its_folder(tmp_path_factory, edges):
    """Whatever the edges: cycles, loops, repeats, nodes without links, no links at all."""
    at = tmp_path_factory.mktemp("graph")
    (at / "cat_hier.txt").write_text("".join(f"{a} {b}\n" for a, b in edges))
    (at / "train.txt").write_text(f"{edges[0][1]} 1:1\n")
    data = read_lshtc(at, graph=True)
    links = {frozenset(edge) for edge in edges if edge[0] != edge[1]}
    assert {frozenset(link) for link in data.taxonomy.related} == links
    assert set(data.taxonomy.nodes) == {v for edge in edges for v in edge}
    (at / "new").mkdir()
    write_collection(data, at / "new", compress=False)
    back = read_collection(at / "new")
    assert back.taxonomy == data.taxonomy and back.train.labels == data.train.labels


def test_what_is_missing_is_named(folder, tmp_path):
    with pytest.raises(UserError, match="lacks train.txt. It holds: cat_hier.txt. The organisers"):
        read_lshtc(folder(), parts=["train"])
    with pytest.raises(UserError, match="train.txt: there are no rows"):
        read_lshtc(folder(train="\n"))
    for name in ("missing_labels", "cycles", "zero"):
        with pytest.raises(UserError, match=f"{name}='errors' is not known.*Use one of"):
            read_lshtc(folder(), **{name: "errors"})


def test_the_real_challenge_files_come_back(shared, tmp_path):
    """Our copy of the dry run, written as the organisers did: unsorted, with a feature 0."""
    source = shared("data", "lshtc-small-val")
    ours = read_collection(source, taxonomy="taxonomy.tsv", parts=["train"])
    lines = gzip.decompress((source / "train.svm.gz").read_bytes()).decode().splitlines()
    rows = []
    for line in lines:
        label, *pairs = line.split()
        rows.append(f"{label} 0:1 {' '.join(reversed(pairs))}\n")
    (tmp_path / "train.txt").write_text("".join(rows))
    ours.taxonomy.write(tmp_path / "cat_hier.txt", format="lshtc")
    data = read_lshtc(tmp_path)
    assert data.train.labels == ours.train.labels
    assert data.train.X.shape == ours.train.X.shape and (data.train.X != ours.train.X).nnz == 0
