"""Label sets on a test part: thresholds out of fold, tests, standard errors, what goes wrong."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linnaeus import HM3, FlatSVM, MulticlassSVM, RankingSVM, RecursiveSVM, Taxonomy, TopDown
from linnaeus.decisions import InstanceCut, Threshold
from linnaeus.errors import UserError
from linnaeus.experiments import LabelSetStudy, NotApplicable, f1_spread, label_set_study
from linnaeus.metrics import (
    count_wins,
    evaluate,
    hierarchical_f1,
    macro_f1,
    micro_f1,
    sign_test,
    wilcoxon_test,
)
from linnaeus.metrics.inputs import Pair
from linnaeus.synthetic import make_hierarchical

X, Y, TAX = make_hierarchical(fan_out=3, depth=2, n_samples=240, random_state=0)
TRAIN, TEST = np.arange(160), np.arange(160, 240)
SEVERAL = TAX.most_specific(Y)
SETS = TAX.decode(SEVERAL)
ONE = np.array([row[0] for row in SETS])


def svm(**parameters):
    return FlatSVM(TAX, random_state=0, **parameters)


def study_of(methods, y, **options):
    rows = [[y[i] for i in part] if isinstance(y, list) else y[part] for part in (TRAIN, TEST)]
    options = {"n_draws": 20, "cv": 3} | options
    return label_set_study(methods, X[TRAIN], rows[0], X[TEST], rows[1], TAX, **options)


def test_one_label_is_the_argmax():
    study = study_of({"svm": svm(C=0.5)}, ONE)
    predicted = svm(C=0.5).fit(X[TRAIN], ONE[TRAIN]).predict(X[TEST])
    out = study["svm"]
    assert out.report["micro_f1"] == np.mean(predicted == ONE[TEST])
    assert out.figures["macro_f1"] == pytest.approx(macro_f1(ONE[TEST], predicted, TAX))
    assert out.figures["hierarchical_f1"] == pytest.approx(
        hierarchical_f1(ONE[TEST], predicted, TAX)
    )
    closed = evaluate(ONE[TEST], predicted, TAX).nodes.f1
    assert out.figures["hierarchical_macro_f1"] == pytest.approx(closed.mean())
    assert out.C == 0.5 and out.fit_seconds > 0 and study.methods == ("svm",)


@pytest.mark.parametrize("cut", ["instance", "zero", None])
def test_several_labels_are_cut(cut):
    rule = {
        "instance": InstanceCut(svm(), TAX, cv=3, random_state=7),
        "zero": Threshold(svm(), TAX),
        None: svm(),
    }[cut]
    expected = rule.fit(X[TRAIN], SEVERAL[TRAIN]).predict(X[TEST])
    study = study_of({"svm": svm()}, SEVERAL, cut=cut, random_state=7)
    report = evaluate(SEVERAL[TEST], expected, TAX)
    assert study["svm"].report["micro_f1"] == report["micro_f1"]
    assert study["svm"].report["macro_f1"] == report["macro_f1"]


@pytest.mark.parametrize("form", ["lists", "dense", "closed"])
def test_forms_of_labels_do_not_matter(form):
    given = {
        "lists": SETS,
        "dense": SEVERAL.toarray(),
        "closed": TAX.closure(SEVERAL),
    }[form]
    expected = study_of({"svm": svm()}, SEVERAL)
    assert study_of({"svm": svm()}, given)["svm"].figures == expected["svm"].figures


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the label sets of the rows it has seen, and nothing about others."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X, Y):
        known = sp.csr_array(Y).toarray()
        self.seen_ = {row.tobytes(): labels for row, labels in zip(X, known, strict=True)}
        self.classes_ = np.arange(Y.shape[1])
        return self

    def decision_function(self, X):
        """1 for labels known, -1 for others; of a row never seen no more than its features say."""
        guess = np.tanh(X[:, :1]) * 0.1 + np.linspace(0, 1, len(self.classes_))
        known = [self.seen_.get(row.tobytes()) for row in X]
        return np.array(
            [g if k is None else 100.0 * (2 * k - 1) for g, k in zip(guess, known, strict=True)]
        )

    predict = None


def test_thresholds_never_see_a_row_that_the_model_has_seen():
    """Scores in fold are +-100, with ideal thresholds near 0; out of fold all are between 0 and 1.

    A threshold learnt in fold would be 0, which lets every label through.
    """
    study = study_of({"memory": Memory()}, SEVERAL)
    out_of_fold = study["memory"].report["predicted_per_row"]
    in_fold = InstanceCut(Memory().fit(X[TRAIN], SEVERAL[TRAIN]), TAX, cv="prefit")
    in_fold.fit(X[TRAIN], SEVERAL[TRAIN])
    assert in_fold.costs_.max() == 0  # the memory is perfect on what it has seen
    assert np.abs(in_fold.thresholds_).max() < 1e-6
    everything = np.diff(TAX.most_specific(in_fold.predict(X[TEST])).indptr).mean()
    assert everything >= len(TAX.leaves) - 1 and out_of_fold < everything / 2


def test_functions_see_the_training_part_only():
    seen = {}

    def choose(part, labels):
        seen["X"], seen["y"] = part, labels
        return make_pipeline(StandardScaler(), svm(C=3.0))

    out = study_of({"f": choose}, SEVERAL)["f"]
    assert (seen["X"] == X[TRAIN]).all() and (seen["y"] != SEVERAL[TRAIN]).nnz == 0
    assert out.C == 3.0 and not out.error
    study_of({"f": choose}, ONE)
    assert (seen["y"] == ONE[TRAIN]).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Label not")
def test_any_classifier_will_do():
    methods = {
        "theirs": OneVsRestClassifier(LogisticRegression()),
        "pipeline": make_pipeline(StandardScaler(), FlatSVM(random_state=0)),
        "tree": TopDown(TAX, random_state=0),
        "recursive": RecursiveSVM(TAX, random_state=0),
    }
    study = study_of(methods, SEVERAL)
    for name in methods:
        assert study[name].error == "" and study[name].figures["micro_f1"] > 0.2


def test_inner_nodes_with_labels_of_their_own():
    """Every node is a class, and the classifier has them in another order than the taxonomy."""
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "a1"), ("a", "a2")])
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, (150, 2))
    rows = np.eye(5)[y].max(axis=1) + 0.05 * rng.normal(size=(150, 5))
    labels = [[tax.nodes[i] for i in set(row)] for row in y.tolist()]
    study = label_set_study({"svm": FlatSVM(tax, C=10)}, rows, labels, rows, labels, tax, n_draws=0)
    assert study["svm"].figures["micro_f1"] > 0.9 and study["svm"].spread is None


@pytest.mark.slow
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_ancestors_of_a_label_are_no_errors_where_every_node_is_a_class(in_pipeline):
    model = HM3(TAX, random_state=0)
    method = make_pipeline(StandardScaler(with_mean=False, with_std=False), model)
    figures = study_of({"a": method if in_pipeline else model}, SEVERAL)["a"].figures
    rule = InstanceCut(model, TAX, cv=3, random_state=0)
    predicted = rule.fit(X[TRAIN], TAX.closure(SEVERAL[TRAIN])).predict(X[TEST])
    assert figures["micro_f1"] == evaluate(SEVERAL[TEST], predicted, TAX)["micro_f1"]
    unclosed = rule.fit(X[TRAIN], SEVERAL[TRAIN]).predict(X[TEST])
    assert figures["micro_f1"] == evaluate(SEVERAL[TEST], unclosed, TAX)["micro_f1"]


def test_methods_for_one_label_are_not_applicable_to_several():
    def never(part, labels):
        raise NotApplicable("for one label per row only")

    methods = {"MSVM": MulticlassSVM(TAX), "BSVM": svm(), "HSVM": never}
    study = study_of(methods, SEVERAL)
    assert study["MSVM"].not_applicable == "MulticlassSVM takes one label per row."
    assert study["HSVM"].not_applicable == "for one label per row only"
    assert study["HSVM"].report is None and study["HSVM"].figures == {}
    lines = study.table().splitlines()
    assert lines[1].split() == ["MSVM", *["NA"] * 4, *["-"] * 2]
    assert "HSVM: for one label per row only" in lines
    plain = json.loads(json.dumps(study.to_dict(), allow_nan=False))
    assert plain["methods"]["HSVM"] == {"not_applicable": "for one label per row only"}
    assert study_of({"MSVM": MulticlassSVM(TAX)}, ONE)["MSVM"].figures["micro_f1"] > 0.2


def test_a_failing_method_does_not_lose_the_others():
    def broken(part, labels):
        raise RuntimeError("out of paper")

    done = []
    study = study_of(
        {"bad": broken, "worse": svm(C=-1.0), "good": svm()}, SEVERAL,
        callback=lambda *at: done.append(at),
    )  # fmt: skip
    assert study["bad"].error == "RuntimeError: out of paper"
    assert "C is -1.0" in study["worse"].error
    assert study["good"].report is not None and done == [(1, 3), (2, 3), (3, 3)]
    assert "bad: RuntimeError: out of paper" in str(study)
    assert study.to_dict()["methods"]["bad"] == {"error": "RuntimeError: out of paper"}


def test_ctrl_c_ends_the_study():
    def interrupt(part, labels):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study_of({"a": interrupt}, ONE)


def test_all_are_tested_against_the_first_if_nothing_is_said():
    study = study_of({"a": svm(), "b": svm(C=1e-4), "c": svm(C=0.1)}, ONE)
    assert [(t.method, t.baseline) for t in study.tests] == [("b", "a"), ("c", "a")]


@pytest.mark.slow
@pytest.mark.parametrize("labels", [ONE, SEVERAL], ids=["one", "several"])
def test_marks_are_those_of_the_tests(labels):
    methods = {"BSVM": svm(), "TD": svm(C=1e-4), "RR-SVM": RecursiveSVM(TAX, random_state=0)}
    pairs = {"BSVM": "TD", "RR-SVM": ("BSVM", "TD")}
    study = study_of(methods, labels, against=pairs)
    assert [(t.method, t.baseline) for t in study.tests] == [
        ("BSVM", "TD"), ("RR-SVM", "BSVM"), ("RR-SVM", "TD"),
    ]  # fmt: skip
    for test in study.tests:
        mine, theirs = (study[name].report.own for name in (test.method, test.baseline))
        assert test.micro == sign_test(*count_wins(mine.true, mine.pred, theirs.pred))
        f1 = [2 * tp / np.maximum(all_, 1) for tp, all_ in map(_by_class, (mine, theirs))]
        assert test.macro.pvalue == pytest.approx(wilcoxon_test(*f1).pvalue)
        micro = [study[name].figures["micro_f1"] for name in (test.method, test.baseline)]
        assert test.micro_difference == pytest.approx(micro[0] - micro[1])
        line = next(
            line
            for line in study.table().splitlines()
            if line.startswith(f"{test.method} against {test.baseline}")
        )
        micro_p, macro_p = test.micro.pvalue, test.macro.pvalue
        assert line.count("†") == _n_marks(micro_p) + _n_marks(macro_p)
        assert f"{micro_p:.3g}{' ' * (micro_p < 0.05)}{'†' * _n_marks(micro_p)}" in line
    assert min(test.micro.pvalue for test in study.tests) < 0.05
    assert study.to_dict()["tests"][0]["micro"]["pvalue"] == study.tests[0].micro.pvalue


def _n_marks(p):
    return (p < 0.05) + (p < 0.01)


def _by_class(own):
    true, pred = own.true.toarray(), own.pred.toarray()
    return (true & pred).sum(axis=0), (true + pred).sum(axis=0)


def test_studies_of_the_same_rows_can_be_put_together():
    both = study_of({"a": svm(), "b": svm(C=1e-4)}, ONE, against={"a": "b"})
    parts = [study_of({name: svm(C=C)}, ONE) for name, C in (("a", 1.0), ("b", 1e-4))]
    joined = LabelSetStudy({**parts[0].results, **parts[1].results}, {"a": ["b"]})
    assert joined.tests == both.tests and len(both.tests) == 1


@pytest.mark.parametrize("size", [1 << 22, 100])
def test_standard_errors_are_those_of_plain_resampling(size, monkeypatch):
    monkeypatch.setattr("linnaeus.experiments.bootstrap.NUMBERS", size)
    rng = np.random.default_rng(3)
    true, pred = (rng.random((40, 6)) < 0.3).astype(np.int8), (rng.random((40, 6)) < 0.3)
    pred = pred.astype(np.int8)
    true[:, 5] = pred[:, 5] = 0  # a class that never occurs counts as 0
    spread = f1_spread(Pair(sp.csr_array(true), sp.csr_array(pred)), 50, 11)
    drawn = np.random.default_rng(11).integers(0, 40, (50, 40))
    micro = [micro_f1(true[rows], pred[rows]) for rows in drawn]
    macro = [macro_f1(true[rows], pred[rows]) for rows in drawn]
    assert spread.micro_f1 == pytest.approx(np.std(micro, ddof=1), rel=1e-12)
    assert spread.macro_f1 == pytest.approx(np.std(macro, ddof=1), rel=1e-12)


def test_a_study_repeats():
    first, again = (study_of({"svm": svm()}, SEVERAL, random_state=5)["svm"] for _ in range(2))
    assert first.figures == again.figures and first.spread == again.spread
    other = study_of({"svm": svm()}, SEVERAL, random_state=np.random.RandomState(0))["svm"]
    assert other.spread != first.spread


@pytest.mark.parametrize(
    "change, message",
    [
        ({"methods": {}}, "No methods are given"),
        ({"methods": {"a": "svm"}}, "The method 'a' is 'svm', which has no fit"),
        ({"cut": "half"}, "cut='half' is not known. Use 'instance', 'zero' or None"),
        ({"against": {"a": "c"}}, "against names 'c', which is no method. There are: a"),
        ({"n_draws": 1}, "n_draws is 1. A deviation needs at least 2 draws"),
        ({"X": X[:5]}, "X has 5 rows, but there are 160 label sets"),
        ({"X_test": X[:5]}, "X_test has 5 rows, but there are 80 label sets"),
    ],
)
def test_mistakes_are_named(change, message):
    given = {
        "methods": {"a": svm()}, "X": X[TRAIN], "y": ONE[TRAIN], "X_test": X[TEST],
        "y_test": ONE[TEST], "taxonomy": TAX,
    }  # fmt: skip
    with pytest.raises(UserError, match=message):
        label_set_study(**given | change)
    with pytest.raises(UserError, match="The method 'b' is not in the study. It has: a"):
        LabelSetStudy({"a": study_of({"a": svm()}, ONE)["a"]}, {})["b"]


def test_hsvm_of_the_paper_is_a_ranking_machine():
    model = RankingSVM(TAX, loss="half_distance", attributes="ones", rescale="slack")
    assert study_of({"HSVM": model}, ONE)["HSVM"].figures["micro_f1"] > 0.3
