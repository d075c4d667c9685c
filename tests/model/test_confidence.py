"""Confidence: the share of such rows whose best label is right; and rows known again."""

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.io.collection import Part
from linnaeus.model import Answers, HeldOut, inputs_of, train
from linnaeus.model.confidence import learn_confidence
from linnaeus.synthetic import newsroom

TAX = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("r", "c")])


@pytest.fixture(scope="module")
def news():
    return newsroom(200, 60, random_state=0)


@pytest.fixture(scope="module")
def model(news):
    return train(news.train, news.taxonomy, "svm", rule="zero")


def held_out(n=4000, seed=0):
    """Scores of which the margin, not the height, says how often the best is right."""
    rng = np.random.default_rng(seed)
    margin = rng.random(n)
    best, right = rng.integers(0, 3, n), rng.random(n) < 0.4 + 0.6 * margin
    scores = np.zeros((n, 3))
    scores[np.arange(n), best] = margin
    scores += 5 * rng.normal(size=(n, 1))
    label = np.where(right, best, (best + 1) % 3)
    Y = sp.csr_array((np.ones(n), label + 1, np.arange(n + 1)), (n, 4))
    return HeldOut(np.arange(n), scores, Y), margin


def test_confidence_is_the_share_that_is_right():
    examples, margin = held_out()
    found = learn_confidence(examples, TAX, ("a", "b", "c"), closed=False)
    assert found.statistic == "margin"
    sure = found(held_out(seed=1)[0].scores)
    assert np.abs(sure - (0.4 + 0.6 * held_out(seed=1)[1])).max() < 0.1
    assert (np.diff(found.shares) >= 0).all() and found.shares[0] > 0 and found.shares[-1] < 1
    assert margin.size == 4000


def test_few_rows_and_rows_that_are_all_right_are_no_certainty():
    examples = HeldOut(np.arange(3), np.eye(3), sp.csr_array(np.eye(4)[1:]))
    found = learn_confidence(examples, TAX, ("a", "b", "c"), closed=False)
    assert found(np.eye(3)).tolist() == [0.8] * 3


def test_records_say_how_sure_the_model_is(model, news):
    X = model.transform(inputs_of(news.test))
    sure = model.confidence(X)
    assert ((sure >= 0) & (sure <= 1)).all()
    answers = Answers(model, min_confidence=0.6)
    records = list(answers(news.test))
    assert [r["confidence"] for r in records] == sure.tolist()
    assert [r["review"] for r in records] == (sure < 0.6).tolist()
    assert answers.reviewed == (sure < 0.6).sum()
    assert "review" not in next(Answers(model)(news.test))
    with pytest.raises(UserError, match=r"confidence is 1\.5"):
        Answers(model, min_confidence=1.5)


def test_a_model_without_held_out_rows_says_what_to_do(news):
    plain = train(news.train, news.taxonomy, "svm", rule="own")
    assert plain.confidence(plain.transform(news.test.texts)) is None
    with pytest.raises(UserError, match="Train it again"):
        Answers(plain, min_confidence=0.5)
    likely = train(news.train, news.taxonomy, "logistic", rule="own")
    X = likely.transform(news.test.texts)
    P = likely.estimator.class_probabilities(X)
    assert np.allclose(likely.confidence(X), P.max(axis=1))


def test_single_labels_get_a_confidence_too():
    texts = [f"{'purr mew' if i % 2 else 'bark wag'} {i}" for i in range(40)]
    part = Part([["a" if i % 2 else "b"] for i in range(40)], [str(i) for i in range(40)], texts)
    found = train(part, TAX, "svm")
    assert found.confidence_map is not None and found.held_out is None
    assert found.confidence(found.transform(texts)).min() > 0.5


def test_training_rows_are_known_again(model, news):
    assert model.seen(news.train.texts).all()
    assert model.seen([text.upper() + " ." for text in news.train.texts[:5]]).all()
    assert not model.seen(["something else altogether"]).any()
    assert (np.diff(model.digests.astype(float)) > 0).all()


def test_copies_stay_together_when_rows_are_held_out(news):
    twice = news.train.take([*range(60), *range(60)])
    found = train(twice, news.taxonomy, "svm", folds=3)
    assert found.about["data"]["copies"] == 60
    once = train(news.train.take(range(60)), news.taxonomy, "svm", folds=3)
    gap = found.about["metrics"]["micro_f1"] - once.about["metrics"]["micro_f1"]
    assert gap < 0.15  # with copies on both sides it would be near 1
