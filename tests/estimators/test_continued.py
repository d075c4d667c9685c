"""Warm starts and batches: the same optimum as from nothing, in less work; what is held is held."""

import pickle
import warnings
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import linnaeus
from linnaeus import HBLR, FlatLogistic, FlatSVM, RecursiveLogistic, RecursiveSVM, Taxonomy
from linnaeus.errors import UserError
from linnaeus.estimators._recursive import build_structure
from linnaeus.solvers.linear import svm
from linnaeus.solvers.recursive import rr_lr_tree, rr_svm_dual
from marks import slow

EDGES = [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2")]
SMALL = Taxonomy.from_edges(EDGES)
LARGE = Taxonomy.from_edges([*EDGES, ("B", "b3"), ("r", "C"), ("C", "c1"), ("C", "c2")])
CENTRES = dict(zip(LARGE.leaves, np.random.default_rng(9).normal(size=(7, 12)), strict=True))
TIGHT = {"tol": 1e-6, "max_iter": 2000, "random_state": 0}
HINGE = {"C": 0.3, "tol": 1e-5}  # the last digits take most of the time

CERTIFIED = {
    "svm": (FlatSVM, {}),
    "svm, hinge": (FlatSVM, {"loss": "hinge"}),
    "svm, nodes": (FlatSVM, {"classes": "nodes"}),
    "rr-svm": (RecursiveSVM, HINGE),
    "rr-svm, squared": (RecursiveSVM, {"loss": "squared_hinge", "class_weight": "balanced"}),
    "rr-svm, parity": (RecursiveSVM, {"schedule": "parity"}),
    "rr-svm, pinned": (RecursiveSVM, HINGE | {"root": "pinned", "intercept_sharing": "parent"}),
    "rr-lr": (RecursiveLogistic, {}),
    "rr-lr, own": (RecursiveLogistic, {"intercept_sharing": "own"}),
    "rr-lr, jacobi": (RecursiveLogistic, {"schedule": "jacobi", "ground": 0.1}),
}
BAYES = {
    "map": (HBLR, {}),
    "M2": (HBLR, {"model": "M2"}),
    "M1, paper": (HBLR, {"model": "M1", "schedule": "paper", "link": "binary"}),
    "flat": (HBLR, {"inference": "flat"}),
    "full": (HBLR, {"inference": "variational", "link": "binary", "tol": 1e-4}),
    "diagonal": (HBLR, {"inference": "variational", "covariance": "diagonal", "tol": 1e-4}),
}
ALL = CERTIFIED | BAYES
QUICK = {"svm", "svm, nodes", "rr-svm, parity", "rr-lr", "map", "flat"}
SOME = [name if name in QUICK else slow(name) for name in ALL]


def made(name, taxonomy, **parameters):
    kind, own = ALL[name]
    return kind(taxonomy, **{**TIGHT, **own, **parameters})


@cache
def _fitted(name, large):
    return made(name, LARGE).fit(*BOTH) if large else made(name, SMALL).fit(X0, Y0)


def first(name):
    """A model of the first rows, to be changed; it is fitted once."""
    fitted = _fitted(name, large=False)
    model = clone(fitted)  # a copy by `copy` is without its rows, as a saved one is
    vars(model).update({key: deepcopy(value) for key, value in vars(fitted).items()})
    return model


def whole(name):
    """The model of all rows, to be looked at; it is fitted once."""
    return _fitted(name, large=True)


def rows(n, leaves, seed):
    rng = np.random.default_rng(seed)
    y = np.array(leaves)[rng.integers(0, len(leaves), n)]
    return np.array([CENTRES[v] for v in y]) + rng.normal(size=(n, 12)), y


X0, Y0 = rows(60, SMALL.leaves, 1)
X1, Y1 = rows(24, ["b3", "c1", "c2", "a1"], 2)
BOTH = np.vstack([X0, X1]), np.concatenate([Y0, Y1])


def assert_same_optimum(one, other):
    np.testing.assert_allclose(one.objective_, other.objective_, rtol=max(1e-4, one.tol))
    if hasattr(one, "gap_"):
        assert max(one.gap_, other.gap_) <= one.tol
        low = max(one.dual_objective_, other.dual_objective_)
        assert low <= min(one.objective_, other.objective_) * (1 + 1e-12)
    assert list(one.classes_) == list(other.classes_)
    atol = 0.05 * np.abs(other.coef_).max()
    np.testing.assert_allclose(one.coef_, other.coef_, atol=atol)


# -- batches --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOME)
def test_a_batch_with_a_new_class_and_a_new_subtree_leads_to_the_optimum_of_all_rows(name):
    model = first(name)
    model.partial_fit(X1, Y1, taxonomy=LARGE)
    assert_same_optimum(model, whole(name))
    assert name == "svm, nodes" or (model.predict(X1) == Y1).mean() >= 0.8
    assert model.taxonomy_ is LARGE and model.kept_.X.shape == BOTH[0].shape


@pytest.mark.parametrize("name", ["svm", "rr-svm", "rr-lr", "map"])
def test_many_small_batches(name):
    model = made(name, SMALL)
    for part in np.array_split(np.arange(60), 4):
        model.partial_fit(X0[part], Y0[part])
    assert_same_optimum(model, first(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["svm", "svm, hinge", "rr-svm", "rr-svm, parity", "rr-lr", "map"])
def test_weights_of_examples_are_kept_with_them(name):
    weight = np.random.default_rng(3).integers(0, 3, 84).astype(float)
    model = made(name, LARGE).fit(X0, Y0, sample_weight=weight[:60])
    model.partial_fit(X1, Y1, sample_weight=weight[60:])
    assert_same_optimum(model, made(name, LARGE).fit(*BOTH, sample_weight=weight))
    model = made(name, LARGE).fit(X0, Y0).partial_fit(X1, Y1, sample_weight=weight[60:])
    weight[:60] = 1.0
    assert_same_optimum(model, made(name, LARGE).fit(*BOTH, sample_weight=weight))


@pytest.mark.parametrize("name", ["svm", "svm, nodes", "rr-svm", "rr-lr"])
def test_label_sets_and_a_class_that_becomes_an_inner_node(name):
    sets = [[y] if i % 3 else [y, "b2"] for i, y in enumerate(Y0)]
    deeper = Taxonomy.from_edges([*LARGE.edges, ("b2", "b21"), ("b2", "b22")])
    later = [[y, "b21"] for y in Y1]
    model = made(name, SMALL).fit(X0, sets).partial_fit(X1, later, taxonomy=deeper)
    assert_same_optimum(model, made(name, deeper).fit(BOTH[0], sets + later))


def test_a_graph_of_related_labels_has_the_classes_that_have_come():
    tax = Taxonomy.from_edges([], related=[("a1", "a2"), ("a2", "b1"), ("b1", "b3")])
    keep = np.isin(Y0, ["a1", "a2"])
    model = RecursiveSVM(tax, ground=0.5, **TIGHT).fit(X0[keep], Y0[keep])
    assert sorted(model.classes_) == ["a1", "a2"]
    more = np.isin(Y0, ["b1"])
    model.partial_fit(X0[more], Y0[more])
    all_ = np.concatenate([np.flatnonzero(keep), np.flatnonzero(more)])
    assert_same_optimum(model, RecursiveSVM(tax, ground=0.5, **TIGHT).fit(X0[all_], Y0[all_]))


@pytest.mark.parametrize("Flat", [FlatSVM, FlatLogistic])
def test_flat_machines_leave_out_what_no_row_of_a_graph_carries(Flat):
    tax = Taxonomy.from_edges([], related=[("a1", "x"), ("x", "a2"), ("x", "b1"), ("b1", "y")])
    keep = np.isin(Y0, ["a1", "a2", "b1"])
    rows, sets = X0[keep], [[y] for y in Y0[keep]]
    model = Flat(tax, empty="none", random_state=0).fit(rows, sets)
    assert model.coef_names_.tolist() == ["a1", "a2", "b1"] and model.coef_.shape[0] == 3
    assert model.classes_.tolist() == ["a1", "x", "a2", "b1", "y"]
    flat = Taxonomy.flat(["a1", "a2", "b1"])
    plain = Flat(flat, empty="none", random_state=0).fit(rows, sets)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-12)
    assert model.predict(rows) == plain.predict(rows)
    assert Flat(tax, classes="nodes").fit(rows, sets).coef_.shape[0] == 5
    empty = Flat(tax, empty="none").fit(rows, [[] for _ in sets])
    assert empty.predict(rows[:2]) == [[], []]


def test_without_a_taxonomy_two_batches_are_the_machine_of_all_rows():
    y = (Y0 == "a1").astype(int)
    model = FlatSVM(loss="hinge", fit_intercept=False, tol=1e-8, max_iter=2000)
    with pytest.raises(UserError, match="classes must be passed on the first call"):
        model.partial_fit(X0[:30], y[:30])
    model.partial_fit(X0[:30], y[:30], classes=[0, 1]).partial_fit(X0[30:], y[30:])
    theirs = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-10, max_iter=10**6).fit(X0, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-3)
    with pytest.raises(UserError, match="2 is not among the classes"):
        model.partial_fit(X0[:2], [0, 2])


@pytest.mark.parametrize("name", ["svm", "rr-svm", "rr-lr", "map"])
def test_a_batch_that_fails_leaves_the_model_as_it_was(name):
    model = first(name)
    before, scores = dict(vars(model)), model.decision_function(X1)
    with pytest.raises(UserError, match="'c9'"):
        model.partial_fit(X1, np.full(24, "c9"), taxonomy=LARGE)
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X1[:, :3], Y1, taxonomy=LARGE)
    with pytest.raises(UserError, match="lacks the node 'A'"):
        model.partial_fit(X1, Y1, taxonomy=Taxonomy.from_edges([("r", "b3")]))
    with pytest.raises(UserError, match=" is -1"):
        model.set_params(**({"tol": -1} if name == "map" else {"C": -1})).partial_fit(X0, Y0)
    assert all(vars(model)[k] is v for k, v in before.items() if k not in ("C", "tol"))
    np.testing.assert_array_equal(model.decision_function(X1), scores)


def test_rows_that_were_changed_or_not_saved_are_refused(tmp_path):
    X = sp.csr_array(X0)
    model = RecursiveSVM(SMALL).fit(X, Y0)
    X.data[0] += 1.0
    with pytest.raises(UserError, match="has been changed since"):
        model.partial_fit(X0, Y0)
    model = RecursiveSVM(SMALL).fit(X0, Y0)
    model.save(tmp_path / "plain")
    for again in (linnaeus.load(tmp_path / "plain"), pickle.loads(pickle.dumps(model))):
        with pytest.raises(UserError, match="warm_start=True, which saves them"):
            again.partial_fit(X1, Y1, taxonomy=LARGE)


@pytest.mark.parametrize("name", ["svm", slow("rr-svm"), "rr-lr", "map"])
def test_a_saved_model_goes_on(name, tmp_path):
    model = made(name, SMALL, warm_start=True).fit(X0, Y0)
    model.save(tmp_path / "one")
    loaded = linnaeus.load(tmp_path / "one").partial_fit(X1, Y1, taxonomy=LARGE)
    loaded.save(tmp_path / "two")
    copied = pickle.loads(pickle.dumps(model)).partial_fit(X1, Y1, taxonomy=LARGE)
    model.partial_fit(X1, Y1, taxonomy=LARGE)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    np.testing.assert_array_equal(copied.coef_, model.coef_)
    again = linnaeus.load(tmp_path / "two")
    more = rows(3, ["b3", "c1", "a1"], 7)
    assert_same_optimum(again.partial_fit(*more), model.partial_fit(*more))


@pytest.mark.parametrize("name", ["svm", "rr-svm", "rr-lr", "map"])
@pytest.mark.parametrize("dtype", [slow(np.float32), np.float64])
def test_the_same_seed_and_any_number_of_threads_give_the_same_bits(name, dtype):
    found = [
        made(name, SMALL, dtype=dtype, n_jobs=n_jobs, tol=1e-3)
        .fit(X0, Y0)
        .partial_fit(X1, Y1, taxonomy=LARGE)
        .coef_
        for n_jobs in (None, None, 2)
    ]
    assert found[0].dtype == dtype
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


# -- some classes only ----------------------------------------------------------------------


def nodes_of(model, tax):
    """The weights of all nodes by name, intercepts last."""
    if isinstance(model, HBLR) and model.inference != "flat":
        wide = np.column_stack([model.mu_, model.posterior_.mu[: len(tax), -1]])
        return dict(zip(tax.nodes, wide, strict=True))
    out = dict(
        zip(model.coef_names_, np.column_stack([model.coef_, model.intercept_]), strict=True)
    )
    if hasattr(model, "inner_coef_"):
        inner = np.column_stack([model.inner_coef_, model.inner_intercept_])
        out |= dict(zip(model.inner_nodes_, inner, strict=True))
    return out


ONLY = [*CERTIFIED, "map", "M2", "flat"]


ONE_KIND_EACH = {"svm", "rr-svm", "rr-lr", "map"}


@pytest.mark.parametrize(
    ("name", "only"),
    [(name, "new") for name in ONLY]
    + [(name, ["a1"]) if name in ONE_KIND_EACH else slow(name, ["a1"]) for name in ONLY],
)
def test_others_are_held_to_the_last_bit_and_the_certificate_is_for_the_whole(name, only):
    model = first(name)
    before, trained = nodes_of(model, SMALL), set() if only == "new" else set(only)
    with pytest.warns(ConvergenceWarning, match="without only"):
        model.partial_fit(X1, Y1, taxonomy=LARGE, only=only)
    after, cold = nodes_of(model, LARGE), whole(name)
    for node, w in before.items():
        assert np.array_equal(after[node], w) == (node not in trained), node
    assert set(model.held_) == set(model.coef_names_) & before.keys() - trained
    if isinstance(model, HBLR):  # the log posterior: precisions are others than those of all rows
        assert 0 < model.trace_[-1]["gap"] <= -model.objective_
    else:
        assert model.dual_objective_ <= cold.objective_ * (1 + 1e-9)
        assert model.objective_ >= cold.dual_objective_ * (1 - 1e-9)
        assert model.tol < model.gap_ < 1
        assert model.gap_ == pytest.approx(1 - model.dual_objective_ / model.objective_)


@pytest.mark.parametrize(
    "name", ["rr-svm", "rr-svm, squared", "rr-svm, pinned", "rr-lr", "rr-lr, own"]
)
def test_classes_trained_alone_are_the_best_beside_the_others(name):
    """By brute force: the objective is what the formula says, and no step along it lowers it."""
    model = first(name)
    with pytest.warns(ConvergenceWarning):
        model.partial_fit(X1, Y1, taxonomy=LARGE, only="new")
    base, W_T, W_I = objective(model)
    assert base == pytest.approx(model.objective_, rel=1e-9)
    rng = np.random.default_rng(0)
    free_T = [j for j, v in enumerate(model.coef_names_) if v not in model.held_]
    free_I = [model.inner_nodes_.index("C")]
    for size in (1e-2, -1e-2, 1e-3, -1e-3):
        for _ in range(20):
            Z_T, Z_I = np.zeros_like(W_T), np.zeros_like(W_I)
            Z_T[free_T] = rng.normal(size=(3, 13)) * size
            Z_I[free_I] = rng.normal(size=(1, 13)) * size
            if model.intercept_sharing == "own":
                Z_I[:, -1] = 0.0
            assert objective(model, W_T + Z_T, W_I + Z_I)[0] >= base * (1 - 1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again = model.partial_fit(X1[:1], Y1[:1], sample_weight=[1e-9], only="new")
    assert again.held_ == list(again.coef_names_)  # there is none
    assert again.objective_ == pytest.approx(base, rel=1e-6)


def objective(model, W_T=None, W_I=None):
    """The whole problem in dense algebra, with its weights."""
    X, Y = np.column_stack([model.kept_.X.toarray(), np.ones(84)]), model.kept_.Y.toarray()
    if W_T is None:
        W_T = np.column_stack([model.coef_, model.intercept_])
        W_I = np.column_stack([model.inner_coef_, model.inner_intercept_])
    structure, _ = build_structure(model.targets_, len(W_T), model.root, None, None, "two-block")
    L = sp.block_array(
        [[structure.L_II, structure.L_IT], [structure.L_IT.T, sp.diags_array(structure.S)]]
    ).toarray()
    W = np.vstack([W_I, W_T])
    z = np.where(Y > 0, 1, -1) * (X @ W_T.T)
    if isinstance(model, RecursiveLogistic):
        loss = np.logaddexp(0, -z)
    else:
        loss = np.maximum(0, 1 - z) ** (2 if model.loss == "squared_hinge" else 1)
    if model.class_weight == "balanced":
        loss = loss * np.where(Y > 0, len(Y) / (Y.shape[1] * Y.sum(axis=0)), 1.0)
    return model.C * loss.sum() + 0.5 * np.sum(W * (L @ W)), W_T, W_I


def test_weights_may_be_sparse():
    model = FlatSVM(SMALL, prune=0.05, **TIGHT).fit(X0, Y0)
    before = dict(zip(model.coef_names_, model.coef_.toarray(), strict=True))
    with pytest.warns(ConvergenceWarning):
        model.partial_fit(X1, Y1, taxonomy=LARGE, only="new")
    after = dict(zip(model.coef_names_, model.coef_.toarray(), strict=True))
    assert sp.issparse(model.coef_) and all(np.array_equal(after[k], w) for k, w in before.items())


@pytest.mark.parametrize("name", ["rr-svm", "rr-lr"])
def test_then_all_classes_make_it_the_optimum(name):
    model = first(name)
    with pytest.warns(ConvergenceWarning):
        model.partial_fit(X1[:16], Y1[:16], taxonomy=LARGE, only="new")
        model.partial_fit(X1[16:22], Y1[16:22], only=["c1"])
    model.partial_fit(X1[22:], Y1[22:])
    assert_same_optimum(model, whole(name))
    assert not hasattr(model, "held_")


def test_what_only_cannot_be():
    with pytest.raises(UserError, match="it is first"):
        FlatSVM(SMALL).partial_fit(X0, Y0, only="new")
    with pytest.raises(UserError, match="'zz', which is not a class"):
        FlatSVM(SMALL).fit(X0, Y0).partial_fit(X0, Y0, only=["zz"])
    with pytest.raises(UserError, match="two exclusive classes"):
        FlatSVM().fit(X0, Y0 == "a1").partial_fit(X0, Y0 == "a1", only="new")
    with pytest.raises(UserError, match="inference='variational'"):
        made("full", SMALL).fit(X0, Y0).partial_fit(X1, Y1, taxonomy=LARGE, only="new")


# -- warm starts ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOME)
def test_a_warm_start_reaches_the_same_optimum_whatever_has_changed(name):
    model = made(name, LARGE, warm_start=True).fit(X0, Y0)
    other, now = np.where(np.arange(84) % 7 == 0, "a2", BOTH[1]), {}
    for X, y, tax, more in [
        (*BOTH, LARGE, {}),
        (BOTH[0], other, LARGE, {} if name in BAYES else {"C": 0.2}),
        (X0[:30], Y0[:30], SMALL, {}),
        (X0[:30, :8], Y0[:30], SMALL, {}),
        (X0, Y0, SMALL, {"fit_intercept": False}),
    ]:
        now |= more
        model.set_params(taxonomy=tax, **more).fit(X, y)
        assert_same_optimum(model, made(name, tax, **now).fit(X, y))


class Work:
    """Visits of examples and passes over the data, whichever solver makes them."""

    def __init__(self, monkeypatch):
        self.n = 0
        for owner, name, size in [
            (svm.SvmRun, "epoch", lambda run, order: order.size * run.alpha.shape[1]),
            (svm.SvmRun, "descend", lambda run, *_: run.needed.sum()),
            (svm.SvmRun, "sweep", lambda run: run.alpha.size),
            (rr_svm_dual._JointState, "_count", lambda _, n_visits: n_visits),
            (rr_lr_tree.TreeNewton, "evaluate", lambda *_: 1),
            (rr_lr_tree.TreeNewton, "product", lambda *_: 1),
            (rr_lr_tree.TreeAscent, "sweep", lambda *_: 1),
            (rr_lr_tree.TreeAscent, "look", lambda *_: 1),
        ]:
            self._count(monkeypatch, owner, name, size)

    def _count(self, monkeypatch, owner, name, size):
        plain = getattr(owner, name)

        def counted(*given):
            self.n += int(size(*given))
            return plain(*given)

        monkeypatch.setattr(owner, name, counted)

    def of(self, function):
        self.n, before = 0, self.n
        function()
        self.n, found = before, self.n
        return found


WORKING = ["svm", "svm, hinge", "rr-svm", "rr-svm, parity", "rr-lr", "map", "M2"]


def texts(n, seed):
    """Sparse rows of many features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 7, n)
    words = np.where(rng.random((n, 9)) < 0.3, y[:, None] * 20, 140) + rng.integers(0, 20, (n, 9))
    X = sp.csr_array((np.ones(n * 9), (np.repeat(np.arange(n), 9), words.ravel())), (n, 160))
    return X, np.array(LARGE.leaves)[y]


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKING)
def test_less_work_than_from_nothing(name, monkeypatch):
    work, (X, y), default = Work(monkeypatch), texts(1500, 0), {"tol": 1e-3, "max_iter": 100}
    warm = made(name, LARGE, warm_start=True, **default).fit(X[:1490], y[:1490])
    cold = made(name, LARGE, **default)
    first = work.of(lambda: cold.fit(X, y))
    assert 0 < work.of(lambda: warm.fit(X, y)) < first
    assert work.of(lambda: warm.fit(X, y)) < 0.6 * first
    batch = made(name, LARGE, **default).fit(X[:1490], y[:1490])
    assert work.of(lambda: batch.partial_fit(X[1490:], y[1490:])) < first
    if name in CERTIFIED:
        C = 1.3 * warm.C
        cold = made(name, LARGE, **default | {"C": C})
        assert work.of(lambda: warm.set_params(C=C).fit(X, y)) < work.of(lambda: cold.fit(X, y))


@pytest.mark.parametrize("name", ["svm, hinge", "rr-svm", "rr-svm, parity", "rr-lr, jacobi", "map"])
def test_a_fit_that_ran_out_of_rounds_goes_on(name):
    model = made(name, LARGE, warm_start=True, tol=3e-3, max_iter=3)
    for _ in range(60):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(*BOTH)
        if not said:
            break
    assert not said
    assert_same_optimum(model, made(name, LARGE, tol=3e-3).fit(*BOTH))
