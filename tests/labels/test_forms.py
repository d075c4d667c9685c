"""A table of forms of labels times everything that takes labels: one answer, or one clear error."""

from __future__ import annotations

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.preprocessing import MultiLabelBinarizer

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
from linnaeus.labels import found
from linnaeus.losses import label_set_loss, set_loss
from linnaeus.splits import at_most_per_class, k_folds, t_per_class, train_test_split

TAX = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
ONE = [["cat"], ["dog"], ["oak"], ["dog"], ["cat"], ["oak"], ["dog"], ["oak"]]
SEVERAL = [["cat"], ["dog", "oak"], ["oak"], [], ["cat", "oak"], ["oak"], ["dog"], ["cat", "dog"]]
N = len(ONE)
X = np.random.default_rng(0).normal(size=(N, 4))
SCORES = pd.DataFrame(np.random.default_rng(1).random((N, 3)), columns=TAX.leaves)
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


def path(name, width=0, pad=""):
    """The names from the root down to a leaf, filled up to a width."""
    names = ["plant" if name == "oak" else "animal", name]
    return names + [pad] * (width - len(names))


def paths(rows, width=0, pad=""):
    return [path(name, width, pad) for name in first(rows)]


def cube(rows):
    """As many paths for each row, as an array."""
    empty = ["", "", ""]
    return np.array([([path(v, 3) for v in row] + 2 * [empty])[:2] for row in rows])


def frame_of(rows, dtype, columns=COLUMNS):
    return pd.DataFrame(bits(rows, columns), columns=columns).astype(dtype)


FORMS_OF_ONE = {
    "list": first,
    "tuple": lambda rows: tuple(first(rows)),
    "array": lambda rows: np.array(first(rows)),
    "object array": lambda rows: np.array(first(rows), dtype=object),
    "numpy names": lambda rows: list(np.array(first(rows))),
    "series": lambda rows: pd.Series(first(rows)),
    "shifted series": lambda rows: pd.Series(first(rows), index=range(5, 5 + len(rows))),
    "categorical": lambda rows: pd.Series(first(rows), dtype="category"),
    "text series": lambda rows: pd.Series(first(rows), dtype="string"),
    "arrow series": lambda rows: pd.Series(first(rows), dtype="string[pyarrow]"),
    "polars series": lambda rows: pl.Series(first(rows)),
    "polars categorical": lambda rows: pl.Series(first(rows), dtype=pl.Categorical),
    "index": lambda rows: pd.Index(first(rows)),
    "generator": lambda rows: (row[0] for row in rows),
    "column": lambda rows: np.array(first(rows))[:, None],
    "column of a frame": lambda rows: pd.DataFrame({"label": first(rows)}),
}
NODES_OF_ONE = {  # what only a taxonomy can tell
    "codes": lambda rows: np.array([sorted(TAX.leaves).index(name) for name in first(rows)]),
    "list of codes": lambda rows: [sorted(TAX.leaves).index(name) for name in first(rows)],
    "nullable codes": lambda rows: pd.Series(NODES_OF_ONE["codes"](rows), dtype="Int64"),
    "path array": lambda rows: np.array(paths(rows)),
    "padded path array": lambda rows: np.array(paths(rows, 3)),
    "path array with None": lambda rows: np.array(paths(rows, 3, None), dtype=object),
    "path array with NaN": lambda rows: np.array(paths(rows, 3, np.nan), dtype=object),
    "padded paths": lambda rows: paths(rows, 3),
    "padded tuples": lambda rows: list(map(tuple, paths(rows, 3, None))),
    "levels": lambda rows: pd.DataFrame(paths(rows), columns=["family", "kind"]),
    "padded levels": lambda rows: pd.DataFrame(paths(rows, 3, None), columns=list("abc")),
    "arrow levels": lambda rows: pd.DataFrame(paths(rows), dtype="string[pyarrow]"),
    "categorical levels": lambda rows: pd.DataFrame(paths(rows), dtype="category"),
    "polars levels": lambda rows: pl.DataFrame(paths(rows), schema=["a", "b"], orient="row"),
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
    "nullable frame": lambda rows: frame_of(rows, "Int8"),
    "nullable bool frame": lambda rows: frame_of(rows, "boolean"),
    "arrow frame": lambda rows: frame_of(rows, "int64[pyarrow]"),
    "sparse frame": lambda rows: frame_of(rows, "Sparse[int64, 0]"),
    "polars frame": lambda rows: pl.DataFrame(bits(rows, COLUMNS), schema=COLUMNS),
    "polars bool frame": lambda rows: pl.DataFrame(bits(rows, COLUMNS) > 0, schema=COLUMNS),
    "polars lists": lambda rows: pl.Series(rows, dtype=pl.List(pl.String)),
    "lists of paths": lambda rows: [[path(v) for v in row] for row in rows],
    "padded lists of paths": lambda rows: [[path(v, 3) for v in row] for row in rows],
    "cube of paths": cube,
}
FORMS = FORMS_OF_ONE | NODES_OF_ONE | FORMS_OF_SETS
KINDS = [  # a form of each kind, for what takes long
    "array", "column of a frame", "codes", "padded path array", "levels", "lists", "dense", "csr",
    "sparse leaves", "frame in any order", "sparse frame", "polars frame", "lists of paths",
]  # fmt: skip


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
    "top1_accuracy": lambda y: metrics.top1_accuracy(y, SCORES, TAX),
    "ranking_loss": lambda y: metrics.ranking_loss(y, SCORES, TAX),
    "calibration": lambda y: metrics.calibration(y, SCORES, TAX).brier,
    "sweep": lambda y: metrics.sweep(y, SCORES, TAX).best["f1"],
    "evaluate": lambda y: metrics.evaluate(y, TRUE, TAX)["micro_f1"],
    "evaluate scores": lambda y: metrics.evaluate(TRUE, y, TAX, SCORES)["au_prc"],
    "learn_taxonomy": lambda y: learn_taxonomy(X, y, classes=TAX.nodes).edges,
    "confusion_counts": lambda y: confusion_counts(TRUE, y, TAX.nodes)[1],
    "cross_validate_ranking": lambda y: cross_validate_ranking(svm(), X, y, TAX, folds=HALVES).mean(
        "FlatSVM", "top1_accuracy"
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
        warnings.filterwarnings("ignore", "The labels are the numbers 0 to 2")
        return consumer(y)


def same(a, b):
    if isinstance(a, str) or (isinstance(a, list | tuple) and a and isinstance(a[0], str | tuple)):
        assert a == b
    else:
        np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=1e-12)


LONG = {
    "label_set_study", "choose_rule", "cross_validate_ranking", "SCut", "ClosedArgmax",
    "InstanceCut.fit_scores", "evaluate scores", "fit_rule",
}  # fmt: skip
KNOW_NAMES_ONLY = {"learn_taxonomy", "confusion_counts"}  # no hierarchy, and no leaves


@pytest.mark.parametrize("consumer", [*CONSUMERS, *ALONE])
def test_every_form_means_the_same_to_every_consumer(consumer):
    check_forms(consumer, KINDS if consumer in LONG else FORMS)


@pytest.mark.slow
@pytest.mark.parametrize("consumer", sorted(LONG))
def test_every_form_means_the_same_to_what_takes_long(consumer):
    check_forms(consumer, FORMS)


def check_forms(consumer, forms):
    call = {**CONSUMERS, **ALONE}[consumer]
    one, several = (answer(call, sp.csr_array(bits(rows))) for rows in (ONE, SEVERAL))
    for form in forms:
        path_like = any(word in form for word in ("path", "padded", "levels", "codes"))
        if consumer in KNOW_NAMES_ONLY and (path_like or form in ("leaves", "sparse leaves")):
            continue
        try:
            same(answer(call, FORMS[form](ONE)), one)
            if form in FORMS_OF_SETS:
                same(answer(call, FORMS[form](SEVERAL)), several)
        except Exception as error:
            raise AssertionError(f"{consumer} of {form}: {error}") from error


MISSING = "Row 3: {} is a missing value, no label. Leave the row out, or give lists of labels with"
UNKNOWN = "Row 3: 'catt' is not a node of the taxonomy (did you mean 'cat'?). Use the name"
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
    "a path with a gap": (
        lambda: np.array([*paths(ONE, 3)[:2], ["animal", "", "dog"], *paths(ONE, 3)[3:]]),
        "Row 2: the path ['animal', '', 'dog'] has a gap. Name every node from a root down",
    ),
    "an empty path": (
        lambda: np.array([*paths(ONE, 3)[:2], ["", "", ""], *paths(ONE, 3)[3:]]),
        "Row 2: the path ['', '', ''] is empty.",
    ),
    "NA in a frame": (
        lambda: frame_of(ONE, "Int8").mask(frame_of(ONE, bool)),
        "Row 0 has the missing value <NA> in the column 'cat' of the labels. Fill it with 0 or 1",
    ),
    "null in a polars frame": (
        lambda: pl.DataFrame({"cat": [0] * N, "dog": [*[1] * (N - 1), None]}),
        f"Row {N - 1} has the missing value nan in the column 'dog' of the labels.",
    ),
    "a column twice": (
        lambda: frame(["cat", "dog", "cat"]),
        "Two columns of labels are named 'cat'. Name each once.",
    ),
    "other numbers": (lambda: 2 * bits(ONE), "The label indicator holds the value 2; only 0 and 1"),
    "other numbers, sparse": (
        lambda: sp.csr_array(3 * bits(ONE)),
        "The label indicator holds the value 3; only 0 and 1",
    ),
    "NaN in an indicator": (
        lambda: np.where(bits(ONE), np.nan, 0.0),
        "Row 0 has the missing value nan in the column 1 of the labels. Fill it with 0 or 1",
    ),
}
BAD_NODES = {  # what only a taxonomy can tell
    "an unknown label": (lambda: with_row("catt", first(ONE)), UNKNOWN),
    "an unknown label in lists": (lambda: with_row(["catt"]), UNKNOWN),
    "an unknown label in an array": (lambda: np.array(with_row("catt", first(ONE))), UNKNOWN),
    "too few numbers": (
        lambda: np.arange(N) % 2,
        "Row 0: 0 is not a node of the taxonomy.",
    ),
    "too many numbers": (lambda: np.arange(N), "Row 0: 0 is not a node of the taxonomy."),
    "broken numbers": (lambda: np.arange(N) + 0.5, "Row 0: 0.5 is not a node of the taxonomy."),
    "a blank": (
        lambda: with_row("cat ", first(ONE)),
        "Row 3: 'cat ' is not a node of the taxonomy, but 'cat' is. Strip the blanks",
    ),
    "a blank in lists": (lambda: with_row([" cat"]), "Row 3: ' cat' is not a node of the taxonomy"),
    "an empty text": (lambda: with_row(["", "cat"]), "Row 3: '' is an empty text, no label."),
    "a path that leads nowhere": (
        lambda: np.array([["cat", "oak"]] * N),
        "Row 0: in the path ['cat', 'oak'] 'oak' is not below 'cat' in the taxonomy",
    ),
    "levels that lead nowhere": (
        lambda: pd.DataFrame({"animal": ["cat"] * N, "plant": ["oak"] * N}),
        "Row 0: in the path ['cat', 'oak'] 'oak' is not below 'cat' in the taxonomy",
    ),
    "a path from nowhere": (
        lambda: np.array([["aminal", "cat"]] * N),
        "Row 0: its path begins with 'aminal', which is not a root of the taxonomy",
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
}
COUNTS_COLUMNS = {"too few columns", "too few sparse columns"}  # in words of its own


@pytest.mark.parametrize("consumer", [*CONSUMERS, *ALONE])
def test_every_mistake_is_the_same_error_everywhere(consumer):
    for form, (make, message) in (BAD if consumer in ALONE else BAD | BAD_NODES).items():
        if form == "a set" and consumer in ("restrict", "with_misc"):
            continue  # they take names in any order
        if consumer in KNOW_NAMES_ONLY:
            if form in COUNTS_COLUMNS:
                message = "The label indicator has 4 columns, but `classes` has 5 names."
            message = message.replace("5 nodes and 3 leaves", "5 nodes and 5 leaves")
        with pytest.raises(UserError, match=re.escape(message)):
            answer({**CONSUMERS, **ALONE}[consumer], make())
            pytest.fail(f"{consumer} takes {form}")


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
def test_mistakes_without_a_taxonomy(consumer):
    for form, (make, message) in BAD.items():
        if form in ("None in a list", "NA in a list", "lists in lists"):
            message = "need a taxonomy"
        with pytest.raises(UserError, match=re.escape(message)):
            answer(WITHOUT[consumer], make())
            pytest.fail(f"{consumer} takes {form}")
    for rows in (paths(ONE, 3), np.array(paths(ONE)), pd.DataFrame(paths(ONE))):
        with pytest.raises(
            UserError, match=r"paths \(the first is \['animal', 'cat'\]\) need a tax"
        ):
            WITHOUT[consumer](rows)


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
    for form in (FORMS[kind] for kind in KINDS):
        model = MulticlassSVM(TAX, random_state=0)
        same(answer(lambda y, model=model: coefficients(model.fit(X, y)), form(ONE)), whole)


def test_a_column_is_one_label_each_with_a_warning():
    y = np.array(first(ONE))[:, None]
    for model in (svm(), svm(None), Argmax(svm(), TAX)):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            assert model.fit(X, y).predict(X).shape == (N,)


def is_alike(said, kept, form):
    """Whether an answer has the type, the columns and the types of values of what was taught."""
    if isinstance(kept, pd.DataFrame) and form != "column of a frame":
        return list(said.columns) == list(kept.columns) and (said.dtypes == kept.dtypes).all()
    if isinstance(kept, pl.DataFrame):
        return said.schema == kept.schema
    if sp.issparse(kept):
        return said.dtype == kept.dtype and isinstance(said, sp.spmatrix) == isinstance(
            kept, sp.spmatrix
        )
    if "codes" in form:
        return said.dtype.kind in "iO" and said.tolist() == list(kept)
    if form in FORMS_OF_ONE:
        return isinstance(said, np.ndarray) and said.shape == (N,)
    if isinstance(kept, np.ndarray) and kept.ndim > 1:
        return isinstance(said, np.ndarray) and said.shape[-1] == kept.shape[-1]
    if form.startswith("bit ") or form == "lists of bool":
        return isinstance(said, np.ndarray) and said.ndim == 2
    return isinstance(said, list) and isinstance(said[0], list)


@pytest.mark.parametrize("form", FORMS)
def test_predictions_come_in_the_form_that_was_taught(form):
    rows = np.vstack([bits(ONE, TAX.leaves)] * 4)[:N] * 9.0
    kept = FORMS[form](ONE) if "generator" not in form else None
    for model in (svm(), Threshold(svm(), TAX)):
        said = answer(lambda y, model=model: model.fit(rows, y).predict(rows), FORMS[form](ONE))
        assert is_alike(said, kept, form)
        assert (answer(TAX.encode, said) != TAX.encode(ONE)).nnz == 0


def test_no_rows():
    for empty in ([], np.zeros(0), (), pd.Series([], dtype=str)):
        assert TAX.encode(empty).shape == (0, 5)
        with pytest.raises(UserError, match="There are no rows to evaluate"):
            metrics.evaluate(empty, empty, TAX)
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


def test_an_indicator_of_leaves_says_in_which_order_it_was_read():
    rows = [["oak"], ["cat", "dog"]]
    tax = TAX.renamed({"cat": "zebra"})  # the leaves are no longer sorted
    known = MultiLabelBinarizer().fit([["oak", "zebra", "dog"]])
    Y = known.transform([["oak"], ["zebra", "dog"]])
    with pytest.warns(UserWarning, match=r"order of the taxonomy: 'zebra', 'dog', 'oak'.*classes="):
        tax.encode(Y)
    expected = tax.encode([["oak"], ["zebra", "dog"]]).toarray()
    assert (tax.encode(Y, classes=known.classes_).toarray() == expected).all()
    assert (TAX.encode(bits(rows, TAX.leaves)).toarray() == TAX.encode(rows).toarray()).all()
