"""The linear generator: its law, its acceptance rate and its errors."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from linnaeus.errors import UserError
from linnaeus.synthetic import hierarchical, make_hierarchical


def plain_labels(taxonomy, W, x):
    """The leaves whose summed weights along the path give a positive score, one by one."""
    names = []
    for leaf in taxonomy.leaves:
        w = sum(W[taxonomy.index(a)] for a in taxonomy.ancestors(leaf))
        if w @ x > 0:
            names.append(leaf)
    return names


@pytest.mark.parametrize(("fan_out", "depth", "n_nodes"), [(3, 3, 40), (6, 2, 43), (2, 2, 7)])
def test_labels_follow_from_the_true_weights(fan_out, depth, n_nodes):
    X, Y, taxonomy, W = make_hierarchical(
        50, fan_out=fan_out, depth=depth, random_state=1, return_weights=True
    )
    q = fan_out**depth
    assert X.shape == (50, 20) and W.shape == (n_nodes, 20) and Y.shape == (50, n_nodes)
    assert len(taxonomy.leaves) == q and taxonomy.depth.max() == depth and taxonomy.is_tree
    assert_array_equal(taxonomy.n_children, np.where(taxonomy.depth < depth, fan_out, 0))
    assert taxonomy.decode(Y) == [plain_labels(taxonomy, W, x) for x in X]
    n_labels = np.diff(Y.indptr)
    assert n_labels.min() > 0 and n_labels.max() < np.sqrt(q)


@pytest.mark.parametrize(("fan_out", "depth"), [(3, 3), (6, 2)])
def test_acceptance_and_labels_per_item_are_those_of_the_specification(fan_out, depth):
    rates, n_labels = [], []
    for seed in range(30):
        _, Y, taxonomy, W = make_hierarchical(
            200, fan_out=fan_out, depth=depth, random_state=seed, return_weights=True
        )
        classes = (taxonomy.ancestor_matrix @ W)[taxonomy.leaf_numbers]
        x = np.random.default_rng(seed).normal(size=(2000, 20))
        count = (x @ classes.T > 0).sum(axis=1)
        rates.append(np.mean((count > 0) & (count < np.sqrt(len(classes)))))
        n_labels.append(Y.sum() / 200)
    assert 0.13 < np.mean(rates) < 0.18  # about 15%
    assert 2.6 < np.mean(n_labels) < 3.1  # about 2.8


def test_variances_belong_to_levels():
    W = make_hierarchical(
        5, n_features=2000, variances=[0, 9, 1, 4], random_state=0, return_weights=True
    )[3]
    assert_array_equal(W[0], 0)
    assert W[1:4].std() == pytest.approx(3, rel=0.05)
    assert W[4:13].std() == pytest.approx(1, rel=0.05)
    assert W[13:].std() == pytest.approx(2, rel=0.05)


def test_default_variances_halve_at_every_level():
    _, _, taxonomy, W = make_hierarchical(5, n_features=4000, random_state=3, return_weights=True)
    for k, level in enumerate(taxonomy.level_numbers):
        assert W[level].var() == pytest.approx(2.0**-k, rel=0.1)


def test_same_seed_same_data_whatever_the_block(monkeypatch):
    X, Y, taxonomy = make_hierarchical(100, random_state=7)
    monkeypatch.setattr(hierarchical, "_BLOCK", 37)
    X2, Y2, taxonomy2 = make_hierarchical(100, random_state=7)
    assert_array_equal(X, X2)
    assert_array_equal(Y.toarray(), Y2.toarray())
    assert taxonomy == taxonomy2
    assert not np.array_equal(X, make_hierarchical(100, random_state=8)[0])


def test_no_samples_is_an_empty_problem():
    X, Y, taxonomy = make_hierarchical(0, random_state=0)
    assert X.shape == (0, 20) and Y.shape == (0, len(taxonomy))


def test_errors_name_value_and_remedy():
    with pytest.raises(UserError, match=r"fan_out is 1; it must be at least 2"):
        make_hierarchical(fan_out=1)
    with pytest.raises(UserError, match=r"variances is \[1, 2\]; give 4 numbers"):
        make_hierarchical(variances=[1, 2])
    with pytest.raises(UserError, match=r"had between 1 and sqrt\(4\) labels. Use more classes"):
        make_hierarchical(fan_out=4, depth=1, n_features=2, variances=[1, 0], random_state=0)
