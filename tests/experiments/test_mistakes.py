"""Confused labels and telling rows, against loops over sets."""

from collections import Counter

import numpy as np
import pytest

from comparisons import made_up, small_taxonomy
from linnaeus.experiments.mistakes import EXCERPT, Errors, confusions, mistakes, relation
from linnaeus.io.collection import Part


def counted(tax, true, predicted):
    """Pairs (missed, wrongly given) in a row, by set arithmetic."""
    pairs = Counter()
    for t, p in zip(tax.decode(tax.most_specific(true)), tax.decode(tax.most_specific(predicted)),
                    strict=True):  # fmt: skip
        pairs.update((a, b) for a in set(t) - set(p) for b in set(p) - set(t))
    return pairs


@pytest.mark.parametrize("seed", range(4))
def test_confusions_are_the_pairs_counted_one_by_one(seed):
    rng = np.random.default_rng(seed)
    tax = small_taxonomy()
    true, predicted = (
        tax.closure((rng.random((40, len(tax))) < 0.2).astype(np.int8)) for _ in range(2)
    )
    found = confusions(tax, Errors.of(tax, true, predicted), n=1000)
    expected = counted(tax, true, predicted)
    assert {(c.true, c.predicted): c.rows for c in found} == dict(expected)
    support = Counter(v for row in tax.decode(tax.most_specific(true)) for v in row)
    for c in found:
        assert c.distance == tax.distance(c.true, c.predicted)
        assert c.share == c.rows / support[c.true]
    keys = [(-c.rows, -c.distance) for c in found]
    assert keys == sorted(keys)


def test_only_the_most_frequent_are_kept():
    comparison = made_up(300)
    everything = counted(comparison.taxonomy, comparison.truth, comparison["poor"].predicted)
    errors = Errors.of(comparison.taxonomy, comparison.truth, comparison["poor"].predicted)
    found = confusions(comparison.taxonomy, errors, n=3)
    assert [c.rows for c in found] == sorted(everything.values(), reverse=True)[:3]


def test_no_mistakes_no_confusions():
    tax = small_taxonomy()
    Y = tax.closure(tax.encode([["x"], ["u", "v"], []]))
    errors = Errors.of(tax, Y, Y)
    assert confusions(tax, errors) == []
    assert mistakes(tax, errors, Part([["x"], ["u", "v"], []], ["1", "2", "3"])) == []


@pytest.mark.parametrize(
    ("true", "predicted", "answer"),
    [
        ("x", "y", "sibling"),
        ("x", "a1", "parent"),
        ("a1", "x", "child"),
        ("x", "a", "ancestor"),
        ("a", "x", "descendant"),
        ("x", "z", "in the same branch"),
        ("x", "u", "under another root"),
    ],
)
def test_relations(true, predicted, answer):
    assert relation(small_taxonomy(), true, predicted) == answer


def test_the_surest_and_the_farthest_rows_are_shown():
    tax = small_taxonomy()
    labels = [["x"], ["x"], ["x"], ["u"]]
    given = [["y"], ["y"], ["u"], ["u"]]
    scores = np.zeros((4, 6))
    column = {name: j for j, name in enumerate(tax.leaves)}
    scores[0, column["y"]], scores[1, column["y"]] = 0.5, 3.0
    scores[2, column["u"]] = 1.0
    part = Part(labels, ["r0", "r1", "r2", "r3"], texts=["word " * 200, "b", "c", "d"])
    errors = Errors.of(tax, *(tax.closure(tax.encode(Y)) for Y in (labels, given)))

    found = mistakes(tax, errors, part, scores, tax.leaves, n=1)

    assert [(m.id, m.why, m.wrong) for m in found] == [("r1", "confident", 2), ("r2", "far off", 5)]
    assert found[0].true == ["x"] and found[0].predicted == ["y"]
    assert found[0].scores == {"x": 0.0, "y": 3.0}
    everything = mistakes(tax, errors, part, scores, tax.leaves, n=4)
    assert sorted(m.id for m in everything) == ["r0", "r1", "r2"]
    long = next(m for m in everything if m.id == "r0")
    assert len(long.text) <= EXCERPT + 4 and long.text.endswith(" ...")


def test_rows_without_texts_and_scores_have_an_id():
    comparison = made_up(50, texts=False)
    errors = Errors.of(comparison.taxonomy, comparison.truth, comparison["poor"].predicted)
    labels = comparison.taxonomy.decode(comparison.truth)
    part = Part(labels, [str(i) for i in range(50)])
    found = mistakes(comparison.taxonomy, errors, part)
    assert found and all(m.why == "far off" and not m.text and not m.scores for m in found)
