"""CorrelatedMNL: answers, diagnostics, interrupts."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning

from linnaeus import CorrelatedMNL, MulticlassLogistic, Taxonomy
from linnaeus.errors import UserError

# Few draws are enough for what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:The chains of CorrelatedMNL")

TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), ("B", "b3")]
)


def points(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    label = np.resize(np.arange(5), n)
    X = rng.normal(size=(5, d))[label] + rng.normal(size=(n, d))
    return X, np.array(TAX.leaves)[label]


@pytest.fixture(scope="module")
def fitted():
    X, y = points()
    return CorrelatedMNL(TAX, random_state=0).fit(X, y), X, y


def test_the_defaults_mix(fitted):
    model, _, _ = fitted
    assert max(np.max(v) for v in model.rhat_.values()) < 1.02
    assert min(np.min(v) for v in model.ess_.values()) > 400
    assert model.divergences_.sum() == 0 and (model.acceptance_ > 0.6).all()
    assert model.n_iter_ == 2500 and model.n_gradients_ > 5000
    assert set(model.precision_) == {"r", "A", "B"}


def test_probabilities_are_means_over_draws(fitted):
    model, X, y = fitted
    P = model.predict_proba(X)
    F = np.hstack([X, np.ones((60, 1))]) @ model.basis_
    plain = np.mean([softmax(F @ W.T, axis=1) for W in model.draws_], axis=0)
    assert_allclose(P, plain, rtol=1e-10)
    assert_allclose(P.sum(axis=1), 1.0)
    assert_allclose(model.decision_function(X), np.log(P))
    assert (model.predict(X) == model.classes_[P.argmax(axis=1)]).all()
    assert np.mean(model.predict(X) == y) > 0.5
    assert len(model.draws_) == 3000


def test_answers_come_with_their_monte_carlo_errors(fitted):
    """Chains of other seeds differ by about as much as is said."""
    model, X, y = fitted
    p, error = model.predict_proba(X, return_error=True)
    assert_allclose(p, model.predict_proba(X))
    assert model.monte_carlo_error_ == pytest.approx(error.max())
    assert 0 < model.monte_carlo_error_ < 0.02
    other = CorrelatedMNL(TAX, random_state=1).fit(X, y)
    z = (p - other.predict_proba(X)) / (np.sqrt(2) * error)
    assert 0.5 < np.sqrt(np.mean(z**2)) < 2


@pytest.mark.slow
def test_one_feature_is_as_by_quadrature():
    """The difference d of the weights has the prior (b + d^2/4)^-(a + 1/2)."""
    x, y = np.array([1.0, -0.5, 2.0, 0.3, 1.2]), np.array([1, 0, 1, 1, 0])
    d = np.linspace(-60, 60, 60_001)
    mass = (1 + d * d / 4) ** -2.5 * np.prod(expit(np.outer(2 * y - 1, 1) * np.outer(x, d)), axis=0)
    model = CorrelatedMNL(fit_intercept=False, n_samples=6000, random_state=0).fit(x[:, None], y)
    at = np.array([[-2.0], [0.7], [3.0]])
    exact = [np.sum(expit(v * d) * mass) / mass.sum() for v in at.ravel()]
    p, error = model.predict_proba(at, return_error=True)
    assert_allclose(p[:, 1], exact, atol=0.01)
    assert (np.abs(p[:, 1] - exact) < 4 * error[:, 1]).all()


def test_the_mean_weights_are_those_of_the_draws(fitted):
    model, _, _ = fitted
    W = model.draws_.mean(axis=0) @ model.basis_.T
    error = 4 * model.draws_.std() / np.sqrt(3000 / 4)
    assert_allclose(W[:, :-1], model.coef_, atol=error)
    assert_allclose(W[:, -1], model.intercept_, atol=error)


def test_with_much_data_it_is_softmax_regression():
    """With a precision near 1 and 1,500 samples the posterior mean is near the mode."""
    X, y = points(n=1500, d=2)
    ours = CorrelatedMNL(a=1e4, b=1e4, n_burn_in=200, n_samples=200, random_state=0).fit(X, y)
    theirs = MulticlassLogistic(C=1.0, tol=1e-8).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.02)
    assert_allclose(ours.precision_[None], 1.0, atol=0.01)


def test_sharing_helps_a_rare_class():
    """A class with two samples leans on its sibling, in which a common part is learnt."""
    rng = np.random.default_rng(0)
    names = np.repeat(["a1", "a2", "b1", "b2"], [40, 2, 40, 40])
    side = {"a1": (3, 0.5), "a2": (3, -0.5), "b1": (-3, 0.5), "b2": (-3, -0.5)}
    X = np.array([side[name] for name in names]) + 0.3 * rng.normal(size=(122, 2))
    tax = Taxonomy.from_edges([("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2")])
    model = CorrelatedMNL(tax, n_samples=600, n_burn_in=400, random_state=0).fit(X, names)
    assert model.coef_[1, 0] > 0.3  # a2 goes the way of A
    assert list(model.precision_) == ["A", "B", None]


def test_two_classes_without_a_taxonomy():
    X, y = points()
    two = np.where(y < "b", "a", "b")
    model = CorrelatedMNL(n_samples=300, n_burn_in=200, random_state=0).fit(X, two)
    assert model.coef_.shape == (1, 4) and model.decision_function(X).shape == (60,)
    P = model.predict_proba(X)
    assert_allclose(np.log(P[:, 1] / P[:, 0]), model.decision_function(X))
    assert (model.predict(X) == model.classes_[P.argmax(axis=1)]).all()


def test_one_label_in_an_indicator_is_answered_in_one():
    X, y = points()
    few = {"n_samples": 100, "n_burn_in": 100, "random_state": 0}
    with pytest.warns(ConvergenceWarning):
        model = CorrelatedMNL(TAX, **few).fit(X, TAX.encode(y))
    assert (np.diff(model.predict(X).indptr) == 1).all()


def test_short_chains_are_called_so():
    X, y = points()
    with pytest.warns(ConvergenceWarning, match="effective sample size of as few as .* Raise n_bu"):
        CorrelatedMNL(TAX, n_samples=20, n_burn_in=5, random_state=0).fit(X, y)


def test_progress_is_told_and_an_interrupt_is_heard():
    X, y = points()
    told = []

    def callback(done, total):
        told.append((done, total))
        if done > 200:
            raise KeyboardInterrupt

    for n_jobs in (None, 2):
        model = CorrelatedMNL(TAX, callback=callback, n_jobs=n_jobs, random_state=0)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert told[-1][0] <= 400 and told[-1][1] == 2500
    quick = model.set_params(callback=None, n_samples=300, n_burn_in=200)
    assert np.mean(quick.fit(X, y).predict(X) == y) > 0.5


def test_threads_and_sparse_data_change_nothing():
    X, y = points()
    few = {"n_samples": 300, "n_burn_in": 200, "n_chains": 3, "random_state": 1}
    a = CorrelatedMNL(TAX, **few).fit(X, y)
    b = CorrelatedMNL(TAX, n_jobs=2, **few).fit(sp.csr_array(X), y)
    assert_array_equal(a.coef_, b.coef_)
    assert_allclose(a.predict_proba(X), b.predict_proba(sp.csr_array(X)))


def test_what_it_cannot_do_is_refused():
    X, y = points()
    with pytest.raises(UserError, match="n_samples is 4. It must be a whole number of 8 or more"):
        CorrelatedMNL(TAX, n_samples=4).fit(X, y)
    with pytest.raises(UserError, match="target_acceptance is 1.5. It must be a number between 0"):
        CorrelatedMNL(TAX, target_acceptance=1.5).fit(X, y)
    with pytest.raises(UserError, match="b is 0. It must be a positive number"):
        CorrelatedMNL(TAX, b=0).fit(X, y)
    with pytest.raises(UserError, match="takes one label per sample, but sample 1 has 2"):
        CorrelatedMNL(TAX).fit(X, TAX.encode([[label, "a1"] for label in y]))
    wide = sp.random_array((3000, 60_000), density=1e-4, rng=0, format="csr")
    names = np.resize(np.arange(50), 3000)
    with pytest.raises(UserError, match="would sample 150,000 weights .*small data only; use HBLR"):
        CorrelatedMNL().fit(wide, names)
