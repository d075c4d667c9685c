"""Random taxonomies: shape, second parents, size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.errors import UserError
from linnaeus.synthetic import random_edges, random_taxonomy


@given(
    n_leaves=st.integers(1, 60),
    depth=st.integers(1, 5),
    dag=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 99),
)
def test_shape(n_leaves, depth, dag, seed):
    taxonomy = random_taxonomy(n_leaves, depth, seed, dag)
    assert len(taxonomy.leaves) == n_leaves
    assert len(taxonomy.roots) == 1
    assert len(taxonomy.levels) == depth + 1
    assert (taxonomy.depth[taxonomy.leaf_numbers] == depth).all()
    for parent, child in taxonomy.edges:  # every parent is exactly one level up
        levels = taxonomy.depth[taxonomy.numbers([parent, child])]
        assert levels[1] == levels[0] + 1
    assert taxonomy.n_parents.max() <= 2


@pytest.mark.parametrize("dag", [0.0, 0.1, 0.4])
def test_a_share_of_the_nodes_has_two_parents(dag):
    taxonomy = random_taxonomy(4000, 4, 0, dag)
    assert taxonomy.is_tree == (dag == 0)
    assert np.mean(taxonomy.n_parents == 2) == pytest.approx(dag, abs=0.02)


def test_edges_are_numbered_level_by_level_and_repeatable():
    edges = random_edges(300, 3, 5, 0.2)
    taxonomy = random_taxonomy(300, 3, 5, 0.2)
    assert (edges[:, 0] < edges[:, 1]).all() and (np.diff(edges[:, 1]) >= 0).all()
    assert taxonomy.nodes == tuple(f"n{v}" for v in range(len(taxonomy)))
    assert set(taxonomy.edges) == {(f"n{p}", f"n{c}") for p, c in edges}
    assert np.array_equal(edges, random_edges(300, 3, 5, 0.2))
    assert not np.array_equal(edges, random_edges(300, 3, 6, 0.2))


def test_fan_out_is_uneven():
    taxonomy = random_taxonomy(2000, 2, 0)
    n_children = taxonomy.n_children[taxonomy.n_children > 0]
    assert n_children.min() >= 1
    assert n_children.max() > 3 * np.median(n_children)


def test_large_edge_lists():
    edges = random_edges(100_000, 6, 0, 0.05)
    assert edges.shape[1] == 2
    assert len(np.unique(edges[:, 1])) == edges[:, 1].max()  # all but the root have a parent


def test_errors():
    with pytest.raises(UserError, match=r"n_leaves is 0 and depth is 2; both must be at least 1"):
        random_edges(0, 2)
    with pytest.raises(UserError, match=r"dag is 2; it is a share"):
        random_taxonomy(5, 2, dag=2)
