"""Taxonomies from confusion, and how far two taxonomies agree."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score, confusion_matrix
from test_learn_taxonomy import families, planted

from linnaeus import FlatSVM, MulticlassSVM, Taxonomy
from linnaeus.errors import UserError
from linnaeus.induction import (
    confusion_counts,
    learn_taxonomy,
    sibling_agreement,
    taxonomy_from_confusion,
)

BLOCKS = np.kron(np.eye(3), np.full((3, 3), 2.0)) + 5 * np.eye(9)


def test_what_is_confused_is_joined():
    noise = np.random.default_rng(0).random((9, 9)) * 0.3
    taxonomy = taxonomy_from_confusion(BLOCKS + noise)
    assert families(taxonomy) == [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}]
    assert taxonomy_from_confusion(sp.csr_array(BLOCKS + noise)) == taxonomy


def test_what_is_never_confused_is_not_joined():
    taxonomy = taxonomy_from_confusion(BLOCKS, list("abcdefghi"))
    assert families(taxonomy) == [set("abc"), set("def"), set("ghi")]
    alone = np.zeros((4, 4))
    alone[:2, :2] = [[3, 1], [0, 2]]
    alone[2, 2] = 5
    assert families(taxonomy_from_confusion(alone)) == [{0, 1}, {2}, {3}]
    assert len(taxonomy_from_confusion(BLOCKS, levels="links").leaves) == 9


def test_one_direction_is_enough():
    N = np.diag([5.0] * 4)
    N[0, 1] = N[3, 2] = 4
    N[2, 0] = 0.2
    assert families(taxonomy_from_confusion(N)) == families(taxonomy_from_confusion(N.T))


def test_counts_of_single_labels_are_the_confusion_matrix():
    rng = np.random.default_rng(1)
    y, u = rng.integers(0, 5, (2, 200))
    names, N = confusion_counts(y, u)
    assert names == (0, 1, 2, 3, 4)
    assert_allclose(N, confusion_matrix(y, u))


def test_counts_of_label_sets():
    y = [["a"], ["a", "b"], ["c"], []]
    u = [["a", "c"], ["b", "c", "d"], [], ["a"]]
    names, N = confusion_counts(y, u, list("abcd"))
    expected = np.zeros((4, 4))
    expected[0, 0] = 1  # right; the c beside it stands for nothing missed
    expected[1, 1] = 1
    expected[0, 2] = expected[0, 3] = 0.5  # a was missed, c and d came instead
    assert_allclose(N, expected)
    with pytest.raises(UserError, match="y has 4 rows, but 1 were predicted"):
        confusion_counts(y, [["a"]], names)


@pytest.mark.parametrize("form", ["one", "indicator", "lists"])
def test_classes_that_a_classifier_confuses(form):
    rng = np.random.default_rng(0)
    X, y = planted(3, 3, 40, d=6, spread=3.0)
    labels = {
        "one": y,
        "indicator": np.eye(9, dtype=int)[y],
        "lists": [[int(v)] for v in y],
    }[form]
    estimator = FlatSVM() if form == "indicator" else MulticlassSVM()
    told = []
    options = {"method": "confusion", "estimator": estimator, "random_state": rng.integers(9)}
    taxonomy = learn_taxonomy(X, labels, **options, callback=lambda *a: told.append(a))
    truth = Taxonomy.from_edges([(f"f{v // 3}", v) for v in range(9)])
    assert sibling_agreement(taxonomy, truth) > 0.4
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    "confusion, classes, message",
    [
        (np.ones((2, 3)), None, r"has the shape \(2, 3\).*a row and a column per class"),
        (np.ones((2, 2)), ["a"], "has 2 rows, but 1 classes are named"),
        ([[1, -2], [0, 1]], None, "holds -2.0 in row 0, column 1"),
        (np.zeros((2, 2)), None, "holds only 0"),
    ],
)
def test_a_bad_confusion_matrix_is_refused(confusion, classes, message):
    with pytest.raises(UserError, match=message):
        taxonomy_from_confusion(confusion, classes)


@pytest.mark.parametrize("seed", range(10))
def test_agreement_is_the_adjusted_rand_index(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, (2, 20))
    first = Taxonomy.from_edges([(f"a{p}", v) for v, p in enumerate(a)])
    second = Taxonomy.from_edges(
        [("top", f"b{p}") for p in set(b)] + [(f"b{p}", v) for v, p in enumerate(b)]
    )
    assert sibling_agreement(first, second) == pytest.approx(adjusted_rand_score(a, b))
    assert sibling_agreement(first, first) == 1
    assert sibling_agreement(second, first) == pytest.approx(sibling_agreement(first, second))


def test_agreement_with_inner_nodes_roots_and_strangers():
    given = Taxonomy.from_edges([("A", "a1"), ("A", "a2"), ("B", "b1"), (None, "c")])
    found = Taxonomy.from_edges([("x", "A"), ("x", "a1"), ("x", "a2"), ("y", "b1"), ("z", "c")])
    assert sibling_agreement(found, given) == 1
    with pytest.raises(UserError, match="0 classes in common"):
        sibling_agreement(found, Taxonomy.flat(["p", "q"]))
    assert sibling_agreement(Taxonomy.flat("abc"), Taxonomy.flat("abc")) == 1
