"""Closed label sets from node scores: repair and the best closed set, as decisions."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from linnaeus import Taxonomy
from linnaeus.decisions import Argmax, ClosedArgmax, RCut, SCut, Threshold, TopDownConsistent
from linnaeus.errors import UserError
from linnaeus.inference import closed_argmax, lift

TREE = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("c", "d"), ("c", "e"), ("x", "y"), ("x", "z")])
DAG = Taxonomy.from_edges([*TREE.edges, ("b", "e"), ("x", "e")])


def problem(tax, seed=0, n=80):
    """Features that reveal the labels, closed label sets, and noisy node scores."""
    rng = np.random.default_rng(seed)
    leaves = np.array(tax.leaves)
    lists = [rng.choice(leaves, size=rng.integers(1, 3), replace=False).tolist() for _ in range(n)]
    Y = tax.closure(tax.encode(lists)).toarray()
    X = Y @ rng.normal(size=(len(tax), 12)) + rng.normal(scale=0.5, size=(n, 12))
    return X, lists, Y, 2 * Y - 1 + rng.normal(size=Y.shape)


@pytest.mark.parametrize("tax", [TREE, DAG], ids=["tree", "dag"])
@pytest.mark.parametrize(
    "inner", [None, Threshold(threshold=0.3), RCut(k=3), RCut(), SCut()], ids=str
)
@pytest.mark.parametrize("mode", ["down", "up"])
def test_repaired_decisions_are_closed(tax, inner, mode):
    _, _, Y, scores = problem(tax)
    rule = TopDownConsistent(taxonomy=tax, decision=inner, mode=mode).fit_scores(scores, Y)
    on = rule.decide(scores)
    assert_array_equal(tax.closure(on).toarray(), on.toarray())
    plain = (inner or Threshold()).fit_scores(scores, Y).decide(scores).toarray()
    change = on.toarray().astype(int) - plain
    assert (change <= 0).all() if mode == "down" else (change >= 0).all()


def test_repair_learns_thresholds_on_closed_label_sets():
    _, lists, Y, scores = problem(TREE)
    from_lists = TopDownConsistent(taxonomy=TREE, decision=SCut()).fit_scores(scores, lists)
    from_closed = TopDownConsistent(taxonomy=TREE, decision=SCut()).fit_scores(scores, Y)
    assert_array_equal(from_lists.decision_.thresholds_, from_closed.decision_.thresholds_)
    assert np.isfinite(from_lists.decision_.thresholds_).all()


def test_what_cannot_be_repaired():
    scores = np.zeros((1, len(TREE)))
    for inner in (ClosedArgmax(taxonomy=TREE), "scut"):
        rule = TopDownConsistent(taxonomy=TREE, decision=inner)
        with pytest.raises(UserError, match=r"decision is .* It must be a decision such as RCut"):
            rule.fit_scores(scores, [["a"]]).decide(scores)


@pytest.mark.parametrize("tax", [TREE, DAG], ids=["tree", "dag"])
def test_closed_argmax_decides_by_shifted_scores(tax):
    _, _, _, scores = problem(tax)
    for shift in (0.0, 0.8):
        on = ClosedArgmax(taxonomy=tax, shift=shift).decide(scores)
        assert_array_equal(on.toarray(), closed_argmax(tax, scores - shift)[0].toarray())
    low = scores - 100
    assert ClosedArgmax(taxonomy=tax).decide(low).nnz == 0
    assert (ClosedArgmax(taxonomy=tax, nonempty=True).decide(low).sum(axis=1) > 0).all()


def micro_f1(Z, Y):
    return 2 * (Z.toarray() * Y).sum() / (Z.sum() + Y.sum())


def test_closed_argmax_learns_the_shift():
    _, _, Y, scores = problem(DAG)
    rule = ClosedArgmax(taxonomy=DAG, shift="fit").fit_scores(scores + 3, Y)
    assert 1.5 < rule.shift_ < 4.5
    constant = ClosedArgmax(taxonomy=DAG).decide(scores + 3)
    assert micro_f1(rule.decide(scores + 3), Y) > micro_f1(constant, Y)
    nothing = ClosedArgmax(taxonomy=DAG, shift="fit").fit_scores(scores, np.zeros_like(Y))
    assert nothing.shift_ == 0.0


def test_probabilities():
    _, _, _, scores = problem(DAG)
    p = 1 / (1 + np.exp(-scores))
    half = ClosedArgmax(taxonomy=DAG, transform="half").decide(p)
    assert_array_equal(half.toarray(), closed_argmax(DAG, p - 0.5)[0].toarray())
    logit = ClosedArgmax(taxonomy=DAG, transform="logit").decide(p)
    assert_array_equal(logit.toarray(), closed_argmax(DAG, scores)[0].toarray())
    ends = ClosedArgmax(taxonomy=TREE, transform="logit").decide([[1.0, 0, 1, 0, 1, 0, 0, 0]])
    assert ends.shape == (1, 8)
    with pytest.raises(UserError, match=r"'half' is for probabilities, but the scores reach"):
        ClosedArgmax(taxonomy=DAG, transform="half").decide(scores)
    with pytest.raises(UserError, match=r"transform='third' is not known"):
        ClosedArgmax(taxonomy=DAG, transform="third").decide(scores)
    with pytest.raises(UserError, match=r"shift='guess' is not known"):
        ClosedArgmax(taxonomy=DAG, shift="guess").decide(scores)


@pytest.mark.parametrize("rule", [TopDownConsistent, ClosedArgmax])
def test_leaf_scores_are_lifted_unless_that_is_refused(rule):
    _, _, Y, scores = problem(TREE)
    leaves = scores[:, TREE.leaf_numbers]
    with pytest.raises(UserError, match=r"each of the 8 nodes, but the scores have 5.*lift='max'"):
        rule(taxonomy=TREE, lift=None).decide(leaves)
    with pytest.raises(UserError, match=r"lift='mean' is not known"):
        rule(taxonomy=TREE, lift="mean").decide(leaves)
    on = rule(taxonomy=TREE).decide(leaves)
    assert on.shape == (len(Y), 8)
    expected = TREE.closure(sp.csr_array((scores > 0) & (TREE.n_children == 0)).astype(np.int8))
    if rule is TopDownConsistent:
        assert_array_equal(on.toarray(), expected.toarray())
    with pytest.raises(UserError, match=r"scores have 6 columns, but there are 8 or 5 labels"):
        rule(taxonomy=TREE).decide(scores[:, :6])
    with pytest.raises(UserError, match=r"needs a taxonomy"):
        rule().decide(scores)


@pytest.mark.parametrize("tax", [TREE, DAG], ids=["tree", "dag"])
@pytest.mark.parametrize("form", ["lists", "dense", "sparse"])
@pytest.mark.parametrize(
    "rule", [ClosedArgmax(), ClosedArgmax(shift="fit"), TopDownConsistent(decision=SCut())], ids=str
)
def test_wrapped_models_answer_in_the_form_taught(tax, form, rule):
    X, lists, Y, _ = problem(tax)
    y = {"lists": lists, "dense": Y.astype(bool), "sparse": tax.encode(lists)}[form]
    rule.set_params(estimator=OneVsRestClassifier(LinearSVC(random_state=0)), taxonomy=tax, cv=3)
    answer = rule.fit(X, y).predict(X)
    assert rule.classes_.tolist() == list(tax.nodes)
    if form == "lists":
        found = tax.encode(answer).toarray()
        assert isinstance(answer[0], list)
    else:
        found = answer.toarray() if form == "sparse" else answer
        assert answer.dtype == y.dtype and sp.issparse(answer) == (form == "sparse")
    assert_array_equal(tax.closure(found.astype(np.int8)), found)
    assert 2 * (found * Y).sum() / (found.sum() + Y.sum()) > 0.85


def test_one_label_per_row_gives_the_best_specific_label():
    X, lists, _, _ = problem(TREE)
    y = np.array([names[0] for names in lists])
    rule = ClosedArgmax(LogisticRegression(), taxonomy=TREE, lift="max").fit(X, y)
    answer = rule.predict(X)
    assert answer.shape == y.shape and set(answer) <= set(TREE.leaves)
    assert (answer == y).mean() > 0.5
    leaves = LogisticRegression().fit(X, y).decision_function(X)
    assert_array_equal(rule.decision_function(X), leaves)
    assert_array_equal(rule.class_scores(X), leaves)
    nodes = lift(TREE, leaves, TREE.numbers(sorted(set(y))))
    assert_array_equal(rule.decide(nodes).toarray(), rule.decide(leaves).toarray())


def test_leaf_indicators_are_answered_over_leaves():
    X, lists, _, _ = problem(TREE)
    y = TREE.encode(lists).toarray()[:, TREE.leaf_numbers]
    model = OneVsRestClassifier(LinearSVC(random_state=0))
    rule = TopDownConsistent(model, taxonomy=TREE, lift="max").fit(X, y)
    assert_array_equal(rule.predict(X), (rule.estimator_.decision_function(X) > 0).astype(int))
    with pytest.raises(UserError, match=r"indicator has 6 columns, but the taxonomy has 8 nodes"):
        rule.fit(X, np.zeros((len(X), 6), dtype=int))


def test_probability_models_are_centred_or_warned_about():
    X, _, Y, _ = problem(TREE)
    rule = ClosedArgmax(DecisionTreeClassifier(max_depth=4, random_state=0), taxonomy=TREE)
    rule.fit(X, Y)
    p = rule.decision_function(X)
    assert p.min() >= 0 and p.max() <= 1
    expected = closed_argmax(TREE, p - 0.5)[0].toarray()
    assert_array_equal(rule.predict(X), expected)
    for warned in (TopDownConsistent, Threshold):
        with pytest.warns(UserWarning, match=r"gives probabilities.*Use threshold=0.5"):
            warned(DecisionTreeClassifier(), taxonomy=TREE, threshold=0).fit(X, Y)
        tree = DecisionTreeClassifier(max_depth=4, random_state=0)
        by_half = warned(tree, taxonomy=TREE, threshold=0.5).fit(X, Y).predict(X)
        assert_array_equal(warned(tree, taxonomy=TREE).fit(X, Y).predict(X), by_half)


def test_argmax_among_leaves():
    scores = np.zeros((1, 8))
    scores[0, [0, 3]] = [2.0, 1.0]
    assert Argmax(taxonomy=TREE).decide(scores).indices.tolist() == [0]
    leaf = Argmax(taxonomy=TREE, among="leaves").decide(scores)
    assert leaf.indices.tolist() == [3] and leaf.shape == (1, 8)
    with pytest.raises(UserError, match=r"needs a taxonomy"):
        Argmax(among="leaves").decide(scores)
    with pytest.raises(UserError, match=r"among='roots' is not known"):
        Argmax(taxonomy=TREE, among="roots").decide(scores)


def test_what_must_be_fitted_first():
    with pytest.raises(NotFittedError):
        ClosedArgmax(taxonomy=TREE, shift="fit").decide(np.zeros((1, 8)))
    with pytest.raises(NotFittedError):
        TopDownConsistent(taxonomy=TREE, decision=SCut()).decide(np.zeros((1, 8)))
