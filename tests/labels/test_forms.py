"""A table of forms of labels times everything that takes labels: one answer, or one clear error."""

from __future__ import annotations

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from linnaeus import (
    FlatSVM,
    HierarchicalPerceptron,
    HierarchicalRLS,
    MulticlassSVM,
    Taxonomy,
    metrics,
)
from linnaeus.decisions import Argmax, ClosedArgmax, InstanceCut, SCut, Threshold
from linnaeus.decisions.rules import choose_rule, fit_rule
from linnaeus.errors import UserError
from linnaeus.experiments import cross_validate_ranking, label_set_study
from linnaeus.induction import confusion_counts, learn_taxonomy
from linnaeus.inference import label_set_argmax, repair
from linnaeus.labels import found, parse
from linnaeus.losses import label_set_loss, set_loss
from linnaeus.splits import at_most_per_class, k_folds, t_per_class, train_test_split

TAX = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
ONE = [["cat"], ["dog"], ["oak"], ["dog"], ["cat"], ["oak"], ["dog"], ["oak"]]
SEVERAL = [["cat"], ["dog", "oak"], ["oak"], [], ["cat", "oak"], ["oak"], ["dog"], ["cat", "dog"]]
N = len(ONE)
X = np.random.default_rng(0).normal(size=(N, 4))
SCORES = np.random.default_rng(1).random((N, len(TAX.leaves)))
HALVES = [(np.arange(4, N), np.arange(4)), (np.arange(4), np.arange(4, N))]
COLUMNS = ["oak", "animal", "dog", "plant", "cat"]

pytestmark = pytest.mark.filterwarnings(
    f"ignore::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}"
)


def bits(rows, names=TAX.nodes):
    return np.array([[int(v in row) for v in names] for row in rows])


def objects(values):
    """An array of whatever it is."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def first(rows):
    return [row[0] for row in rows]


FORMS_OF_ONE = {
    "list": first,
    "tuple": lambda rows: tuple(first(rows)),
    "array": lambda rows: np.array(first(rows)),
    "object array": lambda rows: np.array(first(rows), dtype=object),
    "numpy names": lambda rows: list(np.array(first(rows))),
    "series": lambda rows: pd.Series(first(rows)),
    "shifted series": lambda rows: pd.Series(first(rows), index=range(5, 5 + len(rows))),
    "categorical": lambda rows: pd.Series(first(rows), dtype="category"),
    "index": lambda rows: pd.Index(first(rows)),
    "generator": lambda rows: (row[0] for row in rows),
    "column": lambda rows: np.array(first(rows))[:, None],
    "column of a frame": lambda rows: pd.DataFrame({"label": first(rows)}),
}
FORMS_OF_SETS = {
    "lists": lambda rows: [list(row) for row in rows],
    "tuples": lambda rows: tuple(tuple(row) for row in rows),
    "sets": lambda rows: [set(row) for row in rows],
    "frozensets and lists": lambda rows: [frozenset(rows[0]), *rows[1:]],
    "arrays": lambda rows: [np.array(row, dtype=object) for row in rows],
    "object array of lists": objects,
    "series of lists": pd.Series,
    "generator of lists": lambda rows: (row for row in rows),
    "repeated": lambda rows: [2 * row for row in rows],
    "dense": bits,
    "bool": lambda rows: bits(rows) > 0,
    "float": lambda rows: bits(rows).astype(float),
    "object matrix": lambda rows: bits(rows).astype(object),
    "signs": lambda rows: 2 * bits(rows) - 1,
    "csr": lambda rows: sp.csr_array(bits(rows)),
    "csr matrix": lambda rows: sp.csr_matrix(bits(rows)),
    "csc": lambda rows: sp.csc_array(bits(rows)),
    "coo": lambda rows: sp.coo_array(bits(rows)),
    "bit lists": lambda rows: bits(rows).tolist(),
    "bit tuples": lambda rows: list(map(tuple, bits(rows).tolist())),
    "lists of bool": lambda rows: (bits(rows) > 0).tolist(),
    "bit arrays": lambda rows: list(bits(rows)),
    "leaves": lambda rows: bits(rows, TAX.leaves),
    "sparse leaves": lambda rows: sp.csr_array(bits(rows, TAX.leaves)),
    "frame": lambda rows: pd.DataFrame(bits(rows), columns=list(TAX.nodes)),
    "frame in any order": lambda rows: pd.DataFrame(bits(rows, COLUMNS), columns=COLUMNS),
    "frame of leaves": lambda rows: pd.DataFrame(bits(rows, COLUMNS[::2]), columns=COLUMNS[::2]),
    "bool frame": lambda rows: pd.DataFrame(bits(rows, COLUMNS) > 0, columns=COLUMNS),
    "nullable frame": lambda rows: pd.DataFrame(bits(rows, COLUMNS), columns=COLUMNS, dtype="Int8"),
}


def coefficients(model):
    coef = model.coef_
    return coef.toarray() if sp.issparse(coef) else np.asarray(coef)


def decided(rule):
    return rule.decide(SCORES).toarray()


def by_wrapping(rule, y):
    model = rule.fit(X, y)
    return model.decide(model.class_scores(X)).toarray()


def partly(y):
    return coefficients(HierarchicalPerceptron(TAX, random_state=0).partial_fit(X, y))


def studied(y):
    study = label_set_study({"svm": svm()}, X, y, X, bits(SEVERAL), TAX, cut="zero", n_draws=0)
    return study["svm"].report["micro_f1"]


def svm(taxonomy=TAX):
    return FlatSVM(taxonomy, random_state=0)


TRUE = bits(SEVERAL)
CONSUMERS = {
    "encode": lambda y: TAX.encode(y).toarray(),
    "closure": lambda y: _dense(TAX.closure(y)),
    "most_specific": lambda y: _dense(TAX.most_specific(y)),
    "restrict": lambda y: list(TAX.restrict(y)),
    "with_misc": lambda y: list(TAX.with_misc(y)),
    "label_set_loss": lambda y: label_set_loss(y, TRUE, TAX, "unif"),
    "set_loss": lambda y: set_loss(TRUE, y, TAX),
    "repair": lambda y: repair(TAX, y, "up").toarray(),
    "label_set_argmax": lambda y: label_set_argmax(TAX, SCORES, y)[1],
    "FlatSVM": lambda y: coefficients(svm().fit(X, y)),
    "HierarchicalRLS": lambda y: coefficients(HierarchicalRLS(TAX).fit(X, y)),
    "partial_fit": partly,
    "SCut": lambda y: by_wrapping(SCut(svm(), TAX, cv=HALVES), y),
    "ClosedArgmax": lambda y: by_wrapping(ClosedArgmax(svm(), TAX, cv=HALVES), y),
    "InstanceCut.fit_scores": lambda y: decided(
        InstanceCut(taxonomy=TAX).fit_scores(SCORES, y, TAX.leaves)
    ),
    "fit_rule": lambda y: decided(fit_rule("scut", SCORES, y, TAX, TAX.leaves)),
    "choose_rule": lambda y: choose_rule(SCORES, y, TAX, TAX.leaves).table[0]["micro_f1"],
    "micro_f1": lambda y: metrics.micro_f1(y, TRUE, TAX),
    "micro_f1 of predictions": lambda y: metrics.micro_f1(TRUE, y, TAX),
    "precision_recall_f1": lambda y: metrics.precision_recall_f1(y, TRUE, TAX),
    "by level": lambda y: [
        level["f1"] for level in metrics.precision_recall_f1(y, TRUE, TAX, by="level")
    ],
    "by support": lambda y: [
        size["classes"]
        for size in metrics.precision_recall_f1(TRUE, TRUE, TAX, by="support", Y_train=y)
    ],
    "zero_one_loss": lambda y: metrics.zero_one_loss(y, TRUE, TAX),
    "hierarchical_loss": lambda y: metrics.hierarchical_loss(y, TRUE, TAX),
    "hierarchical_f1": lambda y: metrics.hierarchical_f1(y, TRUE, TAX),
    "subscription_loss": lambda y: metrics.subscription_loss(y, TRUE, TAX),
    "count_wins": lambda y: metrics.count_wins(TRUE, y, 1 - TRUE, TAX, unit="decision"),
    "one_accuracy": lambda y: metrics.one_accuracy(y, SCORES, TAX),
    "ranking_loss": lambda y: metrics.ranking_loss(y, SCORES, TAX),
    "calibration": lambda y: metrics.calibration(y, SCORES, TAX).brier,
    "sweep": lambda y: metrics.sweep(TAX, y, SCORES).best["f1"],
    "evaluate": lambda y: metrics.evaluate(TAX, y, TRUE)["micro_f1"],
    "evaluate scores": lambda y: metrics.evaluate(TAX, TRUE, y, SCORES)["average_precision"],
    "learn_taxonomy": lambda y: learn_taxonomy(X, y, classes=TAX.nodes).edges,
    "confusion_counts": lambda y: confusion_counts(TRUE, y, TAX.nodes)[1],
    "cross_validate_ranking": lambda y: cross_validate_ranking(svm(), X, y, TAX, folds=HALVES).mean(
        "FlatSVM", "one_accuracy"
    ),
    "label_set_study": studied,
}
ALONE = {  # know no taxonomy, and need none
    "k_folds": lambda y: np.sort(np.concatenate([test for _, test in k_folds(y, 2, 0)])),
    "train_test_split": lambda y: len(train_test_split(y, 2, 0)[1]),
    "at_most_per_class": lambda y: at_most_per_class(y, N),
    "t_per_class": lambda y: [len(train) for train, _ in t_per_class(y, N, 2, 0)],
}


def _dense(Y):
    """Closures answer in the form of the question."""
    Y = Y.toarray() if sp.issparse(Y) else np.asarray(Y)
    return (Y > 0).astype(int)


def answer(consumer, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataConversionWarning)
        return consumer(y)


def same(a, b):
    if isinstance(a, str) or (isinstance(a, list | tuple) and a and isinstance(a[0], str | tuple)):
        assert a == b
    else:
        np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=1e-12)


@pytest.fixture(scope="module")
def expected():
    """The answer to the plain indicator, for each consumer."""
    cases = itertools.product({**CONSUMERS, **ALONE}.items(), (ONE, SEVERAL))
    return {
        (name, rows is ONE): answer(consumer, sp.csr_array(bits(rows)))
        for (name, consumer), rows in cases
    }


@pytest.mark.parametrize("consumer", [*CONSUMERS, *ALONE])
@pytest.mark.parametrize("form", [*FORMS_OF_ONE, *FORMS_OF_SETS])
def test_every_form_means_the_same_to_every_consumer(form, consumer, expected):
    if (
        "leaves" in form
        and "frame" not in form
        and consumer in ("learn_taxonomy", "confusion_counts")
    ):
        pytest.skip("is given names for the columns, which are then those of the nodes")
    make = {**FORMS_OF_ONE, **FORMS_OF_SETS}[form]
    call = {**CONSUMERS, **ALONE}[consumer]
    same(answer(call, make(ONE)), expected[consumer, True])
    if form in FORMS_OF_SETS:
        same(answer(call, make(SEVERAL)), expected[consumer, False])


MISSING = "Row 3: {} is a missing value, no label. Leave the row out, or give lists of labels with"
UNKNOWN = "Row 3: 'catt' is not a node of the taxonomy (did you mean 'cat'?). Use one of the 5"
NO_LABEL = "is no label. Labels are texts or whole numbers"
ONE_PER_ROW = "Give one entry per row: a label, or a list of labels."


def with_row(value, rows=ONE):
    return [*rows[:3], value, *rows[4:]]


def frame(names):
    return pd.DataFrame(bits(ONE, names), columns=names)


BAD = {  # form: (labels, message)
    "None among lists": (lambda: with_row(None), MISSING.format("None")),
    "None among labels": (lambda: with_row(None, first(ONE)), MISSING.format("None")),
    "None in a list": (lambda: with_row(["cat", None]), MISSING.format("None")),
    "None in an array": (lambda: objects(with_row(None, first(ONE))), MISSING.format("None")),
    "NaN among lists": (lambda: with_row(np.nan), MISSING.format("nan")),
    "NaN among labels": (lambda: with_row(np.nan, first(ONE)), MISSING.format("nan")),
    "NaN in a series": (lambda: pd.Series(with_row(None, first(ONE))), MISSING.format("nan")),
    "NaN among numbers": (lambda: np.array([1.0, 2, 1, np.nan, 2, 1, 2, 1]), MISSING.format("nan")),
    "NA in a list": (lambda: with_row([pd.NA]), MISSING.format("<NA>")),
    "NA in an array": (lambda: objects(with_row(pd.NA, first(ONE))), MISSING.format("<NA>")),
    "a label among lists": (
        lambda: with_row("cat"),
        "Row 3 is the label 'cat', but row 0 is a list of labels. Give lists for all rows "
        "(['cat'] for this one), or one label for each.",
    ),
    "a list among labels": (
        lambda: with_row(["cat"], first(ONE)),
        "Row 0 is the label 'cat', but row 3 is a list of labels.",
    ),
    "lists in lists": (lambda: with_row([["cat"]]), f"Row 3: ['cat'] {NO_LABEL}"),
    "a mapping": (lambda: with_row({"cat": 1}, first(ONE)), f"Row 3: {{'cat': 1}} {NO_LABEL}"),
    "a text": (lambda: "cat", f"The labels are 'cat'. {ONE_PER_ROW}"),
    "a set": (lambda: {"cat"}, f"The labels are {{'cat'}}. {ONE_PER_ROW}"),
    "a number": (lambda: 3, f"The labels are 3. {ONE_PER_ROW}"),
    "a mapping of rows": (lambda: {0: "cat"}, f"The labels are {{0: 'cat'}}. {ONE_PER_ROW}"),
    "three dimensions": (lambda: np.zeros((N, 2, 2)), f"The labels have the shape ({N}, 2, 2)."),
    "a matrix of texts": (
        lambda: np.array([["animal", "cat"]] * N),
        "The labels are a matrix that holds 'animal'; only 0 and 1 mean something here.",
    ),
    "a frame of texts": (
        lambda: pd.DataFrame({"animal": ["cat"] * N, "plant": ["oak"] * N}),
        "The labels are a matrix that holds 'cat'; only 0 and 1 mean something here.",
    ),
    "other numbers": (lambda: 2 * bits(ONE), "The label indicator holds the value 2; only 0 and 1"),
    "other numbers, sparse": (
        lambda: sp.csr_array(3 * bits(ONE)),
        "The label indicator holds the value 3; only 0 and 1",
    ),
    "NaN in an indicator": (
        lambda: np.where(bits(ONE), np.nan, 0.0),
        "The label indicator holds the value nan",
    ),
}
BAD_NODES = {  # what only a taxonomy can tell
    "an unknown label": (lambda: with_row("catt", first(ONE)), UNKNOWN),
    "an unknown label in lists": (lambda: with_row(["catt"]), UNKNOWN),
    "an unknown label in an array": (lambda: np.array(with_row("catt", first(ONE))), UNKNOWN),
    "numbers that are no nodes": (
        lambda: np.arange(N) % 3,
        "Row 0: 0 is not a node of the taxonomy.",
    ),
    "letters": (lambda: list(map(list, first(ONE))), "Row 0: 'c' is not a node of the taxonomy"),
    "too few columns": (
        lambda: bits(ONE)[:, :4],
        "The label indicator has 4 columns, but the taxonomy has 5 nodes and 3 leaves. Make it",
    ),
    "too few sparse columns": (
        lambda: sp.csr_array(bits(ONE)[:, :4]),
        "The label indicator has 4 columns, but the taxonomy has 5 nodes and 3 leaves. Make it",
    ),
    "too few bits": (
        lambda: bits(ONE)[:, :4].tolist(),
        "Row 0 is [0, 1, 0, 0], but neither 0 nor 1 is a node of the taxonomy. Rows of 0 and 1 "
        "need a column for each of the 5 nodes; these have 4.",
    ),
    "an unknown column": (
        lambda: frame(["cat", "dog", "oka"]),
        "A column of labels has an unknown name: 'oka' is not a node of the taxonomy",
    ),
    "columns without names": (
        lambda: pd.DataFrame(bits(ONE)),
        "A column of labels has an unknown name: 0 is not a node of the taxonomy",
    ),
    "a column twice": (
        lambda: frame(["cat", "dog", "cat"]),
        "Two columns of labels are named 'cat'. Name each once.",
    ),
}
COUNTS_COLUMNS = {"too few columns", "too few sparse columns"}  # in words of its own


@pytest.mark.parametrize("consumer", [*CONSUMERS, *ALONE])
@pytest.mark.parametrize("form", [*BAD, *BAD_NODES])
def test_every_mistake_is_the_same_error_everywhere(form, consumer):
    if form in BAD_NODES and consumer in ALONE:
        pytest.skip("knows no nodes")
    if form == "a set" and consumer in ("restrict", "with_misc"):
        pytest.skip("takes names in any order")
    make, message = {**BAD, **BAD_NODES}[form]
    if form in COUNTS_COLUMNS and consumer in ("learn_taxonomy", "confusion_counts"):
        message = "The label indicator has 4 columns, but `classes` has 5 names."
    if consumer in ("learn_taxonomy", "confusion_counts"):
        message = message.replace("5 nodes and 3 leaves", "5 nodes and 5 leaves")
    with pytest.raises(UserError, match=re.escape(message)):
        answer({**CONSUMERS, **ALONE}[consumer], make())


# -- without a taxonomy ----------------------------------------------------------------------------


FLAT_INDICATORS = [
    "dense", "bool", "float", "object matrix", "signs", "csr", "csr matrix", "csc", "coo",
    "bit lists", "bit tuples", "lists of bool", "bit arrays", "frame", "bool frame",
]  # fmt: skip
WITHOUT = {
    "FlatSVM": lambda y: coefficients(svm(None).fit(X, y)),
    "HierarchicalRLS": lambda y: coefficients(HierarchicalRLS().fit(X, y)),
    "Threshold": lambda y: by_wrapping(Threshold(svm(None)), y),
    "micro_f1": lambda y: (
        metrics.micro_f1(*itertools.tee(y)) if hasattr(y, "__next__") else metrics.micro_f1(y, y)
    ),
    "calibration": lambda y: metrics.calibration(y, np.abs(X[:, :3])[:, [0, 1, 2]] % 1).brier,
}


@pytest.mark.parametrize("consumer", [*WITHOUT, *ALONE])
def test_forms_without_a_taxonomy(consumer):
    call = {**WITHOUT, **ALONE}[consumer]
    one = answer(call, first(ONE))
    for form in FORMS_OF_ONE:
        same(answer(call, FORMS_OF_ONE[form](ONE)), one)
    if consumer == "calibration":
        return  # of as many columns as there are labels
    indicator = answer(call, sp.csr_array(bits(SEVERAL)))
    for form in FLAT_INDICATORS:
        if form != "bool frame":  # its columns are in another order
            same(answer(call, FORMS_OF_SETS[form](SEVERAL)), indicator)


@pytest.mark.parametrize("consumer", WITHOUT)
@pytest.mark.parametrize("form", ["lists", "tuples", "sets", "arrays", "series of lists"])
def test_lists_need_a_taxonomy(form, consumer):
    with pytest.raises(UserError, match=r"Lists of labels \(the first is .*\) need a taxonomy"):
        WITHOUT[consumer](FORMS_OF_SETS[form](SEVERAL))


@pytest.mark.parametrize("consumer", WITHOUT)
@pytest.mark.parametrize("form", BAD)
def test_mistakes_without_a_taxonomy(form, consumer):
    make, message = BAD[form]
    if form in ("None in a list", "NA in a list", "lists in lists"):
        message = "need a taxonomy"
    with pytest.raises(UserError, match=re.escape(message)):
        answer(WITHOUT[consumer], make())


@pytest.mark.parametrize("consumer", WITHOUT)
def test_numbers_that_are_no_labels(consumer):
    with pytest.raises(UserError, match=r"Row 1: 0.5 is no label. Unknown label type: continuous"):
        WITHOUT[consumer]([1.0, 0.5, 2.0, 1.0, 1.0, 2.0, 1.0, 2.0])


# -- what is peculiar ------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[[1, 0, 0], [0, 1, 0]], [[0, 1], [1, 0]], [[1, 1], [0]]])
def test_bits_are_labels_where_0_or_1_is_a_node(rows):
    for tax in (Taxonomy.from_edges([(2, 0), (2, 1)]), Taxonomy.from_edges([("r", 1), ("r", 0)])):
        sets = [sorted(set(row), key=tax.index) for row in rows]
        assert tax.decode(tax.encode(rows)) == sets
        assert metrics.zero_one_loss(rows, sets, tax) == 0
        model = svm(tax).fit(np.eye(2), rows)
        assert model.predict(np.eye(2)) == tax.decode(tax.most_specific(rows))
        array = np.eye(3, dtype=int)
        assert tax.decode(tax.encode(array)) == [[v] for v in tax]
    only_one = Taxonomy.from_edges([("r", "a"), ("r", 1)])
    assert only_one.decode(only_one.encode([[1, 1, 1]])) == [[1]]


def test_numbers_as_names():
    tax = Taxonomy.from_edges([(10, 7), (10, 8), (11, 9)])
    y = [7, 8, 9, 7]
    for form in (y, np.array(y), np.array(y, dtype=np.int8), np.array(y, float), pd.Series(y),
                 [[v] for v in y], np.array(y)[:, None], pd.DataFrame({"y": y})):  # fmt: skip
        assert tax.decode(tax.encode(form)) == [[v] for v in y]
        assert metrics.micro_f1(form, y, tax) == 1
    frame = pd.DataFrame([[0, 1], [1, 0]], columns=[9, 7])
    assert tax.decode(tax.encode(frame)) == [[7], [9]]


def test_one_label_estimators_say_so():
    with pytest.raises(UserError, match="MulticlassSVM takes one label per sample, but sample 1"):
        MulticlassSVM(TAX).fit(X, SEVERAL)
    whole = coefficients(MulticlassSVM(TAX, random_state=0).fit(X, first(ONE)))
    for form in {**FORMS_OF_ONE, **FORMS_OF_SETS}.values():
        model = MulticlassSVM(TAX, random_state=0)
        same(answer(lambda y, model=model: coefficients(model.fit(X, y)), form(ONE)), whole)


def test_a_column_is_one_label_each_with_a_warning():
    y = np.array(first(ONE))[:, None]
    for model in (svm(), svm(None), Argmax(svm(), TAX)):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            assert model.fit(X, y).predict(X).shape == (N,)


@pytest.mark.parametrize("form", [*FORMS_OF_ONE, *FORMS_OF_SETS])
def test_predictions_come_in_the_form_that_was_taught(form):
    make = {**FORMS_OF_ONE, **FORMS_OF_SETS}[form]
    rows = np.vstack([bits(ONE, TAX.leaves)] * 4)[:N] * 9.0
    for model in (svm(), Threshold(svm(), TAX), SCut(svm(), TAX, cv=HALVES)):
        said = answer(lambda y, model=model: model.fit(rows, y).predict(rows), make(ONE))
        kept = make(ONE)
        if form in FORMS_OF_ONE:
            assert isinstance(said, np.ndarray) and said.shape == (N,)
        elif sp.issparse(kept):
            assert sp.issparse(said) and said.dtype == kept.dtype
            assert isinstance(said, sp.spmatrix) == isinstance(kept, sp.spmatrix)
        elif parse(kept, TAX).form.kind == "dense":
            assert isinstance(said, np.ndarray) and said.ndim == 2
        else:
            assert isinstance(said, list) and isinstance(said[0], list)
        assert (TAX.encode(said) != TAX.encode(ONE)).nnz == 0


def test_no_rows():
    for empty in ([], np.zeros(0), (), pd.Series([], dtype=str)):
        assert TAX.encode(empty).shape == (0, 5)
        with pytest.raises(UserError, match="There are no rows to evaluate"):
            metrics.evaluate(TAX, empty, empty)
    assert TAX.encode([[], []]).shape == (2, 5)
    assert TAX.encode(np.zeros((0, 5))).shape == (0, 5)


def test_labels_that_occur():
    names, Y = found([["b", "a"], [], ["a", "c", "a"]])
    assert names == ("b", "a", "c") and Y.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 1, 1]]
    assert found([[0], [1], [0]])[0] == (0, 1)
    assert found([[0, 1], [1, 0]])[0] == (0, 1)
    assert found([[0, 1, 0], [1, 0, 0]])[1].toarray().tolist() == [[0, 1, 0], [1, 0, 0]]


def test_nothing_of_the_caller_changes():
    Y = sp.csr_array((np.ones(3), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 5))
    before = Y.indices.copy()
    TAX.encode(Y)
    assert Y.indices.tolist() == before.tolist()
    lists = [["dog", "cat"], ["oak"]]
    TAX.encode(lists)
    assert lists == [["dog", "cat"], ["oak"]]
