"""A unit of work: the same values as separate fits, judged as everywhere else."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from linnaeus.decisions.rules import choose_rule
from linnaeus.experiments.search import fit_path
from linnaeus.metrics import evaluate
from linnaeus.model import make_features
from linnaeus.model.judging import RulesToJudge, quiet_convergence, unconverged
from linnaeus.model.methods import make
from linnaeus.model.training import TrainingLabels
from linnaeus.splits import k_folds
from linnaeus.synthetic import newsroom

NEWS = newsroom(150, 1)
TAX = NEWS.taxonomy
X = make_features("words", NEWS.train).fit_transform(NEWS.train.texts)
Y = TrainingLabels.of(NEWS.train, TAX).y
TRAIN, TEST = k_folds(Y, 3, 0)[0]
CS = (0.1, 1.0, 10.0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["svm", "logistic", "rr-svm"])
def test_a_path_is_as_good_as_separate_fits(method):
    model = make(method, TAX, {"tol": 1e-7, "max_iter": 5000})
    with quiet_convergence():
        path = fit_path(model, X, Y, TAX, (TRAIN, TEST), CS, RulesToJudge(None, True, 0))
    assert [record["C"] for record in path] == list(CS)
    for record in path:
        alone = clone(model).set_params(C=record["C"]).fit(X[TRAIN], Y[TRAIN])
        own = evaluate(Y[TEST], alone.predict(X[TEST]), TAX)
        for name in ("micro_f1", "macro_f1", "hierarchical_f1"):
            assert record["rules"]["own"][name] == pytest.approx(own[name], abs=1e-9)
        scores = alone.class_scores(X[TEST])
        table = choose_rule(scores, Y[TEST], TAX, alone.targets_.names, seed=0).table
        assert {line["rule"] for line in table} == record["rules"].keys() - {"own"}
        for line in table:
            found = record["rules"][line["rule"]]["micro_f1"]
            assert found == pytest.approx(line["micro_f1"], abs=1e-9), line["rule"]


def test_only_the_rules_asked_for_are_tried():
    model = make("svm", TAX)
    (record,) = fit_path(model, X, Y, TAX, (TRAIN, TEST), [1.0], RulesToJudge(("zero",), False, 0))
    assert record["rules"].keys() == {"zero"} and record["seconds"] > 0
    (record,) = fit_path(
        make("perceptron", TAX), X, Y, TAX, (TRAIN, TEST), [None], RulesToJudge((), True, 0)
    )
    assert record["rules"].keys() == {"own"} and record["C"] is None


def test_the_given_estimator_stays_as_it_is():
    model = make("svm", TAX)
    fit_path(model, X, Y, TAX, (TRAIN, TEST), [3.0], RulesToJudge((), True, 0))
    assert model.C == 1.0 and not model.warm_start and not hasattr(model, "coef_")


def test_fits_that_stop_early_are_counted_and_not_shown(recwarn):
    model = make("svm", TAX, {"tol": 1e-12, "max_iter": 1})
    with quiet_convergence():
        path = fit_path(model, X, Y, TAX, (TRAIN, TEST), CS, RulesToJudge((), True, 0))
    assert [record["unconverged"] for record in path] == [1, 1, 1] and not recwarn.list


def test_other_warnings_are_shown():
    with pytest.warns(UserWarning, match="something else"), quiet_convergence():
        with unconverged() as early:
            warnings.warn("something else", UserWarning, stacklevel=1)
            warnings.warn("early", ConvergenceWarning, stacklevel=1)
        warnings.warn("not within a unit", ConvergenceWarning, stacklevel=1)
    assert early.n == 1


def test_rules_of_models_over_all_nodes_learn_from_closed_sets():
    model = make("svm", TAX, {"classes": "nodes"})
    (record,) = fit_path(model, X, Y, TAX, (TRAIN, TEST), [1.0], RulesToJudge(None, False, 0))
    assert "consistent" in record["rules"]
    assert np.isfinite(record["rules"]["scut"]["hierarchical_f1"])
