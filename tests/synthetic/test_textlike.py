"""The text-like generator: laws of words and labels, determinism, errors."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.synthetic import TextSource, make_text_like, random_taxonomy


def same(A, B):
    return A.shape == B.shape and (A != B).nnz == 0


@pytest.fixture(scope="module")
def large():
    return make_text_like(6000, 20_000, n_leaves=200, depth=3, random_state=0)


def test_shapes_and_types(large):
    X, Y, taxonomy = large
    assert isinstance(X, sp.csr_array) and isinstance(Y, sp.csr_array)
    assert X.shape == (6000, 20_000) and Y.shape == (6000, len(taxonomy))
    assert X.dtype == np.float32 and Y.dtype == np.int8
    assert X.indices.dtype == Y.indices.dtype == np.int32
    assert X.has_canonical_format and set(Y.data) == {1}
    assert X.data.min() >= 1 and (X.data == np.rint(X.data)).all()
    assert np.diff(X.indptr).min() > 0 and np.diff(Y.indptr).min() > 0


def test_word_frequencies_follow_zipf(large):
    X = large[0]
    total = np.sort(np.asarray(X.sum(axis=0)).ravel())[::-1]
    rank = np.arange(1, total.size + 1)
    middle = slice(9, 2000)
    slope = np.polyfit(np.log(rank[middle]), np.log(total[middle]), 1)[0]
    assert -1.25 < slope < -0.8


def test_class_sizes_fall_with_their_rank(large):
    _, Y, taxonomy = large
    sizes = np.sort(np.asarray(Y.sum(axis=0)).ravel()[taxonomy.leaf_numbers])[::-1]
    slope = np.polyfit(np.log(np.arange(2, 101)), np.log(sizes[1:100]), 1)[0]
    assert -1.2 < slope < -0.7


def test_means_are_those_asked_for(large):
    X, Y, _ = large
    assert X.nnz / 6000 == pytest.approx(80, rel=0.1)
    assert Y.nnz / 6000 == pytest.approx(1.3, rel=0.05)
    lengths = np.asarray(X.sum(axis=1)).ravel()
    assert lengths.std() > 0.3 * lengths.mean()  # lengths vary


@pytest.mark.parametrize("labels_per_sample", [1.0, 2.5])
def test_labels_per_sample(labels_per_sample):
    _, Y, _ = make_text_like(
        3000, 500, labels_per_sample=labels_per_sample, nonzeros=20, random_state=0
    )
    assert Y.nnz / 3000 == pytest.approx(labels_per_sample, rel=0.05)


def test_labels_are_leaves_unless_paths_are_partial():
    def inner_share(partial):
        _, Y, taxonomy = make_text_like(
            3000, 500, partial=partial, labels_per_sample=1, nonzeros=20, random_state=1
        )
        assert (taxonomy.depth[Y.indices] > 0).all()  # a sole root is no label
        return np.mean(taxonomy.n_children[Y.indices] > 0)

    assert inner_share(0.0) == 0
    assert inner_share(0.3) == pytest.approx(0.3, abs=0.04)


def test_labels_are_most_specific():
    _, Y, taxonomy = make_text_like(
        2000, 500, labels_per_sample=3, partial=0.5, dag=0.3, nonzeros=20, random_state=2
    )
    assert same(Y, taxonomy.most_specific(Y))


def test_noise_exchanges_siblings():
    one = {"labels_per_sample": 1, "nonzeros": 20, "random_state": 3}
    X, Y, taxonomy = make_text_like(3000, 500, noise=0.0, **one)
    X2, Y2, _ = make_text_like(3000, 500, noise=0.5, **one)
    assert same(X, X2)  # the words are those of the true labels
    a, b = Y.indices, Y2.indices
    changed = a != b
    assert 0.3 < changed.mean() < 0.5  # sometimes a node is its own substitute
    parent = taxonomy.tree.parent
    assert_array_equal(parent[a[changed]], parent[b[changed]])


def test_words_tell_the_topic():
    """Rows are nearer to the mean of their own class than to those of the others."""
    X, Y, _ = make_text_like(
        3000, 2000, n_leaves=20, labels_per_sample=1, noise=0, random_state=4, tfidf=True
    )
    train, test = slice(0, 2000), slice(2000, 3000)
    means = (Y[train].T.astype(np.float32) @ X[train]).toarray()
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    means = np.divide(means, norms, out=np.zeros_like(means), where=norms > 0)
    guess = np.asarray(X[test] @ means.T).argmax(axis=1)
    assert np.mean(guess == Y[test].indices) > 0.7


def test_same_seed_same_data_and_prefixes_agree():
    first = make_text_like(5000, 800, n_leaves=30, nonzeros=15, random_state=5)
    again = make_text_like(5000, 800, n_leaves=30, nonzeros=15, random_state=5)
    other = make_text_like(5000, 800, n_leaves=30, nonzeros=15, random_state=6)
    short = make_text_like(70, 800, n_leaves=30, nonzeros=15, random_state=5)
    assert first[0].data.tobytes() == again[0].data.tobytes()
    assert same(first[0], again[0]) and same(first[1], again[1]) and first[2] == again[2]
    assert not same(first[0], other[0])
    assert same(first[0][:70], short[0]) and same(first[1][:70], short[1])


def test_blocks_are_the_rows():
    taxonomy = random_taxonomy(30, 2, 0)
    X, Y, used = make_text_like(5000, 800, taxonomy, nonzeros=15, random_state=5)
    source = TextSource(taxonomy, 800, nonzeros=15, random_state=5)
    assert used is taxonomy
    for b in (2, 0):  # in any order
        rows = slice(b * source.block_size, min((b + 1) * source.block_size, 5000))
        x, y = source.block(b)
        n = rows.stop - rows.start
        assert same(x[:n], X[rows]) and same(y[:n], Y[rows])


def test_the_dag_option_makes_a_dag():
    _, _, taxonomy = make_text_like(10, 500, n_leaves=200, dag=0.2, random_state=0)
    assert not taxonomy.is_tree
    assert np.mean(taxonomy.n_parents == 2) == pytest.approx(0.2, abs=0.06)


def test_any_taxonomy_will_do():
    flat = Taxonomy.flat(["a", "b", "c"])
    _, Y, _ = make_text_like(
        50, 100, flat, labels_per_sample=9, partial=1, noise=1, nonzeros=5, random_state=0
    )
    assert Y.shape == (50, 3) and np.diff(Y.indptr).min() > 0
    forest = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("d", "e"), (None, "f")])
    _, Y, _ = make_text_like(200, 100, forest, partial=1, nonzeros=5, random_state=0)
    assert {name for row in forest.decode(Y) for name in row} == {"a", "d", "f"}


def test_tfidf_is_by_the_definition():
    counts, _, _ = make_text_like(40, 60, n_leaves=5, nonzeros=12, random_state=0)
    weighted, _, _ = make_text_like(40, 60, n_leaves=5, nonzeros=12, random_state=0, tfidf=True)
    dense = counts.toarray().astype(float)
    with np.errstate(divide="ignore"):
        weight = np.where((dense > 0).any(axis=0), np.log2(40 / (dense > 0).sum(axis=0)), 0.0)
    expected = dense * weight
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert_allclose(weighted.toarray(), expected, atol=1e-6)


def test_dtype_and_empty():
    X, Y, taxonomy = make_text_like(0, 100, nonzeros=5, random_state=0, dtype=np.float64)
    assert X.shape == (0, 100) and Y.shape == (0, len(taxonomy)) and X.dtype == np.float64


def test_scales():
    X, _, taxonomy = make_text_like(
        4096, 100_000, n_leaves=3000, depth=4, dag=0.05, nonzeros=100, random_state=0
    )
    assert X.shape == (4096, 100_000) and len(taxonomy.leaves) == 3000
    assert X.nnz / 4096 == pytest.approx(100, rel=0.1)


def test_errors():
    with pytest.raises(UserError, match=r"nonzeros is 80 with 10 features; it must lie between"):
        make_text_like(5, 10)
    with pytest.raises(UserError, match=r"labels_per_sample is 0.5; every row has a label"):
        make_text_like(5, 100, labels_per_sample=0.5)
    with pytest.raises(UserError, match=r"partial is 2; it is a probability"):
        make_text_like(5, 100, partial=2)
    with pytest.raises(UserError, match=r"noise is -1; it is a probability"):
        make_text_like(5, 100, noise=-1)
    with pytest.raises(UserError, match=r"n_samples is -1"):
        make_text_like(-1, 100)
    with pytest.raises(UserError, match=r"The taxonomy has no nodes"):
        make_text_like(5, 100, Taxonomy.flat([]))
