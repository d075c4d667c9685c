"""Variational HBLR: solved problems, a plain twin, the bound's slopes, quadrature, sampling."""

import numpy as np
import pytest
import scipy.sparse as sp
from hblr_problems import FIXED, Twin, infer, problem
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import expit, gammaln

from linnaeus.errors import UserError
from linnaeus.execution import Threads
from linnaeus.solvers.bayes import hblr_full, hblr_model
from linnaeus.solvers.bayes import hblr_variational as variational
from linnaeus.solvers.bayes.hblr_bound import tighten
from linnaeus.solvers.bayes.hblr_full import feature_blocks
from linnaeus.solvers.bayes.hblr_model import Gamma, model_of, tree_of
from marks import slow

# --- solved problems -----------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["hb01", "hb03", slow("hb05")])
@pytest.mark.parametrize("schedule", [slow("parity"), "leaves"])
def test_solved_problems(golden_file, case, schedule):
    (c,) = (c for c in golden_file("recursive_and_bayes")["hblr"] if c["id"] == case)
    parent = np.full(len(c["mu"]), -1)
    for p, v in c["edges"]:
        parent[v] = p
    model = model_of(tree_of(parent, c["leaves"]), c["model"])
    a, b = ([c[name][str(o)] for o in model.owners] for name in "ab")
    prior = Gamma(np.array(a), np.array(b))
    Y = np.array([[leaf in labels for leaf in c["leaves"]] for labels in c["Y"]], dtype=float)
    X = np.array(c["X"])
    found = infer(X, Y, model, prior, link=c["link"], schedule=schedule, max_iter=c["sweeps"])
    if schedule == "leaves":
        for sweep, value in c["vlb_trace"].items():
            assert_allclose(found.bounds[int(sweep)], value, rtol=1e-6)
    assert_allclose(found.objective, c["vlb"], rtol=1e-8)
    assert_allclose(found.mu, c["mu"], atol=1e-5)
    assert_allclose(found.variance, c["Psi_diag"], atol=1e-5)
    for o, value in zip(model.owners, found.precisions.mean, strict=True):
        assert_allclose(value, c["E_alpha"][str(o)], rtol=1e-5)
    twin = twin_at(Twin(X, Y, model, prior, c["link"]), found)
    for _ in range(60 if c["link"] == "softmax" else 1):  # xi and beta are not handed over
        twin.examples()
    assert_allclose(twin.likelihood(), c["lik_bound"], rtol=1e-6)


def twin_at(twin, found):
    """The twin where the solver ended; then the best xi and beta."""
    twin.mu[:], twin.tau[:], twin.nu[:] = found.mu, found.precisions.shape, found.precisions.rate
    twin.Psi[:] = found.variance[:, :, None] * np.eye(found.mu.shape[1])
    if found.covariance is not None:
        twin.Psi[twin.leaves] = found.covariance
    twin.examples()
    return twin


# --- the twin ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["M1", "M2", "M3"])
@pytest.mark.parametrize("link", ["softmax", "binary"])
def test_sweeps_are_those_of_the_twin(kind, link):
    X, Y, model, prior = problem(kind, link)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(X))
    found = infer(sp.csr_array(X), Y, model, prior, link=link, sample_weight=weight, max_iter=4)
    twin = Twin(X, Y, model, prior, link, weight)
    bounds = [twin.bound()]
    for _ in range(4):
        twin.sweep()
        bounds.append(twin.bound())
    assert_allclose(found.bounds, bounds, rtol=1e-12)
    assert_allclose(found.mu, twin.mu, atol=1e-10)
    assert_allclose(found.covariance, twin.Psi[twin.leaves], atol=1e-10)
    assert_allclose(found.precisions.rate, twin.nu, rtol=1e-10)
    assert [entry["objective"] for entry in found.trace] == found.bounds[1:]
    assert found.n_iter == 4 and not found.converged


@st.composite
def worlds(draw):
    n_nodes = draw(st.integers(2, 8))
    parent = [-1, *(draw(st.integers(0, v - 1)) for v in range(1, n_nodes))]
    leaves = [v for v in range(n_nodes) if v not in parent]
    link = draw(st.sampled_from(["softmax", "binary"]))
    scale = draw(st.sampled_from([0.0, 1e-3, 1.0, 50.0]))
    X, Y, model, prior = problem(
        draw(st.sampled_from(["M1", "M2", "M3"])), link, draw(st.integers(0, 999)),
        draw(st.integers(1, 6)), draw(st.integers(1, 3)), parent, leaves,
        draw(st.floats(0.2, 5.0)), draw(st.floats(0.01, 9.0)),
    )  # fmt: skip
    return X * scale, Y, model, prior, link


@pytest.mark.slow
@settings(max_examples=25)
@given(worlds())
def test_no_update_lets_the_bound_fall(world):
    X, Y, model, prior, link = world
    twin = Twin(X, Y, model, prior, link)
    before = twin.bound()
    for _ in range(3):
        for name, update in twin.blocks():
            update()
            after = twin.bound()
            assert after >= before - 1e-9 * max(1.0, abs(before)), name
            before = after
    for schedule in ("leaves", "parity"):
        for covariance in ("full", "diagonal"):
            found = infer(X, Y, model, prior, link=link, schedule=schedule,
                          covariance=covariance, max_iter=10)  # fmt: skip
            assert np.isfinite(found.bounds).all() and np.isfinite(found.mu).all()
    assert_allclose(before, infer(X, Y, model, prior, link=link, max_iter=3).objective, rtol=1e-8)


@pytest.mark.parametrize("slip", ["nu", "xi"])
def test_the_printed_updates_let_the_bound_fall(slip):
    X, Y, model, prior = problem("M2")
    twin = Twin(X, Y, model, prior, "softmax", slip=slip)
    falls, bounds = set(), [twin.bound()]
    for _ in range(40):
        for name, update in twin.blocks():
            update()
            bounds.append(twin.bound())
            if bounds[-1] < bounds[-2] - 1e-6:
                falls.add(name.split()[0])
    assert falls == {"owner" if slip == "nu" else "xi"}
    assert bounds[-1] < infer(X, Y, model, prior, max_iter=40).objective - 1


def test_a_fall_of_the_bound_is_an_error(monkeypatch):
    wrong = hblr_model.update_precisions

    def printed(model, prior, mu, variance):
        q = wrong(model, prior, mu, variance)
        return q._replace(rate=2 * q.rate - prior.rate)

    monkeypatch.setattr(hblr_model, "update_precisions", printed)
    X, Y, model, prior = problem("M2")
    with pytest.raises(RuntimeError, match=r"The bound fell by .* in sweep \d+, where it can only"):
        infer(X, Y, model, prior, max_iter=40)
    assert infer(X, Y, model, prior, max_iter=40, check=False).n_iter == 40


# --- the bound -----------------------------------------------------------------------------------


def slopes(twin, values):
    """The bound's derivatives in the entries of an array of the twin, by differences."""
    out = np.empty(values.shape)
    for at in np.ndindex(*values.shape):
        kept, h = values[at], 1e-5 * max(1.0, abs(values[at]))
        ends = []
        for sign in (1, -1):
            values[at] = kept + sign * h
            ends.append(twin.bound())
        values[at] = kept
        out[at] = (ends[0] - ends[1]) / (2 * h)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["M1", "M2", "M3"])
@pytest.mark.parametrize(("link", "sweeps"), [("softmax", 1200), ("binary", 200)])
def test_the_bound_is_level_where_sweeps_end(kind, link, sweeps):
    X, Y, model, prior = problem(kind, link, n=12, d=2)
    twin = Twin(X, Y, model, prior, link)
    found = infer(X, Y, model, prior, link=link, max_iter=sweeps)
    twin = twin_at(twin, found)
    for _ in range(500 if link == "softmax" else 1):
        twin.examples()
    assert_allclose(twin.bound(), found.objective, rtol=1e-9)
    free = [twin.mu, twin.Psi, twin.tau, twin.nu, twin.xi]
    for values in free + [twin.beta] * (link == "softmax"):
        assert_allclose(slopes(twin, values), 0.0, atol=2e-5)


@pytest.mark.parametrize("kind", ["M1", "M2", "M3"])
def test_weights_and_precisions_by_sampling(kind):
    X, Y, model, prior = problem(kind)
    twin = twin_at(Twin(X, Y, model, prior, "softmax"), infer(X, Y, model, prior, max_iter=3))
    rng, n = np.random.default_rng(0), 20000
    alpha = rng.gamma(twin.tau, 1 / twin.nu, size=(n, *twin.tau.shape))
    a, b = prior.shape, prior.rate
    value = (a * np.log(b) - gammaln(a) + (a - 1) * np.log(alpha) - b * alpha).sum(axis=(1, 2))
    value -= (
        twin.tau * np.log(twin.nu) - gammaln(twin.tau) + (twin.tau - 1) * np.log(alpha)
        - twin.nu * alpha
    ).sum(axis=(1, 2))  # fmt: skip
    w = {}
    for v in range(len(twin.mu)):  # log 2 pi is the same on both sides
        L = np.linalg.cholesky(twin.Psi[v])
        e = rng.normal(size=(n, twin.d))
        w[v] = twin.mu[v] + e @ L.T
        value += 0.5 * (e**2).sum(axis=1) + np.log(np.diag(L)).sum()
        if v == twin.root:
            value -= 0.5 * (w[v] ** 2).sum(axis=1)
    for v in set(w) - {twin.root}:
        A = np.broadcast_to(alpha[:, model.owner[v]], (n, twin.d))
        value += 0.5 * (np.log(A) - A * (w[v] - w[twin.parent[v]]) ** 2).sum(axis=1)
    assert abs(value.mean() - twin.divergence()) < 4 * value.std() / np.sqrt(n)


def test_the_bound_lies_below_the_evidence():
    """One class, one weight, the prior N(0, 1 + 1): the integral can be done."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=9), rng.integers(0, 2, 9)
    model = model_of(tree_of([-1, 0], [1]), "M3")
    found = infer(x[:, None], y[:, None], model, Gamma(*np.full((2, 1, 1), FIXED)), link="binary",
                  max_iter=500)  # fmt: skip

    def joint(w):
        return np.exp(-(w**2) / 4) / np.sqrt(4 * np.pi) * expit((2 * y - 1) * w * x).prod()

    evidence = quad(joint, -20, 20)[0]
    mean = quad(lambda w: w * joint(w), -20, 20)[0] / evidence
    assert np.log(evidence) - 0.5 < found.objective < np.log(evidence)
    assert_allclose(found.mu[1, 0], mean, atol=0.1)


def test_fixed_precisions_on_a_star_are_bayesian_logistic_regression():
    """Jaakkola and Jordan's method, for a prior N(mu_root, I) of every class."""
    X, Y, model, _ = problem("M3", "binary", parent=[-1, 0, 0, 0], leaves=[1, 2, 3])
    fixed = np.full((3, 1), FIXED)
    found = infer(X, Y, model, Gamma(fixed, fixed), link="binary", max_iter=300)
    for k in range(3):
        xi, prior = np.ones(len(X)), found.mu[0]
        for _ in range(200):
            L = np.tanh(xi / 2) / (4 * xi)
            S = np.linalg.inv(np.eye(X.shape[1]) + 2 * (X.T * L) @ X)
            m = S @ (prior + X.T @ (Y[:, k] - 0.5))
            xi = np.sqrt(np.einsum("ij,jk,ik->i", X, S + np.outer(m, m), X))
        assert_allclose(found.mu[k + 1], m, atol=1e-5)
        assert_allclose(found.covariance[k], S, atol=1e-5)


# --- variants ------------------------------------------------------------------------------------


def test_integer_weights_are_repetitions():
    X, Y, model, prior = problem()
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    options = {"max_iter": 5}
    for covariance in ("full", "diagonal"):
        once = infer(X, Y, model, prior, sample_weight=weight, covariance=covariance, **options)
        rows = np.repeat(np.arange(len(X)), weight)
        often = infer(X[rows], Y[rows], model, prior, covariance=covariance, **options)
        assert_allclose(once.bounds, often.bounds, rtol=1e-10)
        assert_allclose(once.mu, often.mu, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("link", ["softmax", "binary"])
def test_diagonal_covariances_are_the_best_diagonal_ones(link):
    X, Y, model, prior = problem("M2", link, n=12, d=2)
    sweeps = 1200 if link == "softmax" else 300
    found = infer(sp.csr_array(X), Y, model, prior, link=link, covariance="diagonal",
                  max_iter=sweeps)  # fmt: skip
    twin = twin_at(Twin(X, Y, model, prior, link), found)
    for _ in range(500 if link == "softmax" else 1):
        twin.examples()
    assert_allclose(twin.bound(), found.objective, rtol=1e-8)
    diagonal = np.eye(2, dtype=bool)
    assert_allclose(slopes(twin, twin.Psi)[:, diagonal], 0.0, atol=2e-5)
    for values in (twin.mu, twin.nu, twin.xi):
        assert_allclose(slopes(twin, values), 0.0, atol=2e-5)
    dense = infer(X, Y, model, prior, link=link, covariance="diagonal", max_iter=5)
    assert_allclose(dense.bounds, found.bounds[:6], rtol=1e-9)
    assert infer(X, Y, model, prior, link=link).objective > found.objective


def test_one_feature_has_no_correlations():
    X, Y, model, prior = problem(d=1)
    full, diagonal = (
        infer(X, Y, model, prior, covariance=name, max_iter=50) for name in ("full", "diagonal")
    )
    assert_allclose(full.bounds, diagonal.bounds, rtol=1e-10)
    assert_allclose(full.mu, diagonal.mu, atol=1e-8)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_threads_and_blocks_change_nothing(covariance, monkeypatch):
    star = [-1] + [0] * 40
    X, Y, model, prior = problem(n=1300, d=30, parent=star, leaves=range(1, 41))
    options = {"covariance": covariance, "max_iter": 3}
    one = infer(X, Y, model, prior, **options)
    two = infer(X, Y, model, prior, executor=Threads(2), **options)
    assert one.bounds == two.bounds and (one.mu == two.mu).all()


@pytest.mark.slow
def test_single_precision_comes_first_and_double_last(monkeypatch):
    X, Y, model, prior = problem(link="binary", n=700, d=8)
    options = {"link": "binary", "tol": 1e-11, "max_iter": 500}
    exact = infer(X, Y, model, prior, **options)
    monkeypatch.setattr(hblr_full, "MUCH", 0)
    refine, seen = hblr_full.Full.refine, []
    monkeypatch.setattr(
        hblr_full.Full, "refine", lambda self: (seen.append(self.rough), refine(self))
    )
    found = infer(X, Y, model, prior, **options)
    assert seen[0] and not any(seen[1:])  # was rough, once
    assert found.bounds[1] != exact.bounds[1]
    assert_allclose(found.bounds, exact.bounds[: found.n_iter + 1], rtol=1e-7)
    assert found.converged and exact.converged
    assert_allclose(found.objective, exact.objective, rtol=1e-9)
    assert_allclose(found.mu, exact.mu, atol=1e-4)
    short = infer(X, Y, model, prior, link="binary", max_iter=2)  # the last sweep is exact
    assert_allclose(short.objective, exact.bounds[2], rtol=1e-10)


def test_sweeps_end_when_nothing_moves():
    X, Y, model, prior = problem()
    seen = []
    found = infer(X, Y, model, prior, tol=1e-4, max_iter=1000, progress=seen.append)
    assert found.converged and seen == found.trace and found.n_iter == len(seen) < 1000
    assert found.trace[-1]["change"] <= 1e-4
    exact = infer(X, Y, model, prior, tol=1e-9, max_iter=5000)
    assert np.abs(found.mu - exact.mu).max() < 3e-4  # not the last move, but what is left to go


@pytest.mark.slow
def test_the_common_shift_saves_sweeps_and_changes_nothing_else(monkeypatch):
    X, Y, model, prior = problem(n=40, d=3)
    options = {"tol": 1e-7, "max_iter": 5000}
    quick = infer(X, Y, model, prior, **options)
    monkeypatch.setattr(variational, "PLAIN", 5000)
    plain = infer(X, Y, model, prior, **options)
    assert quick.converged and quick.n_iter < plain.n_iter / 3
    assert quick.bounds[:51] == plain.bounds[:51]
    assert quick.objective >= plain.objective - 1e-9
    assert_allclose(quick.mu, plain.mu, atol=1e-4)
    assert_allclose(quick.mu[model.tree.root], 0.0, atol=1e-12)


# --- hard data -----------------------------------------------------------------------------------


def hard_data(name):
    X, Y, model, prior = problem(n=40, d=4)
    rng = np.random.default_rng(3)
    if name == "separable":
        X = np.hstack([Y * 1e3, X])
    elif name == "an absent class":
        Y[:, 1] += Y[:, 2]
        Y[:, 2] = 0
    elif name == "one example each":
        X, Y = rng.normal(size=(6, 4)), np.eye(6)
    elif name == "zero rows":
        X[::2] = 0
    elif name == "constant and equal features":
        X = np.hstack([X, X, np.ones((40, 2)), np.zeros((40, 1))])
    elif name == "huge":
        X *= 1e6
    elif name == "tiny":
        X *= 1e-9
    return X, Y, model, prior


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("link", ["softmax", "binary"])
@pytest.mark.parametrize(
    "name", ["separable", "an absent class", "one example each", "zero rows",
             "constant and equal features", "huge", "tiny"],
)  # fmt: skip
def test_hard_data_stay_finite(name, link, covariance):
    X, Y, model, prior = hard_data(name)
    for weak in (prior, Gamma(prior.shape, prior.rate * 1e8)):
        found = infer(X, Y, model, weak, link=link, covariance=covariance, check=name != "huge")
        assert np.isfinite(found.bounds).all()
        assert np.isfinite(found.mu).all() and (found.variance > 0).all()


def test_a_matrix_that_is_singular_by_rounding_is_inverted():
    X, Y, model, prior = problem(n=40, d=2)
    X = np.hstack([X * 1e9, X * 1e9])
    found = infer(X, Y, model, Gamma(prior.shape, prior.rate * 1e12), check=False, max_iter=3)
    assert np.isfinite(found.bounds).all() and np.isfinite(found.covariance).all()


def test_the_best_xi_of_nothing_is_safe():
    zero = np.zeros((2, 3))
    found = tighten(zero, zero, np.zeros(2), False)
    assert_allclose(found.curvature, 0.125, rtol=1e-9)
    assert_allclose(found.loss, 3 * np.log(2), rtol=1e-11)
    far = tighten(np.full((1, 2), 1e8), zero[:1, :2], np.zeros(1), False)
    assert_allclose(far.curvature, 0.25e-8) and assert_allclose(far.loss, 2e8)


@pytest.mark.parametrize("d", [1, 2, 15, 40, 300])
def test_blocks_of_features_are_all_pairs_in_order(d):
    pairs = [(j, k) for b in feature_blocks(d) for j in range(b.first, b.last) for k in range(j, d)]
    assert pairs == list(zip(*np.triu_indices(d), strict=True))
    assert feature_blocks(d)[-1].pairs.stop == len(pairs)


# --- refusals ------------------------------------------------------------------------------------


def test_what_makes_no_sense_is_refused():
    X, Y, model, prior = problem()
    for name in ("link", "covariance", "schedule"):
        with pytest.raises(UserError, match=f"{name}='no' is not known. Use '"):
            infer(X, Y, model, prior, **{name: "no"})
    Y[3] = 1
    with pytest.raises(UserError, match="Example 3 has 6 leaves, .* Use link='binary'"):
        infer(X, Y, model, prior)
    wide = sp.csr_array((30, 5001))
    with pytest.raises(UserError, match="There are 5,001 features, .* 5,000 .*diagonal"):
        infer(wide, Y, model, prior, link="binary")
