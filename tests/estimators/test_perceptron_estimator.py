"""HierarchicalPerceptron and Hieron: goldens, batches, classes that come later, kernels."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Perceptron

from linnaeus import HierarchicalPerceptron, Hieron, Taxonomy, load
from linnaeus.errors import UserError
from linnaeus.estimators import _online_row
from linnaeus.losses import class_attributes, class_loss
from linnaeus.solvers.online.perceptron_weights import as_array
from marks import slow

TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), ("B", "b3")]
)
LEAVES = np.array(TAX.leaves)
METHODS = {
    "averaged": HierarchicalPerceptron,
    "online": partial(HierarchicalPerceptron, variant="online"),
    "Hieron": Hieron,
    "Hieron-online": partial(Hieron, averaged=False, rival="predicted"),
}


class LinearKernel:
    """A kernel object whose values are those of kernel="linear"."""

    def gram(self, A, B=None):
        return np.asarray(A) @ np.asarray(A if B is None else B).T


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def make(request):
    return request.param


def points(n=60, d=6, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 5, size=n)
    X = np.round(3 * rng.normal(size=(5, d))[label] + 2 * rng.normal(size=(n, d)))
    return X, LEAVES[label]


def label_sets(n=60, seed=0):
    X, y = points(n, seed=seed)
    rng = np.random.default_rng(seed + 1)
    more = LEAVES[rng.integers(0, 5, size=n)]
    return X, [sorted({a, b}) for a, b in zip(y, more, strict=True)]


# -- golden values ---------------------------------------------------------------------------------


def rational(rows):
    return np.array([[float(Fraction(a)) for a in row] for row in rows])


def test_golden_perceptrons(golden_file):
    golden = golden_file("ranking")
    for case in golden["perceptron"]:
        tax = Taxonomy.from_edges(golden["taxonomies"][case["taxonomy"]]["edges"])
        X, new = np.array(case["X"], float), np.array(case["X_test"], float)
        make = partial(
            HierarchicalPerceptron, tax, loss=case["loss"], attributes=case["attributes"],
            max_iter=case["max_epochs"], shuffle=False,
        )  # fmt: skip
        for variant in ("online", "averaged", "minover"):
            model = make(variant=variant).fit(X, case["Y"])
            assert_array_equal(model.node_coef_, rational(case[variant]["node_weights"]))
            kernel = make(variant=variant, kernel="precomputed").fit(X @ X.T, case["Y"])
            found = kernel.class_scores(new @ X.T)
            assert_allclose(found, model.class_scores(new), atol=1e-12)
            if variant != "minover":
                expected = rational(case[f"scores_{variant}"])
                assert_allclose(model.class_scores(new), expected, rtol=1e-14, atol=1e-13)
        assert model.converged_ == case["minover"]["converged"]


def test_golden_hieron(golden_file):
    golden = golden_file("ranking")
    for case in golden["hieron"]:
        tax = Taxonomy.from_edges(golden["taxonomies"][case["taxonomy"]]["edges"])
        X, new = np.array(case["X"]), np.array(case["X_test"])
        for averaged, rival, key in (
            (False, "predicted", "online"),
            (True, "hinge", "averaged"),
        ):
            options = {"loss": case["loss"], "attributes": case["attributes"], "shuffle": False}
            model = Hieron(tax, averaged, rival, max_iter=case["epochs"], **options).fit(
                X, case["y"]
            )
            assert_allclose(model.node_coef_, case[key]["node_weights"], atol=1e-6)
            assert_allclose(model.class_scores(new), case[f"scores_{key}"], atol=1e-5)
            assert model.n_updates_ == case[key]["updates"]


# -- what is left behind ---------------------------------------------------------------------------


def test_what_fit_leaves_behind(make):
    X, y = points()
    model = make(TAX, max_iter=7, random_state=0).fit(X, y)
    assert model.node_coef_.shape == (len(TAX), 6) and model.coef_.shape == (5, 6)
    L = class_attributes(TAX, "depth")
    assert_allclose(model.coef_, L @ model.node_coef_)
    assert_allclose(model.class_scores(X), X @ model.coef_.T + model.intercept_, atol=1e-9)
    assert len(model.trace_) == model.n_iter_ <= 7
    assert sum(record["updates"] for record in model.trace_) == model.n_updates_
    assert model.n_steps_ == 60 * model.n_iter_
    assert model.converged_ == (model.trace_[-1]["updates"] == 0)
    assert set(model.trace_[0]) == {"seconds", "updates", "loss"}
    assert not hasattr(model, "dual_coef_") and not hasattr(make(), "coef_")


def test_it_stops_after_a_pass_without_a_mistake(make):
    X, y = np.eye(5), LEAVES
    model = make(TAX, max_iter=50).fit(X, y)
    assert model.converged_ and model.n_iter_ < 50
    assert_array_equal(model.predict(X), y)


def test_an_intercept_is_one_more_feature(make):
    X, y = points()
    inside = make(TAX, fit_intercept=True, intercept_scaling=2.0, shuffle=False).fit(X, y)
    outside = make(TAX, shuffle=False).fit(np.hstack([X, np.full((60, 1), 2.0)]), y)
    assert_array_equal(inside.coef_, outside.coef_[:, :-1])
    assert_allclose(inside.intercept_, 2 * outside.coef_[:, -1])
    assert_allclose(inside.node_intercept_, 2 * outside.node_coef_[:, -1])
    assert_allclose(inside.class_scores(X), X @ inside.coef_.T + inside.intercept_)
    kernel = make(TAX, fit_intercept=True, intercept_scaling=2.0, shuffle=False,
                  kernel="precomputed").fit(X @ X.T, y)  # fmt: skip
    assert_allclose(kernel.class_scores(X @ X.T), inside.class_scores(X), atol=1e-9)
    assert_allclose(X @ X.T @ kernel.dual_coef_ + kernel.intercept_, inside.class_scores(X),
                    atol=1e-9)  # fmt: skip


def test_rows_without_a_label_or_with_all_are_left_out():
    X, sets = label_sets()
    sets[3], sets[10] = [], list(TAX.leaves)
    kept = [i for i in range(60) if i not in (3, 10)]
    for variant in ("averaged", "online", "minover"):
        model = HierarchicalPerceptron(TAX, variant, max_iter=3, shuffle=False)
        a = clone(model).fit(X, sets)
        b = clone(model).fit(X[kept], [sets[i] for i in kept])
        assert_array_equal(a.node_coef_, b.node_coef_)
        assert a.n_steps_ == b.n_steps_


def test_flat_without_a_taxonomy(make):
    X, y = points()
    flat = make(shuffle=False).fit(X, y)
    named = make(TAX, shuffle=False, attributes="flat", loss="zero_one").fit(X, y)
    assert_array_equal(flat.coef_, named.coef_)
    assert_array_equal(flat.classes_, named.classes_)
    indicators = make(TAX, shuffle=False, attributes=np.eye(5), loss=1 - np.eye(5)).fit(X, y)
    assert_array_equal(flat.coef_, indicators.coef_)


def test_two_classes_are_one_row(make):
    X, y = points()
    model = make(shuffle=False).fit(X, y < "b")
    assert model.coef_.shape == (1, 6) and model.decision_function(X).shape == (60,)
    assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_two_classes_are_rosenblatts_perceptron():
    """Steps +x and -x of two classes are a step of 2x of their difference."""
    X, y = points()
    y = np.where(y < "b", -1, 1)
    model = HierarchicalPerceptron(variant="online", max_iter=1, shuffle=False).fit(X, y)
    theirs = Perceptron(max_iter=1, tol=None, shuffle=False, fit_intercept=False).fit(X, y)
    assert_allclose(model.coef_, 2 * theirs.coef_)


def test_deduplicate_lets_minover_end():
    X = np.vstack([np.eye(3), np.eye(3)])
    y = np.array(["a1", "a2", "b1", "b2", "a2", "b1"])
    options = {"variant": "minover", "max_iter": 30, "random_state": 0}
    assert not HierarchicalPerceptron(TAX, **options).fit(X, y).converged_
    model = HierarchicalPerceptron(TAX, deduplicate=True, **options).fit(X, y)
    assert model.converged_ and model.predict(X)[0] in ("a1", "b2")


def test_minover_reaches_a_margin():
    X, y = np.eye(5), LEAVES
    model = HierarchicalPerceptron(TAX, "minover", margin=3.0, max_iter=100).fit(X, y)
    F = model.class_scores(X)
    rest = np.where(np.eye(5, dtype=bool), -np.inf, F).max(axis=1)
    assert model.converged_ and (np.diag(F) - rest > 3).all()


def test_sparsify(make):
    X, y = points()
    model = make(TAX, random_state=0).fit(X, y)
    before = model.class_scores(X)
    model.sparsify()
    assert sp.issparse(model.coef_) and sp.issparse(model.weights_.answer())
    assert_allclose(model.class_scores(X), before, atol=1e-12)
    again = make(TAX, random_state=0).fit(X, y)
    for other in (model, again):
        other.partial_fit(X[:9], y[:9])
    assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-9)


# -- batches ---------------------------------------------------------------------------------------


def cut(n, *where):
    return [slice(a, b) for a, b in zip((0, *where), (*where, n), strict=True)]


@pytest.mark.parametrize("kernel", ["linear", LinearKernel()], ids=["linear", "kernel"])
def test_batches_are_an_epoch(make, kernel):
    X, y = points()
    whole = make(TAX, max_iter=1, shuffle=False, kernel=kernel).fit(X, y)
    parts = make(TAX, kernel=kernel)
    for rows in cut(60, 1, 7, 30):
        parts.partial_fit(X[rows], y[rows])
        parts.predict(X)  # looking on changes nothing
    assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-10)
    assert (parts.n_steps_, parts.n_updates_) == (whole.n_steps_, whole.n_updates_)
    assert list(parts.classes_) == list(whole.classes_)


def told(model):
    """All that partial_fit leaves, but for seconds."""
    trace = [{k: v for k, v in entry.items() if k != "seconds"} for entry in model.trace_]
    counted = model.n_steps_, model.n_updates_, model.n_iter_, model.converged_
    return trace, counted, model.targets_.form.names, model.classes_.dtype, model.targets_.closed


@pytest.mark.parametrize(
    "kind",
    [
        "dense",
        "sparse",
        slow("float32"),
        "intercept",
        "flat",
        "roots",
    ],
)
def test_single_rows_are_batches_of_one(make, kind, monkeypatch):
    """A row by the short way leaves what it leaves by the long one, also for classes that come."""
    X, y = points(60, seed=5)
    order = np.argsort(y == "b3", kind="stable")  # one class comes late
    X, y = X[order], y[order]
    X = sp.csr_array(X) if kind == "sparse" else X.astype(np.float32) if kind == "float32" else X
    roots = Taxonomy.from_paths([[v] for v in LEAVES.tolist()])
    tax = {"flat": None, "roots": roots}.get(kind, TAX)
    options = {"intercept": {"fit_intercept": True}, "float32": {"dtype": "float32"}}.get(kind, {})
    classes = LEAVES if tax is None else None

    def learnt():
        model = make(tax, **options)
        model.partial_fit(X[:40], y[:40], classes=classes)
        for i in range(40, 60):
            model.partial_fit(X[[i]], y[i : i + 1] if i % 2 else y[i : i + 1].tolist())
        return model

    taken, short = [], _online_row.learn
    monkeypatch.setattr(_online_row, "learn", lambda *args: taken.append(1) or short(*args))
    fast = learnt()
    monkeypatch.setattr(_online_row, "read", lambda *args: None)
    slow = learnt()
    assert len(taken) >= 18
    assert told(fast) == told(slow)
    tolerance = 1e-4 if kind == "float32" else 1e-10
    assert_allclose(fast.class_scores(X), slow.class_scores(X), rtol=tolerance, atol=tolerance)
    assert_allclose(fast.weights_.counts, slow.weights_.counts)
    for a, b in zip(fast.weights_.means(False), slow.weights_.means(False), strict=True):
        assert_allclose(as_array(a), as_array(b), rtol=1e-6)


def test_single_rows_are_checked_like_batches(tmp_path):
    X, y = points(60)
    model = HierarchicalPerceptron(TAX).partial_fit(X, y)
    for row, label, words in [
        (np.full((1, 6), np.nan), ["a1"], "X holds NaN"),
        (np.full((1, 6), 1e200), ["a1"], "too large to be squared"),
        (X[:1, :5], ["a1"], "5 features"),
        (X[:1], ["zz"], "'zz'"),
        (X[:1], ["a1", "a2"], "inconsistent numbers"),
        (X[:1], [["a1", "a2"]], "label sets"),
        (X[0], ["a1"], "one dimension"),
    ]:
        with pytest.raises((UserError, ValueError), match=words):
            model.partial_fit(row, label)
    assert model.n_steps_ == 60
    with pytest.raises(UserError, match="max_iter"):
        model.set_params(max_iter=0).partial_fit(X[:1], y[:1])
    model.set_params(max_iter=20).partial_fit(X[:1], y[:1])
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    for m in (model, again):
        m.partial_fit(X[1:2], y[1:2]).partial_fit(X, y).partial_fit(X[2:3], ["r"])
    assert_array_equal(model.class_scores(X), again.class_scores(X))
    assert "r" in model.classes_


def test_exact_batches():
    X, y = points()
    for variant in ("online", "averaged"):
        options = {"variant": variant, "attributes": "ones", "shuffle": False}
        whole = HierarchicalPerceptron(TAX, max_iter=1, **options).fit(X, y)
        parts = HierarchicalPerceptron(TAX, **options)
        for rows in cut(60, 20, 45):
            parts.partial_fit(X[rows], y[rows])
        assert_array_equal(parts.node_coef_, whole.node_coef_)


def test_batches_after_fit_go_on(make):
    X, y = points()
    model = make(TAX, max_iter=2, shuffle=False).fit(X, y)
    before = model.n_steps_
    for rows in cut(60, 30):
        model.partial_fit(X[rows], y[rows])
    twice = make(TAX, max_iter=3, shuffle=False).fit(X, y)
    assert model.n_steps_ == before + 60 == twice.n_steps_
    assert_allclose(model.decision_function(X), twice.decision_function(X), atol=1e-9)


def test_batches_without_a_taxonomy(make):
    X, y = points()
    whole = make(max_iter=1, shuffle=False).fit(X, y)
    parts = make()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        parts.partial_fit(X[:5], y[:5])
    only = np.flatnonzero(y == "a1")[:1]
    parts.partial_fit(X[only], y[only], classes=LEAVES)
    assert list(parts.classes_) == sorted(LEAVES)
    again = make()
    for rows in cut(60, 2, 31):
        again.partial_fit(X[rows], y[rows], classes=LEAVES)
    assert_allclose(again.coef_, whole.coef_, atol=1e-10)
    with pytest.raises(UserError, match="'zebra' is not among the classes"):
        again.partial_fit(X[:1], ["zebra"])
    with pytest.raises(UserError, match=r"classes is .*zebra.*, but was .* on the first call"):
        again.partial_fit(X[:1], ["a1"], classes=["a1", "zebra"])
    with pytest.raises(UserError, match="started without a taxonomy"):
        again.partial_fit(X[:1], ["a1"], taxonomy=TAX)
    assert_allclose(again.coef_, whole.coef_, atol=1e-10)


def test_batches_of_label_sets():
    X, sets = label_sets(300)
    Y = TAX.encode(sets)[:, TAX.leaf_numbers].toarray()
    whole = HierarchicalPerceptron(TAX, max_iter=1, shuffle=False).fit(X, sets)
    parts, plain = HierarchicalPerceptron(TAX), HierarchicalPerceptron()
    for rows in cut(300, 100, 200):
        parts.partial_fit(X[rows], sets[rows])
        plain.partial_fit(X[rows], Y[rows])
    assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-9)
    size = np.mean([len(labels) for labels in parts.predict(X)])
    assert 1.2 < size < 2.5
    assert plain.predict(X).shape == (300, 5)
    with pytest.raises(UserError, match="This batch has one label per sample, but the first one"):
        parts.partial_fit(X[:2], ["a1", "b1"])
    with pytest.raises(UserError, match="4 columns, but the first batch had 5"):
        plain.partial_fit(X[:2], Y[:2, :4])


def test_what_partial_fit_refuses():
    X, y = points()
    with pytest.raises(UserError, match="variant='minover' looks at all examples"):
        HierarchicalPerceptron(TAX, "minover").partial_fit(X, y)
    with pytest.raises(UserError, match="cannot know the kernel between old and new"):
        HierarchicalPerceptron(TAX, kernel="precomputed").partial_fit(X @ X.T, y)
    model = HierarchicalPerceptron(TAX).partial_fit(X, y)
    with pytest.raises(ValueError, match="expecting 6 features"):
        model.partial_fit(X[:, :5], y)
    with pytest.raises(UserError, match="The new taxonomy lacks the node 'r'"):
        model.partial_fit(X, y, taxonomy=Taxonomy.flat(TAX.leaves))
    with pytest.raises(ValueError, match="'zebra' is not a node"):
        model.partial_fit(X[:1], ["zebra"])


# -- classes that come later -----------------------------------------------------------------------

LARGER = Taxonomy.from_edges(
    [("r", "C"), ("C", "c1"), ("C", "c2"), *TAX.edges, ("b2", "b21"), ("b2", "b22"), ("A", "a3")]
)


def test_classes_that_the_taxonomy_has_may_come_later(make):
    X, y = points()
    early = np.isin(y, ["a1", "b1"])
    model = make(TAX).partial_fit(X[early], y[early])
    assert list(model.coef_names_) == list(TAX.leaves)
    model.partial_fit(X[~early], y[~early])
    again = make(TAX, max_iter=1, shuffle=False)
    order = np.argsort(~early, kind="stable")
    again.fit(X[order], y[order])
    assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-9)


def test_inner_nodes_become_classes_when_they_carry_labels(make):
    X, y = points()
    model = make(TAX, attributes="ones").partial_fit(X, y)
    model.partial_fit(X[:1], ["A"])
    assert list(model.coef_names_) == [*TAX.leaves, "A"]
    model.partial_fit(np.zeros((1, 6)), ["a1"])
    assert list(model.coef_names_) == [*TAX.leaves, "A"]  # it stays one
    assert model.class_scores(X).shape == (60, 6)
    told = make(TAX).partial_fit(X, y, classes=["B"])
    assert list(told.coef_names_) == [*TAX.leaves, "B"]


@pytest.mark.parametrize("scheme", ["ones", "depth", "perclass", "flat", None])
@pytest.mark.parametrize("kernel", ["linear", LinearKernel()], ids=["linear", "kernel"])
def test_the_taxonomy_grows_and_old_scores_stay(make, scheme, kernel):
    X, y = points()
    model = make(TAX, attributes=scheme, kernel=kernel).partial_fit(X, y)
    mean, last = model.class_scores(X), last_scores(model, X)
    model.partial_fit(np.zeros((1, 6)), ["c1"], taxonomy=LARGER)  # nothing to learn from
    assert list(model.coef_names_) == [*LARGER.leaves, "b2"]
    column = [list(model.coef_names_).index(name) for name in TAX.leaves]
    assert_allclose(last_scores(model, X)[:, column], last, atol=1e-9)
    assert_allclose(model.class_scores(X)[:, column], mean, atol=1e-9)
    scores = dict(zip(model.coef_names_, model.class_scores(X).T, strict=True))
    if scheme in ("ones", "depth", None):
        assert_allclose(scores["b21"], scores["b2"], atol=1e-9)  # what it is below of
    if scheme == "flat":
        assert_array_equal(scores["a3"], 0)
    model.partial_fit(X, y)
    assert set(model.predict(X)) <= {*LARGER.leaves, "b2"}


def last_scores(model, X):
    """Scores by the last weights, whatever answers."""
    inputs = X if model.kernel == "linear" else model._gram(X)
    return np.asarray(inputs @ model.weights_.last @ model.shared_.attributes.T)


def test_new_classes_are_learnt_after_growth():
    X, y = points(200)
    model = HierarchicalPerceptron(TAX, "online", random_state=0).fit(X, y)
    rng = np.random.default_rng(1)
    centre = 9 * rng.normal(size=(2, 6))
    names = np.array(["b21", "c1"])
    which = rng.integers(0, 2, size=400)
    new = centre[which] + rng.normal(size=(400, 6))
    model.partial_fit(new, names[which], taxonomy=LARGER)
    assert np.mean(model.predict(new) == names[which]) > 0.9
    assert model.taxonomy_ is LARGER and model.taxonomy is TAX


def test_own_attributes_and_losses_must_grow_with_the_taxonomy():
    X, y = points()
    L = class_attributes(TAX, "ones").toarray()
    model = HierarchicalPerceptron(TAX, attributes=L, variant="online").partial_fit(X, y)
    before = model.class_scores(X)
    with pytest.raises(UserError, match="but there are 10 classes"):
        model.partial_fit(X[:1], ["c1"], taxonomy=LARGER)
    assert_array_equal(model.class_scores(X), before)  # as if nothing had been asked
    assert list(model.coef_names_) == list(TAX.leaves)
    leaves = [*LARGER.leaves, "b2"]
    wider = np.zeros((10, 10))
    wider[[leaves.index(v) for v in TAX.leaves], :8] = L
    wider[leaves.index("c1"), 8] = 1
    model.set_params(attributes=wider).partial_fit(np.zeros((1, 6)), ["c1"], taxonomy=LARGER)
    place = [leaves.index(v) for v in TAX.leaves]
    assert_array_equal(model.class_scores(X)[:, place], before)
    narrow = HierarchicalPerceptron(TAX, attributes=L).partial_fit(X, y)
    with pytest.raises(UserError, match="have 2 columns, but had 8 before"):
        narrow.set_params(attributes=wider[:, :2]).partial_fit(X[:1], ["c1"], taxonomy=LARGER)


# -- streams that keep what they know --------------------------------------------------------------


def blobs(names, seed, d=20):
    """A function that draws well-separated rows of these classes."""
    rng = np.random.default_rng(seed)
    centre = dict(zip(names, 3 * rng.normal(size=(len(names), d)), strict=True))

    def draw(wanted, n):
        y = np.array(rng.permutation(np.repeat(wanted, n)))
        return np.array([centre[v] for v in y]) + rng.normal(size=(len(y), d)), y

    return draw


GROWN = {
    "leaf": ([("A", "a3")], ["a3"]),
    "two": ([("A", "a3"), ("B", "b4")], ["a3", "b4"]),
    "subtree": ([("r", "C"), ("C", "c1"), ("C", "c2")], ["c1", "c2"]),
    "below a leaf": ([("b2", "b21"), ("b2", "b22")], ["b21", "b22"]),
    "inner node": ([("A", "a3")], ["A"]),
    "root": ([("z", "z1")], ["z1"]),
}


@pytest.mark.parametrize("mixed", [False, True], ids=["alone", "mixed"])
@pytest.mark.parametrize("grown", GROWN)
def test_a_batch_of_a_new_class_is_enough_and_old_ones_stay(make, grown, mixed):
    edges, new = GROWN[grown]
    draw = blobs([*LEAVES, *new], seed=3)
    X, y = draw(LEAVES, 50)
    old, batch, later = draw(LEAVES, 60), draw(new, 100 // len(new)), draw(new, 100)
    if mixed:
        more = draw(LEAVES, 5)
        batch = tuple(np.concatenate([a, b]) for a, b in zip(batch, more, strict=True))
    model = make(TAX, random_state=0).fit(X, y)
    before = model.score(*old)
    model.partial_fit(*batch, taxonomy=Taxonomy.from_edges([*TAX.edges, *edges]))
    assert model.score(*old) > before - 0.05
    answers = model.predict(later[0])
    assert min(np.mean(answers[later[1] == v] == v) for v in new) > 0.9


def close_directions(seed, k, d=5):
    """Rows of k + 1 classes on the unit sphere, some close to each other for their scatter."""
    rng, centres = np.random.default_rng(seed), []
    while len(centres) <= k:
        one = 5 * (1 + rng.random()) * rng.normal(size=d)
        if all(_unit(one) @ _unit(other) < 0.9 for other in centres):
            centres.append(one)
    return lambda y: _unit(np.array(centres)[y] + rng.normal(size=(len(y), d)))


def _unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


@pytest.mark.parametrize("seed", [0, 1, 28])  # 28: a class was lost when one margin was tried
def test_no_old_class_is_given_up_for_a_new_one_that_is_close(make, seed, k=10):
    """The margin of old classes is out of reach, and new rows are many."""
    draw, late = close_directions(seed, k), str(k)
    old, test = np.repeat(np.arange(k), 40), np.repeat(np.arange(k), 30)
    small = [("r", str(i)) for i in range(k)]
    model = make(Taxonomy.from_edges(small), random_state=0).fit(draw(old), old.astype(str))
    rows = draw(test)
    before = model.score(rows, test.astype(str))
    larger = Taxonomy.from_edges([*small, ("r", late)])
    model.partial_fit(draw(np.full(100, k)), np.full(100, late), taxonomy=larger)
    assert model.score(rows, test.astype(str)) >= before - 0.05
    assert model.score(draw(np.full(100, k)), np.full(100, late)) >= 0.8


def test_a_class_that_was_told_of_may_come_late(make):
    draw = blobs(LEAVES, seed=5)
    early, X, y = LEAVES[:4], *draw(LEAVES[:4], 100)
    model = make()
    for rows in np.array_split(np.arange(400), 4):
        model.partial_fit(X[rows], y[rows], classes=LEAVES)
    old, later = draw(early, 50), draw(LEAVES[4:], 100)
    before = model.score(*old)
    model.partial_fit(*draw(LEAVES[4:], 100))
    assert model.score(*old) > before - 0.05 and model.score(*later) > 0.9


def test_models_that_noted_no_examples_go_on(make):
    draw = blobs([*LEAVES, "a3"], seed=4)
    model = make(TAX, random_state=0).fit(*draw(LEAVES, 50))
    model.weights_.counts = model.weights_.sums = None  # as in files of older versions
    again, old = draw(LEAVES, 10), draw(LEAVES, 50)
    model.partial_fit(*again)
    larger = Taxonomy.from_edges([*TAX.edges, ("A", "a3")])
    model.partial_fit(*draw(["a3"], 50), taxonomy=larger).partial_fit(*draw([*LEAVES, "a3"], 10))
    assert model.score(*old) > 0.8
    assert model.score(*draw(["a3"], 50)) > 0.8


def test_new_classes_are_the_same_with_a_kernel(make):
    draw = blobs([*LEAVES, "a3"], seed=1)
    (X, y), (new, a3), (later, _) = draw(LEAVES, 20), draw(["a3"], 30), draw([*LEAVES, "a3"], 10)
    larger = Taxonomy.from_edges([*TAX.edges, ("A", "a3")])
    scores = []
    for kernel in ("linear", LinearKernel()):
        model = make(TAX, kernel=kernel, max_iter=3, random_state=0).fit(X, y)
        scores.append(model.partial_fit(new, a3, taxonomy=larger).decision_function(later))
    assert_allclose(*scores, atol=1e-6 * np.abs(scores[0]).max())


def test_sizes_of_label_sets_are_carried_over():
    rng = np.random.default_rng(0)
    centre = dict(zip([*LEAVES, "a3"], 3 * rng.normal(size=(6, 20)), strict=True))

    def draw(n, *must):
        sets = [[*must, *rng.choice(LEAVES, rng.integers(1, 4), replace=False)] for _ in range(n)]
        X = [sum(centre[v] for v in labels) for labels in sets]
        return np.array(X) + rng.normal(size=(n, 20)), [sorted(labels) for labels in sets]

    def f1(model, X, sets):
        answers = [set(labels) for labels in model.predict(X)]
        both = sum(len(a & set(b)) for a, b in zip(answers, sets, strict=True))
        return 2 * both / sum(len(a) + len(b) for a, b in zip(answers, sets, strict=True))

    old, (new, sets) = draw(200), draw(100, "a3")
    model = HierarchicalPerceptron(TAX, random_state=0).fit(*draw(400))
    before = f1(model, *old)
    model.partial_fit(new, sets, taxonomy=Taxonomy.from_edges([*TAX.edges, ("A", "a3")]))
    assert f1(model, *old) > before - 0.05
    assert f1(model, *draw(100, "a3")) > 0.8
    size = np.mean([len(labels) for labels in model.predict(old[0])])
    assert abs(size - np.mean([len(labels) for labels in old[1]])) < 0.3


# -- class kernels, rivals -------------------------------------------------------------------------


def test_a_class_kernel_stands_for_attributes(make):
    X, y = points()
    L = class_attributes(TAX, "ones")
    options = {"max_iter": 3, "shuffle": False}
    one = make(TAX, attributes="ones", **options).fit(X, y)
    other = make(TAX, class_kernel=(L @ L.T).toarray(), **options).fit(X, y)
    assert_allclose(other.decision_function(X), one.decision_function(X), atol=1e-8)


def test_a_class_kernel_grows(make):
    draw = blobs([*LEAVES, "a3"], seed=2)
    larger = Taxonomy.from_edges([*TAX.edges, ("A", "a3")])
    K = [class_attributes(t, "ones") for t in (TAX, larger)]
    K = [(L @ L.T).toarray() for L in K]
    X, y = draw(LEAVES, 50)
    model = make(TAX, class_kernel=K[0], random_state=0).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(UserError, match=r"class_kernel has the shape \(5, 5\), but there are 6"):
        model.partial_fit(*draw(["a3"], 1), taxonomy=larger)
    with pytest.raises(UserError, match=r"class_kernel\[0, 0\] is not what it was"):
        model.set_params(class_kernel=K[1] + np.eye(6)).partial_fit(X[:1], ["a3"], taxonomy=larger)
    assert_array_equal(model.decision_function(X), before)
    model.set_params(class_kernel=K[1]).partial_fit(*draw(["a3"], 100), taxonomy=larger)
    column = [list(model.classes_).index(name) for name in TAX.leaves]
    assert_allclose(model.decision_function(X)[:, column], before, atol=1e-9 * np.abs(before).max())
    found = model.shared_.attributes
    assert_allclose((found @ found.T).toarray(), K[1], atol=1e-9)
    assert model.score(*draw(["a3"], 50)) > 0.9


@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.parametrize("rival", ["hinge", "predicted"])
def test_rival_and_mean_are_choices_of_their_own(averaged, rival):
    """Against visits in plain arrays."""
    X, y = points()
    L, D = class_attributes(TAX, "ones").toarray(), class_loss("half_distance", TAX).matrix()
    w, total = np.zeros((L.shape[1], 6)), np.zeros((L.shape[1], 6))
    for x, name in zip(X, y, strict=True):
        label, F = list(LEAVES).index(name), L @ w @ x
        z = int((F if rival == "predicted" else np.sqrt(D[label]) + F - F[label]).argmax())
        h = np.sqrt(D[label, z]) - (F[label] - F[z])
        if z != label and h > 0:
            u = L[label] - L[z]
            w = w + h / (u @ u * (x @ x)) * np.outer(u, x)
        total += w
    model = Hieron(TAX, averaged, rival, attributes="ones", max_iter=1, shuffle=False).fit(X, y)
    assert_allclose(model.node_coef_, total / 60 if averaged else w, atol=1e-10)


def test_unknown_rivals_are_refused():
    X, y = points()
    with pytest.raises(UserError, match="rival='best'"):
        Hieron(TAX, rival="best").fit(X, y)


# -- refusals --------------------------------------------------------------------------------------


def test_odd_parameters_are_refused(make):
    X, y = points()
    with pytest.raises(UserError, match="variant='best' is not known. Use 'averaged', 'online' or"):
        HierarchicalPerceptron(TAX, "best").fit(X, y)
    with pytest.raises(UserError, match="margin is nan"):
        HierarchicalPerceptron(TAX, margin=np.nan).fit(X, y)
    with pytest.raises(UserError, match="loss='far' is not known. Use 'zero_one'"):
        make(TAX, loss="far").fit(X, y)
    with pytest.raises(UserError, match="kernel='rbf' is not known"):
        make(TAX, kernel="rbf").fit(X, y)


def test_hieron_refuses_several_labels():
    X, sets = label_sets()
    row = next(i for i, labels in enumerate(sets) if len(labels) > 1)
    match = f"Hieron takes one label per sample, but sample {row} has 2. Use HierarchicalPerceptron"
    with pytest.raises(UserError, match=match):
        Hieron(TAX).fit(X, sets)
    with pytest.raises(UserError, match=match):
        Hieron(TAX).partial_fit(X, sets)
    X, y = points()
    one = Hieron(TAX, random_state=0).fit(X, TAX.encode(y))
    assert (np.diff(one.predict(X).indptr) == 1).all()
    assert TAX.decode(one.predict(X)) == [
        [v] for v in Hieron(TAX, random_state=0).fit(X, y).predict(X)
    ]


def test_dags_with_converging_nodes(make):
    above = {"A": "r", "B": "r", "D": ["A", "B"], "d": "D", "x": ["D", "B"], "a": "A", "b": "B"}
    tax = Taxonomy.from_parents({"r": None} | above)
    rng = np.random.default_rng(0)
    label = rng.integers(0, 4, size=80)
    X = 4 * rng.normal(size=(4, 5))[label] + rng.normal(size=(80, 5))
    y = np.array(tax.leaves)[label]
    model = make(tax, random_state=0).fit(X, y)
    L = class_attributes(tax, "perclass")
    assert_allclose(model.coef_, L @ model.node_coef_)
    assert np.mean(model.predict(X) == y) > 0.9
