"""Label sets against enumeration of all sets of leaves."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from linnaeus import Taxonomy
from linnaeus.errors import TaxonomyError, UserError
from linnaeus.inference import label_set_argmax, rows
from linnaeus.losses import set_loss
from strategies import forests

TREE = Taxonomy.from_edges([("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1")])


def every_set(taxonomy, nonempty):
    leaves = taxonomy.leaves
    sizes = range(int(nonempty), len(leaves) + 1)
    return [list(names) for k in sizes for names in combinations(leaves, k)]


@given(forests(9), st.integers(0, 10_000), st.booleans(), st.booleans())
def test_the_best_of_all_label_sets(edges, seed, nonempty, whole):
    """Whole numbers make ties."""
    tax, rng = Taxonomy.from_edges(edges), np.random.default_rng(seed)
    n, leaves = 3, tax.leaf_numbers
    F = rng.integers(-3, 4, (n, leaves.size)).astype(float)
    volumes = rng.integers(0, 3, len(tax)).astype(float)
    if not whole:
        F, volumes = F + rng.normal(size=F.shape), volumes + rng.random(len(tax))
    truth = [[v for v in tax.nodes if rng.random() < 0.3] for _ in range(n)]
    costs = {"volumes": volumes, "c_miss": 1.5, "c_false": 0.5}
    U, value = label_set_argmax(tax, F, truth, **costs, nonempty=nonempty)
    assert set(U.indices.tolist()) <= set(leaves.tolist())
    plain, plain_value = label_set_argmax(tax, F, nonempty=nonempty)
    candidates = every_set(tax, nonempty)
    for i in range(n):
        own = np.array([sum(F[i, tax.leaves.index(v)] for v in names) for names in candidates])
        assert plain_value[i] == pytest.approx(own.max())
        loss = set_loss([truth[i]] * len(candidates), candidates, tax, **costs)
        assert_allclose(value[i], (own + loss).max(), atol=1e-9)
        for found, expected in ((plain, own.max()), (U, (own + loss).max())):
            names = tax.decode(found[[i]])[0]
            assert len(names) >= nonempty
            reached = sum(F[i, tax.leaves.index(v)] for v in names)
            reached += found is U and set_loss([truth[i]], [names], tax, **costs)[0]
            assert reached == pytest.approx(expected, abs=1e-9)


def test_blocks_do_not_change_it(monkeypatch):
    rng = np.random.default_rng(0)
    F = rng.normal(size=(40, 3)).astype(np.float32)
    truth = [[("a1", "a2", "b1")[i % 3]] for i in range(40)]
    whole = label_set_argmax(TREE, F, truth)
    monkeypatch.setattr(rows, "BLOCK_ENTRIES", 8)
    parts = label_set_argmax(TREE, F, truth)
    assert (whole[0] != parts[0]).nnz == 0
    assert_allclose(whole[1], parts[1])


def test_ties_and_empty_sets():
    U, value = label_set_argmax(TREE, [[-1.0, -1.0, -1.0]])
    assert TREE.decode(U) == [["a1"]] and value.tolist() == [-1.0]
    U, value = label_set_argmax(TREE, [[-1.0, -1.0, -1.0]], nonempty=False)
    assert TREE.decode(U) == [[]] and value.tolist() == [0.0]
    U, _ = label_set_argmax(TREE, [[0.0, 2.0, 0.0]])  # what adds nothing is left out
    assert TREE.decode(U) == [["a2"]]


def test_mistakes_are_named():
    with pytest.raises(UserError, match="5 columns, but the taxonomy has 3 leaves"):
        label_set_argmax(TREE, np.zeros((1, 5)))
    with pytest.raises(UserError, match="Y has 2 rows, but the scores have 1"):
        label_set_argmax(TREE, np.zeros((1, 3)), [["a1"], ["a1"]])
    with pytest.raises(UserError, match="score of label 1 in row 0 is nan"):
        label_set_argmax(TREE, [[0.0, np.nan, 0.0]])
    with pytest.raises(UserError, match="c_miss is -1"):
        label_set_argmax(TREE, np.zeros((1, 3)), [["a1"]], c_miss=-1)
    dag = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    with pytest.raises(TaxonomyError, match="needs a tree, but node 'c' has 2 parents"):
        label_set_argmax(dag, np.zeros((1, 1)))
