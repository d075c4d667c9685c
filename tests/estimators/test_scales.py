"""(X, C) and (s X, C / s^2) are one problem: as many rounds, the same relative gap."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import linnaeus
from linnaeus import Taxonomy
from marks import slow

TAX = Taxonomy.from_edges([("r", "A"), ("r", "B"), ("A", "a"), ("A", "b"), ("B", "c"), ("B", "d")])
LOOPS = [*TAX.edges, ("a", "c"), ("A", "B")]
CASES = [
    ("HM3", {}),
    ("HM3", {"optimizer": "csga", "tol": 0.02}),
    ("HM3", {"kernel": "precomputed"}),
    ("HM3", {"slack": "edge"}),
    ("HM3", {"slack": "edge", "kernel": "precomputed"}),
    ("HM3", {"slack": "negative"}),
    ("HM3", {"features": "path"}),
    ("HM3", {"competitors": "consistent", "loss": "sibl"}),
    ("GraphM3", {"edges": LOOPS}),
    ("GraphM3", {"edges": LOOPS, "kernel": "precomputed"}),
    ("GraphM3", {"edges": LOOPS, "optimizer": "csga", "tol": 0.02}),
    ("GraphM3", {"edges": LOOPS, "inference": "loopy", "tol": 0.05}),
    ("RankingSVM", {}),
    ("RankingSVM", {"slack": "pair"}),
    ("RankingSVM", {"rescale": "margin", "kernel": "precomputed"}),
    ("RankingSVM", {"optimizer": "greedy", "tol": 0.1}),
    ("FlatSVM", {}),
    ("FlatSVM", {"loss": "hinge"}),
    ("FlatLogistic", {}),
    ("MulticlassSVM", {}),
    ("MulticlassLogistic", {}),
    ("TopDown", {}),
    ("TopDown", {"local": "multiclass"}),
    ("RecursiveSVM", {"tol": 0.01}),
    ("RecursiveSVM", {"tol": 0.01, "root": "free"}),
    ("RecursiveLogistic", {"tol": 0.01}),
    ("OrthogonalTransfer", {}),
]
LONG = ("GraphM3", "HM3", "RankingSVM")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c", "d"])[rng.integers(0, 4, 30)]
    X = rng.normal(size=(30, 6))
    X[:, :4] += y[:, None] == np.array(["a", "b", "c", "d"])
    return X, y


def fitted(data, name, options, scale):
    (X, y), kind = data, getattr(linnaeus, name)
    inputs = scale**2 * (X @ X.T) if options.get("kernel") == "precomputed" else scale * X
    model = kind(TAX, C=1 / scale**2, fit_intercept=False, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "GraphM3 searches", ConvergenceWarning)
        return model.fit(inputs, y)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        slow(*case) if case[0] in ("GraphM3", "HM3", "RankingSVM") and case[1] else case
        for case in CASES
    ],
)
def test_the_scale_of_inputs_changes_nothing(data, name, options):
    base = fitted(data, name, options, 1.0)
    assert 0.0 <= base.gap_ <= base.tol or options.get("optimizer") == "greedy"  # by psi
    assert base.gap_ == pytest.approx(1 - base.dual_objective_ / base.objective_, abs=1e-12)
    assert base.trace_[-1]["gap"] == pytest.approx(base.gap_, rel=1e-6, abs=1e-12)
    for scale in (2.0**10, 2.0**-10):  # exact: no rounding differs
        other = fitted(data, name, options, scale)
        assert other.n_iter_ == base.n_iter_
        assert other.objective_ * scale**2 == pytest.approx(base.objective_, rel=1e-9)
        assert other.gap_ == pytest.approx(base.gap_, rel=1e-6, abs=1e-12)
    other = fitted(data, name, options, 1000.0)  # rounding may take another turn
    assert other.objective_ * 1e6 == pytest.approx(base.objective_, rel=2 * base.tol)
    assert 0.0 <= other.gap_ <= base.tol or options.get("optimizer") == "greedy"
