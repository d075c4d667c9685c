"""OrthogonalTransfer: the way down, the parameters, real data."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from linnaeus import MulticlassSVM, OrthogonalTransfer, Taxonomy
from linnaeus.errors import UserError
from linnaeus.estimators.ot import path_margins
from linnaeus.inference import paths
from linnaeus.io import read_collection
from linnaeus.solvers.recursive import ot_rda_fast

TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), ("B", "b3")]
)


def points(taxonomy=TAX, n=60, d=6, seed=0):
    rng = np.random.default_rng(seed)
    k = len(taxonomy.leaves)
    label = np.resize(np.arange(k), n)
    X = rng.normal(size=(k, d))[label] + rng.normal(size=(n, d))
    return X, np.array(taxonomy.leaves)[label]


def by_hand(model, taxonomy, x):
    """Follow the best child from the roots to a leaf."""
    score = dict(zip(model.nodes_, model.coef_ @ x + model.intercept_, strict=True))
    choice = list(taxonomy.roots)
    while choice:
        node = max(choice, key=lambda v: score[v])
        choice = list(taxonomy.children(node))
    return node


@pytest.mark.parametrize("edges", [
    TAX.edges,
    [("p", "q"), ("q", "a"), ("q", "b"), ("b", "c"), ("b", "d"), ("s", "t")],  # only children
])  # fmt: skip
def test_predictions_follow_the_best_child(edges):
    tax = Taxonomy.from_edges(edges)
    X, y = points(tax)
    model = OrthogonalTransfer(tax, C=10.0).fit(X, y)
    assert list(model.predict(X)) == [by_hand(model, tax, x) for x in X]
    decision = model.decision_function(X)
    assert ((decision > 0).sum(axis=1) == 1).all()  # only the class that is reached
    assert (model.classes_[decision.argmax(axis=1)] == model.predict(X)).all()
    assert (model.top_k(X, 2)[0][:, 0] == decision.argmax(axis=1)).all()


def test_margins_along_paths():
    fam = paths.families(TAX)
    scores = np.array([[9.0, 2.0, 1.0, 0.0, 5.0, 3.0, 3.0, 1.0]])
    nodes = ["r", "A", "B", "a1", "a2", "b1", "b2", "b3"]
    order = [nodes.index(v) for v in TAX.nodes]
    margin = dict(zip(TAX.nodes, path_margins(fam, scores[:, order])[0], strict=True))
    assert margin == {
        "r": 0.0, "A": 1.0, "B": -1.0, "a1": -5.0, "a2": 1.0, "b1": -1.0, "b2": -1.0, "b3": -2.0,
    }  # fmt: skip


def test_nodes_without_siblings_have_no_weights():
    X, y = points()
    model = OrthogonalTransfer(TAX).fit(X, y)
    root = list(model.nodes_).index("r")
    assert not model.coef_[root].any() and model.intercept_[root] == 0
    assert model.coef_.shape == (8, 6)


def test_without_a_taxonomy_it_is_the_machine_of_crammer_and_singer():
    X, y = points()
    tight = {"tol": 1e-7, "max_iter": 5000, "random_state": 0}
    ours = OrthogonalTransfer(C=60.0, **tight).fit(X, y)
    theirs = MulticlassSVM(C=1.0, **tight).fit(X, y)
    assert_allclose(ours.objective_, theirs.objective_, rtol=1e-6)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    two = np.where(y < "b", "a", "b")
    ours = OrthogonalTransfer(C=60.0, **tight).fit(X, two)
    theirs = MulticlassSVM(C=1.0, **tight).fit(X, two)
    assert ours.decision_function(X).shape == (60,)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)


def test_the_diagonal_may_be_given():
    X, y = points()
    one = OrthogonalTransfer(TAX, diagonal=3.0, offdiagonal=0.5, random_state=0).fit(X, y)
    named = OrthogonalTransfer(
        TAX, diagonal=dict.fromkeys(TAX.nodes, 3.0), offdiagonal=0.5, random_state=0
    ).fit(X, y)
    assert one.objective_ == named.objective_
    with pytest.raises(UserError, match="diagonal has None for the node 'A'. Give a positive"):
        OrthogonalTransfer(TAX, diagonal={"B": 1.0}).fit(X, y)
    with pytest.raises(UserError, match="not convex: with offdiagonal=1.0 and a diagonal of 1 at"):
        OrthogonalTransfer(TAX, diagonal=1.0).fit(X, y)
    with pytest.raises(UserError, match="offdiagonal is -1. It must be a number of 0 or more"):
        OrthogonalTransfer(TAX, offdiagonal=-1).fit(X, y)
    with pytest.raises(UserError, match="diagonal is 0. It must be a positive number"):
        OrthogonalTransfer(TAX, diagonal=0).fit(X, y)


@pytest.mark.slow
def test_both_optimizers_find_the_same_machine():
    X, y = points()
    options = {"C": 10.0, "max_iter": 3000, "random_state": 0}
    dual = OrthogonalTransfer(TAX, tol=1e-7, **options).fit(X, y)
    rda = OrthogonalTransfer(TAX, optimizer="rda", tol=1e-2, **options).fit(X, y)
    assert rda.gap_ <= 1e-2 and rda.trace_[-1]["gap"] == rda.gap_ and rda.n_iter_ < 3000
    assert rda.dual_objective_ <= dual.objective_ <= rda.objective_ + 1e-7
    assert_allclose(rda.objective_, dual.objective_, rtol=1e-2)
    assert np.mean(rda.predict(X) == dual.predict(X)) > 0.9
    sparse = OrthogonalTransfer(TAX, optimizer="rda", tol=1e-2, **options).fit(sp.csr_array(X), y)
    assert (sparse.coef_ == rda.coef_).all()


@pytest.mark.slow
def test_dual_averaging_in_single_precision():
    X, y = points()
    options = {"C": 10.0, "max_iter": 3000, "random_state": 0, "optimizer": "rda", "tol": 1e-2}
    small = OrthogonalTransfer(TAX, dtype="float32", **options).fit(X, y)
    assert small.coef_.dtype == np.float32
    usual = OrthogonalTransfer(TAX, **options).fit(X, y)
    assert_allclose(small.objective_, usual.objective_, rtol=1e-2)


def test_the_optimizer_is_one_of_two():
    X, y = points()
    with pytest.raises(UserError, match="optimizer='sgd' is not known. Use 'dual' or 'rda'"):
        OrthogonalTransfer(TAX, optimizer="sgd").fit(X, y)
    with pytest.raises(UserError, match="max_iter is 0. It must be a positive whole number"):
        OrthogonalTransfer(TAX, optimizer="rda", max_iter=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="OrthogonalTransfer stopped at a relative duality"):
        model = OrthogonalTransfer(TAX, optimizer="rda", max_iter=1, tol=1e-8).fit(X, y)
    assert model.n_iter_ == 1 and model.objective_ <= 1.0 + 1e-12  # that of weights of 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interrupted_fit_leaves_nothing_behind(monkeypatch):
    X, y = points()
    model = OrthogonalTransfer(TAX, optimizer="rda", max_iter=5, random_state=0)
    whole, passes = ot_rda_fast.sweep, []

    def interrupted(*arguments):
        passes.append(1)
        if len(passes) == 3:
            raise KeyboardInterrupt
        return whole(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(ot_rda_fast, "sweep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert not hasattr(model, "coef_")
    fresh = OrthogonalTransfer(TAX, optimizer="rda", max_iter=5, random_state=0).fit(X, y)
    assert (model.fit(X, y).coef_ == fresh.coef_).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dual_averaging_is_an_estimator():
    loose = "two runs that end at a gap differ; the laws of weights are those of the problem"
    check_estimator(
        OrthogonalTransfer(optimizer="rda", tol=1e-2),
        expected_failed_checks={
            "check_sample_weight_equivalence_on_dense_data": loose,
            "check_sample_weight_equivalence_on_sparse_data": loose,
        },
    )


def test_inner_nodes_with_labels_are_classes():
    X, y = points()
    y = np.where(y == "b3", "B", y)
    model = OrthogonalTransfer(TAX, C=100.0).fit(X, y)
    assert "B" in model.classes_ and "b3" in model.coef_names_
    assert np.mean(model.predict(X) == y) > 0.6 and "B" in model.predict(X)


def test_one_label_in_an_indicator_is_answered_in_one():
    X, y = points()
    Y = TAX.encode(y)
    model = OrthogonalTransfer(TAX, C=10.0, random_state=0).fit(X, Y)
    predicted = model.predict(X)
    assert sp.issparse(predicted) and (np.diff(predicted.indptr) == 1).all()
    plain = OrthogonalTransfer(TAX, C=10.0, random_state=0).fit(X, y).predict(X)
    assert [names[0] for names in TAX.decode(predicted)] == list(plain)


def test_what_it_cannot_do_is_refused():
    X, y = points()
    Y = TAX.encode([[label, "a1"] for label in y])
    with pytest.raises(UserError, match="takes one label per sample, but sample 1 has 2"):
        OrthogonalTransfer(TAX).fit(X, Y)
    dag = Taxonomy.from_edges([*TAX.edges, ("A", "b1")])
    with pytest.raises(UserError, match="needs a tree, but node 'b1' has 2 parents"):
        OrthogonalTransfer(dag).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="OrthogonalTransfer stopped at a relative duality"):
        OrthogonalTransfer(TAX, C=1e4, max_iter=1, tol=1e-8).fit(X, y)


@pytest.mark.parametrize(("optimizer", "tol", "least"), [("dual", 1e-2, 0.72), ("rda", 5e-2, 0.71)])
def test_images_as_in_the_paper(shared, optimizer, tol, least):
    """73.84 % of the images of CLEF are right in [GopalYang2015]."""
    found = read_collection(shared("data", "ImCLEF07A"))
    tax = found.taxonomy
    y, truth = (
        np.array([names[0] for names in tax.decode(tax.most_specific(tax.encode(part.labels)))])
        for part in (found.train, found.test)
    )
    X, Z = (np.asarray(sp.csr_array(part.X).toarray()) for part in (found.train, found.test))
    mean, spread = X.mean(axis=0), X.std(axis=0) + 1e-9
    model = OrthogonalTransfer(tax, C=100.0, optimizer=optimizer, tol=tol, random_state=0)
    model.fit((X - mean) / spread, y)
    assert np.mean(model.predict((Z - mean) / spread) == truth) > least
