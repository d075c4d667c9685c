"""Balanced trees by halving: sizes, bounds, planted families, bounded memory."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from test_learn_taxonomy import planted

from linnaeus.induction import kmeans, learn, learn_taxonomy


def leaf_sets(taxonomy):
    """The classes below every node of each level of clusters."""
    out = []
    for level in taxonomy.levels[1:-1]:
        out.append([set(taxonomy.descendants(v)) & set(taxonomy.leaves) for v in level])
    return out


@given(st.integers(1, 60), st.integers(2, 8), st.booleans())
def test_families_are_small_and_alike(q, branching, spherical):
    rng = np.random.default_rng(q)
    metric = "cosine" if spherical else "euclidean"
    options = {"method": "kmeans", "branching": branching, "metric": metric}
    taxonomy = learn_taxonomy(rng.normal(size=(q, 3)), np.arange(q), **options)
    assert taxonomy.leaves == tuple(range(q)) and taxonomy.is_tree
    assert taxonomy.n_children.max() <= max(branching, 2)
    depth = taxonomy.depth[taxonomy.leaf_numbers]
    assert (depth == depth[0]).all()
    for sets in leaf_sets(taxonomy):
        sizes = [len(s) for s in sets]
        assert sum(sizes) == q and min(sizes) >= 1
    first = [len(s) for s in leaf_sets(taxonomy)[0]]
    assert max(first) - min(first) <= 1


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("sparse", [False, True])
def test_planted_families_are_found(metric, sparse):
    X, y = planted(8, 8, 3, d=30)
    data = sp.csr_array(X) if sparse else X
    taxonomy = learn_taxonomy(data, y, method="kmeans", branching=8, metric=metric)
    (found,) = leaf_sets(taxonomy)
    assert found == [set(range(8 * k, 8 * k + 8)) for k in range(8)]


def test_a_half_is_the_best_of_all_halves():
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(20):
        C = rng.normal(size=(8, 2))
        options = kmeans.Options(False, rng, lambda n: None)

        def within(side, C=C):
            return sum(((C[s] - C[s].mean(axis=0)) ** 2).sum() for s in (side, ~side))

        every = [np.array([c >> i & 1 for i in range(8)], dtype=bool) for c in range(256)]
        best = min(within(side) for side in every if side.sum() == 3)
        found = within(kmeans._halve(C, 3, options))
        assert found >= best - 1e-12
        hits += found <= best + 1e-12
    assert hits >= 12  # a local search, but a good one


def test_seeds_levels_and_unseen_classes():
    X, y = planted(6, 6)
    first, again = (learn_taxonomy(X, y, method="kmeans", random_state=5) for _ in range(2))
    assert first == again
    for levels in (1, 2, 3):
        taxonomy = learn_taxonomy(X, y, method="kmeans", levels=levels)
        assert len(taxonomy.levels) == levels + 2
    names = [*range(36), "x", "y"]
    taxonomy = learn_taxonomy(X, y, method="kmeans", classes=names)
    assert taxonomy.leaves == tuple(names)
    assert taxonomy.parents("x") == taxonomy.parents("y")
    assert set(taxonomy.children(taxonomy.parents("x")[0])) == {"x", "y"}


def test_equal_classes_are_divided_all_the_same():
    taxonomy = learn_taxonomy(np.ones((9, 2)), np.arange(9), method="kmeans", levels=1)
    assert [len(s) for s in leaf_sets(taxonomy)[0]] == [3, 3, 3]


def test_auto_takes_it_for_many_classes(monkeypatch):
    X, y = planted(6, 6, 1)
    balanced = learn_taxonomy(X, y, method="kmeans")
    assert learn_taxonomy(X, y) == learn_taxonomy(X, y, method="centroids") != balanced
    assert learn_taxonomy(X, y, memory=1000) == balanced
    monkeypatch.setattr(learn, "LARGE", 35)
    assert learn_taxonomy(X, y) == balanced


@pytest.mark.slow
def test_many_classes_in_little_memory_with_progress(monkeypatch):
    monkeypatch.setattr(learn, "LARGE", 5_000)
    rng = np.random.default_rng(0)
    q, per_row, d = 6_000, 12, 5_000
    columns = rng.integers(0, d, (q, per_row))
    X = sp.csr_array((rng.random(q * per_row), (np.repeat(np.arange(q), per_row), columns.ravel())))
    told = []
    tracemalloc.start()
    taxonomy = learn_taxonomy(X, np.arange(q), callback=lambda *a: told.append(a))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taxonomy.n_children.max() <= 32 and len(taxonomy.leaves) == q
    assert peak < 30e6  # distances of all pairs would take 144 MB, twice
    done = [a for a, _ in told]
    assert done == sorted(done) and told[-1][0] == told[-1][1] and len(told) > 100
