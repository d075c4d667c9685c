"""One answer for all rows, against every possible one; and the curve of coverage."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from linnaeus import Taxonomy
from linnaeus.metrics import au_prc, evaluate, micro_f1
from linnaeus.metrics.baseline import Frequencies, baseline
from linnaeus.metrics.coverage import coverage
from linnaeus.metrics.inputs import Pair

TAX = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("a", "y"), ("b", "z")])


def drawn(seed, n=30):
    rng = np.random.default_rng(seed)
    return [[v for v in ("x", "y", "z") if rng.random() < 0.5] or ["z"] for _ in range(n)]


@pytest.mark.parametrize("seed", range(4))
def test_no_constant_answer_is_better_on_the_rows_it_was_learned_from(seed):
    labels = drawn(seed)
    found = baseline(labels, TAX, Frequencies.of(TAX, labels))
    truth = TAX.encode(labels)
    for size in (1, 2, 3):
        for answer in combinations("xyz", size):
            every = [list(answer)] * len(labels)
            report = evaluate(labels, every, TAX)
            assert found.values["micro_f1"] >= report["micro_f1"] - 1e-12
            assert found.values["hierarchical_f1"] >= report["hierarchical_f1"] - 1e-12
            assert found.values["zero_one_loss"] <= report["zero_one_loss"] + 1e-12
    every = [found.labels] * len(labels)
    assert_allclose(found.values["micro_f1"], micro_f1(labels, every, TAX))
    assert found.right == sum(len(set(row) & set(found.labels)) for row in labels)
    shares = np.tile(TAX.closure(truth).sum(axis=0) / len(labels), (len(labels), 1))
    assert_allclose(found.values["au_prc"], au_prc(labels, shares, TAX))


def test_of_single_labels_it_is_the_majority_of_the_training_rows():
    known = Frequencies.of(TAX, ["x", "z", "x"])
    found = baseline(["x", "y", "z", "z"], TAX, known)
    assert known.single and found.labels == ["x"] and found.right == 1
    assert found.values["zero_one_loss"] == 0.75
    assert found.to_dict()["labels"] == ["x"]


def test_coverage_is_what_counting_says():
    rng = np.random.default_rng(0)
    sure = rng.integers(0, 8, 60) / 8
    true = sp.csr_array(rng.integers(0, 2, (60, 4)))
    pred = sp.csr_array(rng.integers(0, 2, (60, 4)))
    found = coverage(sure, Pair(true, pred))
    for least, rows, precision in zip(found.confidence, found.rows, found.precision, strict=True):
        kept = sure >= least
        right = (true.toarray() & pred.toarray())[kept].sum()
        assert rows == kept.sum()
        assert_allclose(precision, right / pred.toarray()[kept].sum())
    assert found.rows[-1] == 60 and found.at(0.0)["kept"] == 1.0 and found.at(1.01) is None
    assert "not reached" in str(found)
    assert set(found.to_dict()["at"]) == {"0.5", "0.8", "0.9", "0.95"}
