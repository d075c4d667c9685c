"""Comparisons of real methods on small data: the figures, the standard errors, what goes wrong."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from comparisons import made_up
from linnaeus.errors import UserError
from linnaeus.experiments import FIGURES, compare, comparing, judge_model, verdict
from linnaeus.io.collection import Collection, Part
from linnaeus.metrics import evaluate
from linnaeus.model import train
from linnaeus.synthetic import newsroom


@pytest.fixture(scope="module")
def news():
    return newsroom(160, 60, random_state=0)


@pytest.fixture(scope="module")
def tested(news):
    methods = ["svm", "logistic", "msvm", "svm:flat"]
    return compare(methods, news, rule="zero", parameters={"logistic.C": 10.0})


@pytest.fixture(scope="module")
def crossed(news):
    return compare(["svm", "perceptron"], news, folds=3, rule="argmax")


def test_on_a_test_part_figures_are_those_of_a_model_trained_alone(news, tested):
    model = train(news.train, news.taxonomy, "logistic", {"C": 10.0}, rule="zero")
    alone = model.evaluate(news.test.texts, news.test.labels)
    report = tested["logistic"].report
    for name in (*FIGURES, "label_ranking_average_precision", "top1_accuracy"):
        assert_allclose(report[name], alone[name], rtol=1e-5)
    assert tested["logistic"].parameters == {"C": 10.0}
    assert tested["logistic"].rule == "zero"


def test_folds_pool_what_models_say_about_rows_they_have_not_seen(news, crossed):
    from linnaeus.splits import k_folds

    result = crossed["svm"]
    splits = k_folds(news.Y("train"), 3, 0)
    for k, (rows, others) in enumerate(splits):
        model = train(news.train.take(rows), news.taxonomy, "svm", rule="argmax")
        part = news.train.take(others)
        found = model.decide(model.transform(part.texts))
        assert (found != result.predicted[others]).nnz == 0
        report = evaluate(part.labels, found, news.taxonomy)
        assert_allclose(result.folds["micro_f1"][k], report["micro_f1"])
    values = np.array(result.folds["macro_f1"])
    assert_allclose(result.errors["macro_f1"], values.std(ddof=1) / np.sqrt(3))
    assert result.report["rows"] == len(news.train)


def test_a_method_that_cannot_is_listed_with_the_reason(tested):
    assert [s.name for s in tested.failed] == ["msvm"]
    assert "msvm takes one a row" in tested["msvm"].error
    assert "msvm" not in {s.name for s in tested.ranked}
    assert "msvm has no result." in verdict(tested)
    assert "msvm: The method 'msvm' does not suit the data" in str(tested)


def test_an_unexpected_error_loses_only_its_own_method(news, monkeypatch):
    real = comparing.train

    def breaking(part, taxonomy, method, *args, **options):
        if method == "perceptron":
            raise ZeroDivisionError("by zero")
        return real(part, taxonomy, method, *args, **options)

    monkeypatch.setattr(comparing, "train", breaking)
    comparison = compare(["perceptron", "svm"], news, rule="zero")
    assert comparison["perceptron"].error == "ZeroDivisionError: by zero"
    assert comparison.best().name == "svm"


def test_ctrl_c_stops_everything(news, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(comparing, "train", stop)
    with pytest.raises(KeyboardInterrupt):
        compare(["svm"], news)


def test_costs_probabilities_and_certificates(tested):
    svm, logistic = tested["svm"], tested["logistic"]
    assert svm.calibration is None
    assert 0 <= logistic.calibration.expected_calibration_error <= 1
    assert svm.cost.cpu_seconds > 0 and svm.rows_per_second > 0 and svm.model_bytes > 1000
    assert 0 <= svm.gap <= 1e-3
    assert svm.sweep.points and svm.sweep.decided is not None


def test_sizes_count_the_rows_of_a_label_itself(news, tested):
    own = news.taxonomy.most_specific(news.Y("train"))
    counts = np.bincount(own.indices, minlength=len(news.taxonomy))
    assert (tested["svm"].report.n_train == counts).all()
    closed = np.bincount(news.taxonomy.closure(own).indices, minlength=len(news.taxonomy))
    assert (tested.train_counts == closed).all()


def test_the_flat_variant_is_judged_by_the_taxonomy(news, tested):
    flat = tested["svm:flat"]
    assert flat.predicted.shape[1] == len(news.taxonomy)
    assert (flat.predicted != news.taxonomy.closure(flat.predicted)).nnz == 0


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result(news, crossed):
    again = compare(["svm", "perceptron"], news, folds=3, rule="argmax")
    for a, b in zip(crossed, again, strict=True):
        assert a.figures == b.figures and a.errors == b.errors
    assert again.pair_tests == crossed.pair_tests


def test_plain_data_is_json(crossed):
    found = json.loads(json.dumps(crossed.to_dict(), allow_nan=False, default=str))
    assert set(found) == {
        "setting", "verdict", "best", "baseline", "methods", "tests", "level_tests", "size_tests",
    }  # fmt: skip
    assert found["setting"]["folds"] == 3
    svm = found["methods"]["svm"]
    assert svm["micro_f1"] == crossed["svm"].figures["micro_f1"]
    assert set(svm["standard_error"]) == set(FIGURES)
    assert len(svm["folds"]["micro_f1"]) == 3


def test_progress_is_told(news):
    told = []
    compare(["svm", "logistic"], news, folds=2, rule="zero", step=lambda *a: told.append(a))
    assert told[0] == ("features", 0, 4)
    assert ("svm, fold 2", 2, 4) in told
    assert told[-1] == ("logistic", 4, 4)


def test_a_missing_test_part_and_an_unknown_method_are_refused(news):
    alone = Collection(news.taxonomy, news.train, name="newsroom")
    with pytest.raises(UserError, match="newsroom has no test part to be judged by. Use folds"):
        compare(["svm"], alone)
    with pytest.raises(UserError, match="'rr-svn' is not known .did you mean 'rr-svm'"):
        compare(["rr-svn"], news)
    with pytest.raises(UserError, match="'svm' was not compared"):
        made_up()["svm"]


def test_one_label_per_row_and_tables(news):
    rng = np.random.default_rng(0)
    leaves = news.taxonomy.leaves[:4]
    y = rng.integers(0, 4, 80)
    X = np.eye(4)[y] + 0.1 * rng.normal(size=(80, 4))
    labels = [[leaves[k]] for k in y]
    part = Part(labels, [str(i) for i in range(80)], X=X)
    data = Collection(news.taxonomy, part.take(range(60)), test=part.take(range(60, 80)))
    comparison = compare(["msvm", "mlr"], data)
    assert comparison["msvm"].figures["micro_f1"] == 1.0
    assert comparison["msvm"].rule == "own"
    assert comparison["mlr"].calibration is not None
    assert comparison["msvm"].mistakes == [] and comparison["msvm"].confusions == []


def test_a_single_model_is_a_comparison_of_one(news):
    model = train(news.train, news.taxonomy, "svm", rule="zero")
    comparison = judge_model(model, news.test, data="newsroom")
    report = model.evaluate(news.test.texts, news.test.labels)
    (result,) = comparison.ranked
    assert result.name == "svm" and result.cost is None
    assert_allclose(result.figures["micro_f1"], report["micro_f1"])
    assert comparison.pair_tests == () and comparison.level_tests == ()
    assert " are right (" in verdict(comparison)[0] and "Always answering" in verdict(comparison)[0]


def test_the_verdict_names_the_best_and_whom_it_does_not_beat():
    clear = verdict(made_up(300, noise={"good": 0.05, "poor": 0.7}))
    assert clear[0].startswith("good is best in micro F1 (")
    assert "ahead of poor, which is more than chance (p < 0.001)" in clear[0]
    assert clear[-1] == "odd has no result."
    even = verdict(made_up(40, noise={"one": 0.3, "two": 0.3}))
    assert ", which may be chance (p = " in even[0]


def test_a_comparison_without_results_says_so():
    comparison = made_up(noise={})
    assert verdict(comparison) == ["No method has a result."]
    assert comparison.to_dict()["best"] == {}
    with pytest.raises(UserError, match="No method has a result"):
        comparison.best()
