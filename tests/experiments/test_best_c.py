"""The path over C: the same as from scratch, and cheaper."""

import numpy as np
import pytest

from linnaeus import FlatLogistic, FlatSVM, Taxonomy
from linnaeus.decisions import InstanceCut
from linnaeus.errors import UserError
from linnaeus.experiments import c_path
from linnaeus.splits import k_folds

TAX = Taxonomy.from_edges(
    [("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")]
)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 4, size=160)
    X = rng.normal(size=(4, 10))[label] + rng.normal(size=(160, 10))
    return X, np.array(TAX.leaves)[label]


@pytest.mark.parametrize("estimator", [FlatSVM, FlatLogistic])
def test_a_path_scores_as_separate_fits_do(estimator, data):
    X, y = data
    model = estimator(TAX, tol=1e-6, random_state=0)
    told = []
    path = c_path(model, X, y, [1.0, 0.01, 0.1], cv=3, callback=lambda *at: told.append(at))
    assert path.Cs.tolist() == [0.01, 0.1, 1.0] and path.scores.shape == (3, 3)
    for f, (train, test) in enumerate(k_folds(y, 3, 0)):
        for j, C in enumerate(path.Cs):
            alone = estimator(TAX, C=C, tol=1e-6, random_state=0).fit(X[train], y[train])
            assert np.isclose(np.mean(alone.predict(X[test]) == y[test]), path.scores[f, j])
    assert path.best_C == path.Cs[np.argmax(path.scores.mean(axis=0))]
    assert path.best_C == path.estimator.C and told[-1] == (9, 9)


def test_a_warm_start_reaches_the_same_optimum_in_fewer_rounds(data):
    X, y = data
    warm = FlatSVM(TAX, C=1.0, warm_start=True, tol=1e-7, random_state=0).fit(X, y)
    again = warm.set_params(C=1.1).fit(X, y)
    cold = FlatSVM(TAX, C=1.1, tol=1e-7, random_state=0).fit(X, y)
    np.testing.assert_allclose(again.objective_, cold.objective_, rtol=1e-6)
    assert again.n_iter_ <= cold.n_iter_
    other = warm.fit(X[:100], y[:100])  # other examples: from scratch
    assert other.gap_ <= 1e-7


def test_odd_values_are_refused(data):
    X, y = data
    with pytest.raises(UserError, match=r"Cs is \[\]"):
        c_path(FlatSVM(TAX), X, y, [])
    with pytest.raises(UserError, match=r"Cs is \[-1.0, 1.0\]"):
        c_path(FlatSVM(TAX), X, y, [1.0, -1.0])


def test_a_decision_of_its_own_decides_each_half_of_a_fold_by_the_other(data):
    """The scores are those of the rule, not of cutting at zero; nothing is fitted in vain."""
    X, y = data
    Y = TAX.encode([[a, b] for a, b in zip(y, np.roll(y, 1), strict=True)])
    model = FlatLogistic(TAX, random_state=0)
    rule = InstanceCut(model, TAX)
    path = c_path(model, X, Y, [0.1, 1.0], cv=2, decision=rule, refit=False)
    assert not hasattr(path.estimator, "coef_") and path.best_C == path.estimator.C
    for f, (train, test) in enumerate(k_folds(Y, 2, 0)):
        alone = FlatLogistic(TAX, C=1.0, random_state=0).fit(X[train], Y[train])
        halves = np.array_split(np.random.RandomState(0).permutation(len(test)), 2)
        counts = np.zeros(3)
        for learnt, judged in (halves, halves[::-1]):
            known = InstanceCut(alone, TAX, cv="prefit").fit(X[test[learnt]], Y[test[learnt]])
            decided = known.predict(X[test[judged]])
            counts += [
                decided.multiply(Y[test[judged]]).sum(),
                decided.sum(),
                Y[test[judged]].sum(),
            ]
        assert np.isclose(path.scores[f, 1], 2 * counts[0] / (counts[1] + counts[2]))
    plain = c_path(model, X, Y, [0.1, 1.0], cv=2, refit=False)
    assert path.scores.mean() > plain.scores.mean()
