"""Weights listed by feature: the same scores, in memory, in files, whole or the best of them."""

import errno
import gc
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import FlatSVM, Taxonomy, load
from linnaeus.errors import UserError
from linnaeus.estimators import _linear
from linnaeus.inference.rows import top_columns
from linnaeus.solvers.numerics import postings, products
from linnaeus.solvers.numerics.products import best_scores, linear_scores


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small problems take the way of large ones, in several blocks and tasks."""
    monkeypatch.setattr(products, "LARGE", 1)
    monkeypatch.setattr(products, "ROWS", 3)
    monkeypatch.setattr(postings, "BLOCK", 100)


def problem(seed, n=7, d=30, k=25, dtype=np.float32):
    """Weights of which some features have all, some half and some none; and few values: ties."""
    rng = np.random.default_rng(seed)
    share = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], size=d)
    W = rng.integers(-3, 4, size=(k, d)) * (rng.random((k, d)) < share) / 3
    X = rng.integers(-2, 3, size=(n, d)) * (rng.random((n, d)) < 0.3) / 7
    bias = rng.integers(-1, 2, size=k) / 3
    return sp.csr_array(X.astype(dtype)), sp.csr_array(W.astype(dtype)), bias.astype(dtype)


def plain_scores(X, W, bias):
    """By the definition: features in the order of the row, in double precision."""
    out, dense = np.empty((X.shape[0], W.shape[0]), W.dtype), W.toarray().astype(float)
    for i in range(X.shape[0]):
        s = np.zeros(W.shape[0])
        for p in range(X.indptr[i], X.indptr[i + 1]):
            s += float(X.data[p]) * dense[:, X.indices[p]]
        out[i] = s + bias.astype(float)
    return out


def by_feature(lists, n_classes):
    """The matrix again, (n_classes, d)."""
    d = lists.class_ptr.size - 1
    W = np.zeros((n_classes, d), lists.weights.dtype)
    for f in range(d):
        classes = lists.classes[lists.class_ptr[f] : lists.class_ptr[f + 1]]
        weights = lists.weights[lists.weight_ptr[f] : lists.weight_ptr[f + 1]]
        W[classes if classes.size or not weights.size else slice(None), f] = weights
    return W


# -- scores -----------------------------------------------------------------------------------


@given(seed=st.integers(0, 999), k=st.integers(0, 25), dtype=st.sampled_from(["f4", "f8"]))
def test_the_best_are_those_of_all_scores_bit_by_bit(seed, k, dtype):
    X, W, bias = problem(seed, dtype=dtype)
    expected = plain_scores(X, W, bias)
    assert np.array_equal(linear_scores(X, W, bias), expected)
    ranked = np.random.default_rng(seed).permutation(25)[: max(k, 20)]
    for jobs in (1, 2):
        best, value = best_scores(X, W, bias, ranked, k, jobs)
        assert value.dtype == expected.dtype
        assert np.array_equal(best, top_columns(expected[:, ranked], k))  # ties: the earlier
        assert np.array_equal(value, np.take_along_axis(expected[:, ranked], best, axis=1))


def test_scores_are_compared_as_they_are_told():
    """In double precision the second is better, in single precision both are alike."""
    W = sp.csr_array(np.array([[1.0, 0.0], [1.0, 1.0]], np.float32))
    X = sp.csr_array(np.array([[1.0, 1e-12]], np.float32))
    best, value = best_scores(X, W, np.zeros(2, np.float32), np.arange(2), 1)
    assert best.tolist() == [[0]] and value.tolist() == [[1.0]]


def test_dense_rows_have_the_same_bits():
    X, W, bias = problem(3)
    assert np.array_equal(linear_scores(X.toarray(), W, bias), linear_scores(X, W, bias))


def test_no_rows_and_no_features():
    X, W, bias = problem(4)
    best, value = best_scores(X[:0], W, bias, np.arange(25), 2)
    assert best.shape == value.shape == (0, 2)
    none = sp.csr_array((25, 30), dtype=np.float32)
    assert np.array_equal(linear_scores(X, none, bias), np.tile(bias, (7, 1)))


# -- lists ------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 300, None])
def test_lists_hold_all_weights_in_memory_and_in_a_file(tmp_path, limit):
    _, W, _ = problem(5)
    made = postings.build(W)
    assert np.array_equal(by_feature(made, 25), W.toarray())
    assert made.weights.size <= 2 * W.nnz  # a weight of each class only where that is no longer
    written = postings.write(W, tmp_path, limit)
    assert all(np.array_equal(a, b) for a, b in zip(made, written, strict=True))
    assert postings.of(W) is written
    again = postings.read(W, tmp_path / postings.INDEX)
    assert all(np.array_equal(a, b) for a, b in zip(made, again, strict=True))


def test_a_limit_bounds_the_memory_that_writing_takes(tmp_path):
    rng = np.random.default_rng(0)
    W = sp.random_array((1000, 1000), density=0.2, rng=rng, format="csr", dtype=np.float32)
    postings.write(W[:5], tmp_path)  # load the loops
    tracemalloc.start()
    written = postings.write(W, tmp_path, limit=100_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = written.weights.nbytes + written.classes.nbytes
    assert peak < 2 * 100_000 <= size / 8  # the block, and some numbers for each feature


def test_features_of_a_class_in_any_order():
    _, W, _ = problem(6)
    turned = W.copy()
    for k in range(25):
        part = slice(W.indptr[k], W.indptr[k + 1])
        turned.indices[part], turned.data[part] = W.indices[part][::-1], W.data[part][::-1]
    for a, b in zip(postings.build(W), postings.build(turned), strict=True):
        assert np.array_equal(a, b)


def test_lists_are_made_once_and_go_with_their_weights(monkeypatch):
    _, W, _ = problem(7)
    made = []
    monkeypatch.setattr(
        postings, "build", lambda W, build=postings.build: made.append(build(W)) or made[-1]
    )
    assert postings.of(W) is postings.of(W) and len(made) == 1
    W.data = W.data * 2  # another array
    assert np.array_equal(postings.of(W).weights, 2 * made[0].weights) and len(made) == 2
    W.data *= 2  # the same, in place
    assert np.array_equal(postings.of(W).weights, 4 * made[0].weights) and len(made) == 3
    number = id(W)
    del W
    gc.collect()
    assert number not in postings._known


@pytest.mark.parametrize("name", ["class_ptr", "classes", "weights"])
def test_a_damaged_file_is_refused(tmp_path, name):
    _, W, _ = problem(8)
    postings.write(W, tmp_path)
    path = tmp_path / postings.INDEX
    whole = bytearray(path.read_bytes())
    found = postings.arrays.read(path)[name]
    at = whole.find(found.tobytes()) + found.itemsize
    whole[at] ^= 1
    path.write_bytes(whole)
    with pytest.raises(UserError, match=r"index.safetensors: the index is damaged.* Delete it"):
        postings.read(W, path)


def test_a_file_of_other_weights_is_refused(tmp_path):
    _, W, _ = problem(8)
    postings.write(W, tmp_path)
    with pytest.raises(UserError, match="one of other weights"):
        postings.read(W * 2, tmp_path / postings.INDEX)


# -- estimators -------------------------------------------------------------------------------


TREE = Taxonomy.from_edges([("z", "a"), ("z", "b"), ("y", "c"), ("y", "d"), ("y", "e")])


def fitted(y, taxonomy=None):
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 40), density=0.2, rng=rng, format="csr")
    own = np.array(["a", "b", "c", "d", "e"])[rng.integers(5, size=60)]
    Y = TREE.encode([[name, "c"] for name in own])
    labels = own if y == "one" else Y if taxonomy else Y[:, [1, 2, 4, 5, 6]]
    return FlatSVM(taxonomy, prune=0.02, random_state=0).fit(X, labels).sparsify(), X


@pytest.mark.parametrize("y", ["one", "several"])
@pytest.mark.parametrize("taxonomy", [None, TREE])
def test_an_estimator_answers_as_with_dense_weights(y, taxonomy, monkeypatch):
    model, X = fitted(y, taxonomy)
    found = model.predict(X), *model.top_k(X, 3), model.decision_function(X)
    monkeypatch.setattr(products, "LARGE", 1 << 30)
    labels, best, value, scores = model.predict(X), *model.top_k(X, 3), model.decision_function(X)
    same = (found[0] != labels).nnz == 0 if y == "several" else np.array_equal(found[0], labels)
    assert same and np.array_equal(found[1], best)
    np.testing.assert_allclose(found[2], value, atol=1e-12)
    np.testing.assert_allclose(found[3], scores, atol=1e-12)


def test_copies_and_files_hold_no_lists(tmp_path):
    model, X = fitted("one")
    before = set(vars(model))
    best = model.top_k(X, 2)[0]
    assert set(vars(model)) == before
    assert len(pickle.dumps(model)) == len(pickle.dumps(pickle.loads(pickle.dumps(model))))
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.top_k(X, 2)[0], best)


def test_lists_beside_a_saved_model_are_used_and_may_be_replaced(tmp_path, monkeypatch):
    model, X = fitted("one")
    folder = tmp_path / "model"
    model.save(folder)
    postings.write(load(folder).coef_, folder)
    again, expected = load(folder), model.top_k(X, 2)[1]
    monkeypatch.setattr(postings, "build", None)  # it is not needed
    assert np.array_equal(again.top_k(X, 2)[1], expected)
    model.save(folder)
    assert not (folder / postings.INDEX).exists()


def test_lists_of_other_weights_beside_a_model_are_left_alone(tmp_path):
    model, X = fitted("one")
    model.save(tmp_path / "model")
    postings.write(load(tmp_path / "model").coef_ * 2, tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").top_k(X, 2)[1], model.top_k(X, 2)[1])


def test_new_weights_are_seen():
    model, X = fitted("one")
    model.top_k(X, 1)
    model.coef_ = -model.coef_
    model.intercept_ = -model.intercept_
    assert np.array_equal(model.top_k(X, 5)[1], -fitted("one")[0].top_k(X, 5)[1][:, ::-1])


def test_many_weights_are_saved_with_their_lists(tmp_path, monkeypatch):
    model, X = fitted("one")
    monkeypatch.setattr(_linear, "INDEXED", 1)
    for name in ("one", "two"):
        model.save(tmp_path / name)
    files = [(tmp_path / name / postings.INDEX).read_bytes() for name in ("one", "two")]
    assert files[0] == files[1]
    expected = fitted("one")[0].top_k(X, 2)[1]
    monkeypatch.setattr(postings, "build", None)  # it is not needed
    assert np.array_equal(load(tmp_path / "one").top_k(X, 2)[1], expected)


def test_a_model_is_saved_where_its_lists_find_no_room(tmp_path, monkeypatch):
    model, X = fitted("one")
    monkeypatch.setattr(_linear, "INDEXED", 1)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(postings, "write", full)
    with pytest.warns(UserWarning, match=r"is saved, its index is not: No space left on device"):
        model.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").top_k(X, 2)[0], model.top_k(X, 2)[0])
