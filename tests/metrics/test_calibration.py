import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.metrics import calibration

TAX = Taxonomy.from_edges([("A", "a"), ("A", "b"), ("B", "c")])


@pytest.fixture
def drawn():
    """Probabilities that are right: labels are drawn from them."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet([0.5, 1.0, 1.5], size=20_000)
    y = (P.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1)
    return P, np.array(TAX.leaves)[np.minimum(y, 2)]


def test_right_probabilities_are_calibrated_and_wrong_ones_are_not(drawn):
    P, y = drawn
    right = calibration(y, P, TAX)
    assert right.expected_calibration_error < 0.01
    for b in right.bins:
        assert abs(b["predicted"] - b["observed"]) < 4 * b["error"] + 1e-3
    sharp = P**3 / (P**3).sum(axis=1, keepdims=True)
    assert calibration(y, sharp, TAX).expected_calibration_error > 0.05
    assert calibration(y, sharp, TAX).log_loss > right.log_loss
    assert calibration(y, sharp, TAX).brier > right.brier


def test_losses_are_those_of_scikit_learn(drawn):
    P, y = drawn[0][:500], drawn[1][:500]
    found = calibration(y, P, TAX)
    assert found.log_loss == pytest.approx(log_loss(y, P, labels=list(TAX.leaves)))
    Y = TAX.encode(y).toarray()[:, TAX.leaf_numbers]
    assert found.brier == pytest.approx(sum(brier_score_loss(Y[:, k], P[:, k]) for k in range(3)))


def test_by_hand():
    P = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    Y = np.array([[1, 0], [0, 1], [0, 1], [1, 0]])
    found = calibration(Y, P, bins=2)
    assert [b["n"] for b in found.bins] == [4, 4]
    assert found.bins[1]["predicted"] == pytest.approx((0.9 + 0.8 + 0.7 + 0.6) / 4)
    assert found.bins[1]["observed"] == 0.75
    assert found.expected_calibration_error == pytest.approx(abs(0.75 - 0.75))
    best = calibration(Y, P, bins=10, top=True)
    assert sum(b["n"] for b in best.bins) == 4
    assert best.expected_calibration_error == best.top_calibration_error
    assert calibration(Y, P, bins=10).top_calibration_error == best.top_calibration_error
    distances = [0.1, 0.8, 0.3, 0.4]  # of .9, .8, .7, .6 from 1, 0, 1, 1: a bin for each
    assert best.top_calibration_error == pytest.approx(np.mean(distances))


def test_over_all_nodes_labels_count_for_their_ancestors():
    P = np.ones((1, len(TAX)))
    P[0, TAX.index("B")] = P[0, TAX.index("c")] = P[0, TAX.index("b")] = 0.0
    assert calibration(["a"], P, TAX).brier == 0


def test_it_prints_and_plots(drawn, tmp_path):
    found = calibration(drawn[1], drawn[0], TAX)
    assert "expected calibration error" in str(found) and "0.90-1.00" in str(found)
    assert found.to_dict()["bins"][0]["n"] > 0
    pytest.importorskip("matplotlib")
    found.plot(tmp_path / "reliability.png")
    assert (tmp_path / "reliability.png").read_bytes()[:4] == b"\x89PNG"


def test_what_is_no_probability_is_refused():
    with pytest.raises(UserError, match="hold 1.5. Use values from 0 to 1"):
        calibration([[1, 0]], [[1.5, 0.0]])
    with pytest.raises(UserError, match="bins is 0. Use 1 or more"):
        calibration([[1, 0]], [[1.0, 0.0]], bins=0)
