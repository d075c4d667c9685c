"""Explanations of bare estimators, pipelines and decisions: parts that add up to the score."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.feature_extraction.text import TfidfVectorizer as PlainTfidf
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import linnaeus
from linnaeus import FlatSVM, RecursiveSVM, Taxonomy
from linnaeus.decisions import RCut, SCut
from linnaeus.errors import UserError
from linnaeus.explanation import explain
from linnaeus.text import TfidfVectorizer

TAX = Taxonomy.from_edges([("zoo", "mammal"), ("mammal", "yak"), ("mammal", "bat"), ("zoo", "ant")])
LEAVES = ("yak", "bat", "ant")
NAMES = ["wool", "wings", "legs"]
TEXTS = ["wool and wool", "wings at night", "six legs", "more wool", "black wings", "many legs"] * 3


def rows(n=30):
    rng = np.random.default_rng(0)
    y = np.array([LEAVES[i % 3] for i in range(n)])
    return np.eye(3)[np.arange(n) % 3] + 0.3 * rng.normal(size=(n, 3)), y


X, Y = rows()
WORDS_Y = np.array(list(LEAVES) * 6)
ADDITIVE = {
    "FlatSVM": {}, "FlatLogistic": {}, "MulticlassSVM": {}, "MulticlassLogistic": {},
    "RecursiveSVM": {}, "RecursiveLogistic": {}, "RankingSVM": {}, "HierarchicalPerceptron": {},
    "Hieron": {}, "HBLR": {}, "HM3": {},
}  # fmt: skip


def scores_by_name(estimator, row):
    """The columns of decision_function by their names; of two classes, both."""
    S = np.asarray(estimator.decision_function(row))
    S = np.column_stack([-S, S]) if S.ndim == 1 else S
    return dict(zip(estimator.classes_, S[0], strict=True))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("taxonomy", [None, TAX], ids=["flat", "tree"])
@pytest.mark.parametrize("name", ADDITIVE)
def test_contributions_add_up_to_the_score(name, taxonomy):
    fitted = getattr(linnaeus, name)(taxonomy).fit(X, Y)
    found = explain(fitted, X[4], NAMES, nodes=LEAVES)
    assert found.additive
    assert found.labels == tuple(fitted.predict(X[4:5]))
    score = scores_by_name(fitted, X[4:5])
    for node in found.nodes:
        if node.node in LEAVES:
            (reason,) = node.reasons
            parts = [reason.own, *reason.inherited.values(), reason.intercept]
            assert sum(parts) == pytest.approx(score[node.node], rel=1e-6, abs=1e-6)
            given = sum(f.contribution for f in reason.features) + reason.intercept
            assert given == pytest.approx(score[node.node], rel=1e-6, abs=1e-6)
            assert reason.rest == 0
            assert {f.name for f in reason.features} <= set(NAMES)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["TopDown", "OrthogonalTransfer", "HierarchicalRLS"])
def test_others_say_that_they_explain_steps(name):
    fitted = getattr(linnaeus, name)(TAX).fit(X, Y)
    assert not explain(fitted, X[4]).additive


def test_two_classes_have_opposite_reasons():
    two = Y != "ant"
    fitted = FlatSVM(random_state=0).fit(X[two], Y[two])
    found = explain(fitted, X[0], nodes=["bat", "yak"])
    score = fitted.decision_function(X[:1])[0]
    got = {node.node: node.reasons[0].score for node in found.nodes}
    assert got == {"bat": pytest.approx(-score), "yak": pytest.approx(score)}


def told(found):
    """What an explanation says, rounded."""
    features = [f for node in found.nodes for reason in node.reasons for f in reason.features]
    return found.labels, [(f.name, round(f.value, 9), round(f.contribution, 9)) for f in features]


def test_a_row_comes_in_any_form():
    frame = pd.DataFrame(X, columns=NAMES)
    plain, named = (RecursiveSVM(TAX, random_state=0).fit(rows, Y) for rows in (X, frame))
    expected = told(explain(plain, X[1], NAMES))
    forms = [X[1], X[1:2], X[1].tolist(), sp.csr_array(X[1:2]), frame.iloc[1], frame.iloc[[1]]]
    for form in forms:
        assert told(explain(plain, form, NAMES)) == expected
        assert told(explain(named, form)) == expected
    assert told(explain(named, frame.iloc[1, ::-1])) == expected  # by name, not by place
    features = explain(plain, X[1]).nodes[-1].reasons[0].features
    assert {f.name for f in features} <= {"x0", "x1", "x2"}


def test_pipelines_name_what_the_estimator_sees():
    frame = pd.DataFrame(X, columns=NAMES)
    model = make_pipeline(
        make_column_transformer(
            (StandardScaler(), ["wings", "wool"]), verbose_feature_names_out=False
        ),
        RecursiveSVM(TAX),
    ).fit(frame, Y)
    found = explain(model, frame.iloc[0], nodes=LEAVES)
    names = {f.name for node in found.nodes for r in node.reasons for f in r.features}
    assert names == {"wings", "wool"}
    score = scores_by_name(model, frame.iloc[[0]])
    got = {node.node: node.reasons[0].score for node in found.nodes if node.node in LEAVES}
    assert got == {name: pytest.approx(score[name]) for name in LEAVES}
    scaled = make_pipeline(StandardScaler(), RecursiveSVM(TAX)).fit(X, Y)
    names = {f.name for f in explain(scaled, X[0], NAMES).nodes[-1].reasons[0].features}
    assert names <= set(NAMES)
    search = GridSearchCV(scaled, {"recursivesvm__C": [1.0]}, cv=2).fit(X, Y)
    assert explain(search, X[0], NAMES).labels == explain(scaled, X[0], NAMES).labels


@pytest.mark.parametrize(
    "steps",
    [
        [PlainTfidf()],
        [PlainTfidf(stop_words="english", ngram_range=(1, 2))],
        [CountVectorizer(), TfidfTransformer()],
        [TfidfVectorizer()],
        [PlainTfidf(analyzer="char", ngram_range=(2, 3))],
    ],
)
def test_words_of_a_text_are_coloured(steps):
    model = make_pipeline(*steps, RecursiveSVM(TAX)).fit(TEXTS, WORDS_Y)
    found = explain(model, "Wool, WINGS and legs", nodes=LEAVES)
    for node in found.nodes:
        for reason in node.reasons:
            pieces = sum(piece.value or 0.0 for piece in reason.pieces)
            assert pieces == pytest.approx(reason.score - reason.intercept, abs=1e-6)
            assert "".join(piece.text for piece in reason.pieces) == "Wool, WINGS and legs"
    page = found._repr_html_()
    assert (page.startswith('<div class="linnaeus">') and ">Wool</span>" in page) or "char" in str(
        steps
    )
    assert "<body" not in page and "body {" not in page


def test_features_that_are_no_words_have_no_colours():
    model = make_pipeline(PlainTfidf(), TruncatedSVD(2, random_state=0), RecursiveSVM(TAX))
    found = explain(model.fit(TEXTS, WORDS_Y), "wool")
    assert all(reason.pieces == () for node in found.nodes for reason in node.reasons)


def test_decisions_are_explained_by_the_estimator_inside():
    Z = TAX.encode(Y).toarray()
    base = RecursiveSVM(TAX)
    inside = make_pipeline(StandardScaler(), RCut(base, TAX, k=1)).fit(X, Z)
    outside = RCut(make_pipeline(StandardScaler(), base), TAX, k=1).fit(X, Z)
    learned = SCut(base, TAX, cv=2, random_state=0).fit(X, Z)
    for model in (inside, outside, learned):
        found = explain(model, X[3], NAMES, nodes=LEAVES)
        assert (
            list(found.labels)
            == TAX.decode(TAX.most_specific(TAX.encode(model.predict(X[3:4]))))[0]
        )
        assert found.rule in ("RCut", "SCut")
        score = scores_by_name(model, X[3:4])
        for node in found.nodes:
            if node.node in LEAVES:
                assert node.reasons[0].score == pytest.approx(score[node.node])
                assert node.score == pytest.approx(score[node.node])
    assert "highest" in explain(inside, X[3]).nodes[-1].verdict
    assert "at least" in explain(learned, X[3]).nodes[-1].verdict


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: explain(m, X[0], ["a"]), "1 feature_names, but 3 features"),
        (lambda m: explain(m, "wool"), "trained on features, but a text"),
        (lambda m: explain(m, X[:2]), "There are 2 rows. Explain one at a time"),
        (lambda m: explain(LogisticRegression().fit(X, Y), X[0]), "LogisticRegression cannot be"),
        (lambda m: explain(m, X[0], nodes=["cat"]), "'cat' is not a node"),
    ],
)
def test_errors_name_the_thing_the_value_and_the_remedy(call, message):
    with pytest.raises(UserError, match=message):
        call(FlatSVM(TAX, random_state=0).fit(X, Y))
