"""RCV1 from a small cache in scikit-learn's form."""

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.io import read_collection, read_rcv1
from linnaeus.io.originals.rcv1 import read_topic_tree, topic_tree

TOPICS = ["C15", "C151", "CCAT", "GCAT", "GSPO"]
HIERARCHY = """\
parent: None           child: Root          child-description: Root
parent: Root           child: CCAT          child-description: CORPORATE/INDUSTRIAL
parent: Root           child: GCAT          child-description: GOVERNMENT/SOCIAL
parent: CCAT           child: C15           child-description: PERFORMANCE

parent: C15            child: C151          child-description: ACCOUNTS/EARNINGS
parent: GCAT           child: GSPO          child-description: SPORTS
"""


@pytest.fixture
def home(tmp_path):
    """A data folder with five stories, three of them for training."""
    folder = tmp_path / "home" / "RCV1"
    folder.mkdir(parents=True)
    X = sp.csr_array(np.diag([0.5, 0.25, 0.1, 0.75, 1.0]))
    Y = sp.csr_array(
        np.array(
            [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 1, 1, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 0]],
            dtype=np.uint8,
        )
    )
    things = {
        "samples": X,
        "sample_id": np.array([2286, 2287, 26150, 26151, 810596], dtype=np.uint32),
        "sample_topics": Y,
        "topics_names": np.array(TOPICS, dtype=object),
    }
    for name, thing in things.items():
        joblib.dump(thing, folder / f"{name}_py3.pkl")
    return folder.parent


def test_the_split_is_chronological(home):
    data = read_rcv1(home)
    assert data.train.ids == ["2286", "2287", "26150"]
    assert data.test.ids == ["26151", "810596"]
    assert data.train.labels == [["C15", "C151", "CCAT"], ["GCAT", "GSPO"], ["CCAT", "GCAT"]]
    assert data.test.X.dtype == np.float32 and data.test.X.shape == (2, 5)
    np.testing.assert_array_equal(data.test.X.toarray()[0], np.float32([0, 0, 0, 0.75, 0]))
    assert len(data.taxonomy) == 103 and data.valid is None
    assert read_rcv1(home, parts="train").test is None


def test_a_family_keeps_stories_without_labels(home):
    data = read_rcv1(home, select="CCAT")
    assert data.train.labels == [["C15", "C151", "CCAT"], [], ["CCAT"]]
    assert data.test.labels == [["C15", "CCAT"], []]
    assert len(data.taxonomy) == 34 and data.taxonomy.roots == ("CCAT",)


def test_the_hierarchy_file(home, tmp_path):
    file = tmp_path / "rcv1.topics.hier.orig"
    file.write_text(HIERARCHY)
    data = read_rcv1(home, hierarchy=file)
    assert data.taxonomy.edges == (("CCAT", "C15"), ("C15", "C151"), ("GCAT", "GSPO"))
    assert data.taxonomy.titles["C151"] == "ACCOUNTS/EARNINGS"
    file.write_text(HIERARCHY.replace("parent: GCAT", "parents GCAT"))
    with pytest.raises(UserError, match="hier.orig, line 7: 'parents GCAT .*Is it rcv1.topics"):
        read_topic_tree(file)
    file.write_text("".join(HIERARCHY.splitlines(keepends=True)[:4]))
    with pytest.raises(UserError, match="lacks 2 of the 5 topics of the stories, the first 'C151'"):
        read_rcv1(home, hierarchy=file)


def test_the_tree_of_the_codes_is_the_published_one(shared):
    ours = topic_tree()
    theirs = Taxonomy.read(shared("data", "rcv1-30k", "taxonomy.tsv")).without_top()
    assert set(ours.edges) - set(theirs.edges) == {("M14", "M143")}
    assert set(theirs.edges) <= set(ours.edges) and ours.roots == theirs.roots
    family = Taxonomy.read(shared("data", "rcv1-ccat", "taxonomy.tsv")).without_top()
    assert ours.subtree("CCAT") == family


def test_a_missing_cache_is_named(home, tmp_path):
    with pytest.raises(UserError, match=r"no folder .*empty/RCV1. .*fetch_rcv1") as error:
        read_rcv1(tmp_path / "empty")
    assert not (tmp_path / "empty").exists() and "http" not in str(error.value)
    (home / "RCV1" / "sample_topics_py3.pkl").unlink()
    with pytest.raises(UserError, match=r"RCV1 lacks sample_topics_py3.pkl. It holds: sample_id"):
        read_rcv1(home)
    with pytest.raises(UserError, match="'CCATT' is not a node"):
        read_rcv1(home, select="CCATT")


def test_it_agrees_with_our_own_copy_of_the_family(shared, tmp_path):
    """Stories of ours put into a cache come back with their own labels and features."""
    ours = read_collection(shared("data", "rcv1-ccat"), parts=["train"])
    part = ours.train.take(range(300))
    names = sorted(ours.taxonomy.nodes)
    Y = ours.taxonomy.encode(part.labels)[:, [ours.taxonomy.index(name) for name in names]]
    folder = tmp_path / "RCV1"
    folder.mkdir()
    for name, thing in {
        "samples": sp.csr_matrix(part.X.astype(np.float64)),
        "sample_id": np.arange(26_000, 26_300, dtype=np.uint32),
        "sample_topics": sp.csr_matrix(Y.astype(np.uint8)),
        "topics_names": np.array(names, dtype=object),
    }.items():
        joblib.dump(thing, folder / f"{name}_py3.pkl")
    data = read_rcv1(tmp_path)
    assert (len(data.train), len(data.test)) == (151, 149)
    assert [sorted(row) for row in part.labels[:151]] == data.train.labels
    assert (abs(data.train.X - part.X[:151])).max() == 0
