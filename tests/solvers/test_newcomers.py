"""New classes of a stream: the quadratic programme, what stays, clocks."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from linnaeus import Taxonomy
from linnaeus.losses import class_attributes, class_loss
from linnaeus.solvers.online import newcomers, perceptron
from linnaeus.solvers.online.perceptron_weights import Weights

TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2")]
)
LOSS = class_loss("half_distance", TAX)
L = class_attributes(TAX, "ones")
NEW = np.array([False, False, True, True])  # b1, b2: the whole subtree of B


def example(seed, n=12, d=5):
    rng = np.random.default_rng(seed)
    X = sp.csr_array(rng.normal(size=(n, d)))
    Y = newcomers._one_hot(rng.integers(0, 4, size=n), 4)
    W = rng.normal(size=(d, L.shape[1]))
    W[:, newcomers._free(L, NEW)] = 0.0
    return X, Y, W


def plain_pairs(F, Y, t):
    """(row, label, rival) as the text says it."""
    out = set()
    for i, row in enumerate(Y.toarray() > 0):
        (y,) = np.flatnonzero(row)
        out |= {(i, y, z) for z in np.flatnonzero(NEW) if z != y}
        if NEW[y]:
            old = np.flatnonzero(~NEW)
            pressing = [F[i, z] + t * np.sqrt(LOSS.pairs([y], [z])[0]) for z in old]
            out.add((i, y, old[np.argmax(pressing)]))
    return out


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_programme_is_solved(seed, kernel, even, monkeypatch):
    """Against the same dual as a problem of nonnegative least squares."""
    monkeypatch.setattr(newcomers, "ENOUGH", 1e-10)
    monkeypatch.setattr(newcomers, "PASSES", 100_000)
    X, Y, W = example(seed)
    t, F, free = 0.7, X @ W @ L.T.toarray(), newcomers._free(L, NEW)
    pairs = newcomers._pairs(F, Y, NEW, ~NEW, LOSS, t)
    assert set(zip(pairs.row, pairs.right, pairs.wrong, strict=True)) == plain_pairs(F, Y, t)
    inputs = perceptron.inputs_of(None if kernel else X, (X @ X.T).toarray())
    own = sp.csr_array(L[:, free])
    C, lost = newcomers._solve(inputs, pairs, own, NEW, t, even)
    found = X.T @ C.toarray()
    U = (own[pairs.right] - own[pairs.wrong]).toarray()
    phi = np.einsum("pi,pv->piv", X.toarray()[pairs.row], U).reshape(len(U), -1)
    Q = phi @ phi.T
    s = np.full(len(U), newcomers.SOFT * np.diag(Q).mean())
    if even:
        root = np.sqrt([np.sum(pairs.right == y) for y in pairs.right])
        s *= root / root.mean()
    R = np.linalg.cholesky(Q + np.diag(s)).T
    alpha, _ = nnls(R, np.linalg.solve(R.T, pairs.gap))
    assert_allclose(found.ravel(), phi.T @ alpha, atol=1e-7)
    assert_allclose(lost, plain_lost(F + X @ found @ own.T.toarray(), Y, pairs))


def plain_lost(F, Y, pairs):
    """The largest shares of rows with a pair of margin 0 or less, of new and of old classes."""
    share = np.zeros(4)
    for y in range(4):
        own = np.flatnonzero(Y.toarray()[:, y])
        bad = {i for i, a, z in zip(*pairs[:3], strict=True) if a == y and F[i, y] <= F[i, z]}
        share[y] = len(bad) / max(1, own.size)
    return share[NEW].max() + share[~NEW].max()


def test_the_first_that_loses_nothing_is_taken_else_the_one_that_loses_least():
    tried = iter([("a", 0.5), ("b", 0.2), ("c", 0.2), ("d", 0.0), ("e", 0.0)])
    assert newcomers._best(tried) == "d" and next(tried)[0] == "e"
    assert newcomers._best([("a", 0.5), ("b", 0.2), ("c", 0.2)]) == "b"


def test_what_is_known_stays():
    X, Y, W = example(0, n=40)
    weights = Weights(W.copy(), 10, moment=3 * W)
    weights.remember(4)
    old = np.asarray(Y @ ~NEW) > 0
    weights.note(X[old], Y[old])
    before, F = weights.answer(), X @ weights.answer() @ L.T
    newcomers.introduce(weights, (L, LOSS), X, Y, np.flatnonzero(NEW), None)
    free = newcomers._free(L, NEW)
    kept = np.setdiff1d(np.arange(L.shape[1]), free)
    assert_array_equal(weights.last[:, kept], W[:, kept])
    assert_allclose(weights.answer()[:, kept], before[:, kept], rtol=1e-12)
    assert np.abs(weights.answer()[:, free]).max() > 0
    assert_array_equal(weights.born[free], 10 - np.count_nonzero(~old))
    assert_allclose((X @ weights.answer() @ L.T)[:, ~NEW], F[:, ~NEW], rtol=1e-12)
    assert_array_equal(weights.counts, Y.sum(axis=0))


def test_every_attribute_has_its_own_clock():
    """The mean of a weight goes over the visits since its attribute came."""
    rng = np.random.default_rng(0)
    updates = rng.normal(size=(20, 2))  # of two attributes, of one feature
    start, born = 5.0, 12
    weights = Weights(np.zeros((1, 1)), 0, moment=np.zeros((1, 1)))
    for step in range(1, 21):
        if step == born + 1:
            weights.grow(sp.csr_array([[1.0, 0.0]]), np.array([0]), 2)
            weights.go_on(averaged=True, dense=True)
            weights.last[:, 1], weights.moment[:, 1] = start, (born + 1) * start
        u = updates[step - 1, : weights.last.shape[1]]
        weights.last += u
        weights.moment += step * u
        weights.n_steps = step
    first = np.cumsum(updates[:, 0]).mean()
    second = (start + np.cumsum(updates[born:, 1])).mean()
    assert_allclose(weights.answer(), [[first, second]], rtol=1e-12)
    assert_allclose(weights.scores(sp.csr_array([[2.0]])), [[2 * first, 2 * second]], rtol=1e-12)


def test_sums_are_those_of_all_examples():
    X, Y, W = example(1, n=50)
    weights = Weights(W)
    weights.remember(4)
    for rows in np.array_split(np.arange(50), [1, 2, 7, 30, 31]):
        weights.note(X[rows], Y[rows])
    seen, means = weights.means(of_examples=False)
    assert_array_equal(seen, np.arange(4))
    for k in range(4):
        rows = np.flatnonzero(Y.toarray()[:, k])
        assert_allclose(means.toarray()[k], X.toarray()[rows].mean(axis=0), atol=1e-12)
    assert len(weights.sums) < 5


def test_some_classes_are_the_problem_without_the_others():
    classes = perceptron.Classes.of(L, LOSS)
    kept = np.array([0, 2, 3])
    part = classes.among(kept)
    assert_array_equal(part.attributes.toarray(), L.toarray()[kept])
    found = [[perceptron.fast.pair_loss(part.arrays, y, z) for z in range(3)] for y in range(3)]
    assert_allclose(found, LOSS.matrix()[np.ix_(kept, kept)])
