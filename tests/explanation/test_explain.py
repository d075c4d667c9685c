"""Explanations of examples and of nodes, through a model."""

import json

import numpy as np
import pytest

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.explanation import explain, explain_node
from linnaeus.io.collection import Part
from linnaeus.model import train

TREE = Taxonomy.from_edges(
    [("sport", "football"), ("sport", "tennis"), ("news", "politics"), ("news", "weather")],
    titles={"sport": "Sport & games", "football": "Football <b>", "news": "News"},
)
WORDS = {
    "football": "goal striker penalty match team referee",
    "tennis": "racket serve match net set umpire",
    "sport": "olympic medal record athlete",
    "politics": "minister vote election party law",
    "weather": "rain storm sun cloud wind",
}
TEXT = "A goal for the team, a penalty: the match was lost in the rain."


def corpus(one=True):
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for i in range(60):
        name = list(WORDS)[i % 5]
        words = rng.choice(WORDS[name].split(), 4).tolist() + ["the", "was"]
        other = list(WORDS)[(i // 5) % 5]
        if not one and i % 3 == 0:
            words += rng.choice(WORDS[other].split(), 4).tolist()
        texts.append(" ".join(words))
        labels.append([name] if one or i % 3 else sorted({name, other}))
    return Part(labels=labels, ids=[str(i) for i in range(60)], texts=texts)


@pytest.fixture(scope="module")
def recursive():
    return train(corpus(), TREE, "rr-svm", rule="argmax")


def methods():
    one = ["svm", "logistic", "msvm", "mlr", "topdown", "hrls", "rr-svm", "rr-lr", "hm3",
           "ranking-svm", "perceptron", "hieron", "hblr", "ot"]  # fmt: skip
    several = ["svm", "topdown", "hrls", "rr-svm", "hm3", "ranking-svm", "perceptron"]
    return [(m, True) for m in one] + [(m, False) for m in several]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("method", "one"), methods())
def test_all_parts_of_a_reason_add_up(method, one):
    model = train(corpus(one), TREE, method, rule="own" if one else "auto")
    found = explain(model, TEXT, top=3, nodes=["weather"])
    assert [node.node for node in found.nodes if node.label] == list(found.labels) or not one
    assert {"weather", "news"} <= {node.node for node in found.nodes}
    explained = [node for node in found.nodes if node.reasons]
    assert explained
    for node in explained:
        for reason in node.reasons:
            inherited = sum(reason.inherited.values())
            assert reason.score == pytest.approx(reason.own + inherited + reason.intercept)
            shown = sum(f.contribution for f in reason.features)
            assert reason.score == pytest.approx(shown + reason.others + reason.intercept)
            pieces = sum(piece.value or 0.0 for piece in reason.pieces)
            assert pieces == pytest.approx(reason.score - reason.intercept, abs=1e-6)
            for f in reason.features:
                assert f.contribution == pytest.approx(f.own + sum(f.inherited.values()))
            assert reason.rest == 0.0
    json.dumps(found.to_dict())


def test_scores_and_ancestors(recursive):
    found = explain(recursive, TEXT)
    assert found.labels == ("football",)
    sport, football = found.nodes
    assert (sport.node, sport.decided, sport.label, sport.score) == ("sport", True, False, None)
    assert sport.verdict == "a label below it is on"
    assert football.score == pytest.approx(football.reasons[0].score)
    assert football.score == pytest.approx(recursive.scores([TEXT])[0].max())
    assert set(football.reasons[0].inherited) == {"sport"}
    assert football.reasons[0].features[0].name in WORDS["football"]
    assert found.title("sport") == "Sport & games"
    assert football.verdict == "rank 1 of 5, needs to be the highest"


def test_ancestors_in_flat_models_are_not_explained_by_their_own_class():
    sport, football = explain(train(corpus(), TREE, "msvm"), TEXT).nodes
    assert (sport.node, sport.reasons, sport.score) == ("sport", (), None)
    assert len(football.reasons) == 1


def test_why_not(recursive):
    found = explain(recursive, TEXT, nodes=["weather", "sport"])
    told = {node.node: node for node in found.nodes}
    assert [*told] == ["sport", "football", "news", "weather"]
    assert told["weather"].asked and not told["weather"].decided
    rain = {f.name: f.contribution for f in told["weather"].reasons[0].features}["rain"]
    assert rain > 0
    assert told["sport"].score is not None  # as a label of its own: its misc leaf
    assert told["news"].verdict == "no label below it is on"


@pytest.mark.parametrize(
    ("rule", "words"),
    [("zero", "needs more than 0"), ("rcut", "needs to be among the"), ("scut", "needs at least"),
     ("instance", "in this example"), ("set-size", "in this example"),
     ("closed", "needs to be in the best closed label set")],
)  # fmt: skip
def test_the_rule_is_told(rule, words):
    model = train(corpus(one=False), TREE, "svm", rule=rule)
    told = {node.node: node for node in explain(model, TEXT, nodes=["weather"]).nodes}
    assert words in told["weather"].verdict
    if rule == "zero":
        assert told["weather"].threshold == 0.0


def test_a_text_without_known_words(recursive):
    found = explain(recursive, "xyzzy")
    for node in found.nodes:
        for reason in node.reasons:
            assert reason.features == () and reason.own == 0.0
            assert reason.score == pytest.approx(reason.intercept)


def test_rows_of_a_table():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    labels = [["tennis"] if x[0] > 0 else ["weather"] for x in X]
    part = Part(labels, [str(i) for i in range(40)], X=X, feature_names=["heat", "wet", "wind"])
    model = train(part, TREE, "rr-lr")
    found = explain(model, [2.0, np.nan, 0.0])
    assert found.labels == ("tennis",)
    features = {f.name: f for f in found.nodes[-1].reasons[0].features}
    assert features["heat"].contribution > 0 and "wet" not in features  # missing: at the mean
    with pytest.raises(UserError, match="trained on features, but a text is given"):
        explain(model, "a text")


def test_mistakes_are_named(recursive):
    with pytest.raises(UserError, match="'futball'.*did you mean 'football'"):
        explain(recursive, TEXT, nodes=["futball"])
    with pytest.raises(UserError, match="trained on texts, but a row is given"):
        explain(recursive, [1.0, 2.0])
    with pytest.raises(UserError, match="top is 0. Use a positive number"):
        explain(recursive, TEXT, top=0)
    with pytest.raises(UserError, match="top is -1. Use a positive number"):
        explain_node(recursive, "sport", top=-1)


def test_a_node_and_its_relatives(recursive):
    found = explain_node(recursive, "football", top=4)
    assert found.path == ("sport", "football") and found.rows == 12
    (learned,) = found.learned
    assert {f.name for f in learned.positive} <= set(WORDS["football"].split())
    assert [f.weight for f in learned.positive] == sorted(
        (f.weight for f in learned.positive), reverse=True
    )
    for f in (*learned.positive, *learned.negative, *learned.own):
        assert f.weight == pytest.approx(f.own + sum(f.inherited.values()))
    assert all(f.weight < 0 for f in learned.negative)
    (tennis,) = found.siblings
    assert tennis.node == "tennis" and found.n_siblings == 1
    assert {name for name, _ in tennis.there} & set(WORDS["tennis"].split())
    json.dumps(found.to_dict())


def test_flat_models_have_no_weights_for_inner_nodes():
    model = train(corpus(), TREE, "msvm")
    found = explain_node(model, "news")
    assert found.learned == () and found.siblings == () and found.n_siblings == 1


def test_saved_models_explain_alike(tmp_path):
    from linnaeus import storage

    for method in ("hblr", "perceptron", "hm3", "topdown", "rr-lr"):
        model = train(corpus(), TREE, method, rule="own")
        model.save(tmp_path / method)
        again = storage.load(tmp_path / method)
        assert explain(again, TEXT).to_dict() == explain(model, TEXT).to_dict()


def test_nodes_are_told_as_a_tree_is_read(recursive):
    """Each node stands below its own parent, whatever the nodes' numbers are."""
    found = explain(recursive, TEXT, nodes=["weather", "tennis", "politics"])
    told = [node.node for node in found.nodes]
    assert told == ["sport", "football", "tennis", "news", "politics", "weather"]
