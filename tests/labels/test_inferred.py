"""Taxonomies that estimators infer from paths, and what is answered then, also after saving."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler

import linnaeus
from linnaeus import FlatSVM, HierarchicalPerceptron, MulticlassSVM, Taxonomy, TopDown, metrics
from linnaeus.decisions import ClosedArgmax, SCut, Threshold
from linnaeus.errors import UserError

PATHS = [["pet", "cat"], ["pet", "dog"], ["toy", "cat"], ["toy"]] * 5  # two cats, and an inner node
N = len(PATHS)
X = 5.0 * np.eye(4)[np.arange(N) % 4]
ROWS = pd.DataFrame(X, index=[f"row {i}" for i in range(N)])
PADDED = np.array([(path + [""])[:2] for path in PATHS])
LEVELS = pd.DataFrame(PADDED, columns=["upper", "lower"]).replace("", None)
NODES = ("pet", "pet/cat", "dog", "toy", "toy/cat")
FORMS = {
    "ragged": PATHS,
    "array": PADDED,
    "wide array": np.char.add(PADDED, " " * 0).astype("U99"),
    "objects": np.where(PADDED == "", None, PADDED.astype(object)),
    "levels": LEVELS,
    "polars": pl.DataFrame(PADDED, schema=["upper", "lower"], orient="row"),
    "lists of paths": [[path] for path in PATHS],
    "cube": PADDED[:, None, :],
}


def same(a, b):
    if isinstance(a, pd.DataFrame):
        values = a.fillna("").to_numpy() == b.fillna("").to_numpy()
        return list(a.columns) == list(b.columns) and values.all()
    if isinstance(a, pl.DataFrame):
        return a.equals(b)
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


@pytest.mark.parametrize("form", FORMS)
def test_paths_make_the_taxonomy_and_come_back(form, tmp_path):
    y = FORMS[form]
    for model in (FlatSVM("infer"), ClosedArgmax(FlatSVM("infer"), "infer")):
        model = clone(model).fit(ROWS, y)
        assert model.taxonomy == "infer" and model.taxonomy_.nodes == NODES
        said = model.predict(ROWS)
        assert type(said) is type(y) and same(said, y)
        model.save(tmp_path / type(model).__name__)
        again = linnaeus.load(tmp_path / type(model).__name__).predict(ROWS)
        assert type(again) is type(y) and same(again, y)
        assert model.score(ROWS, y) == 1 == metrics.hierarchical_f1(y, said, model.taxonomy_)
        if form == "levels":
            assert list(said.index) == list(again.index) == list(ROWS.index)
            assert list(model.predict(X).index) == list(range(N))


@pytest.mark.parametrize(
    "model",
    [TopDown("infer"), MulticlassSVM("infer"), HierarchicalPerceptron("infer", random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_other_estimators_infer_too(model):
    assert same(model.fit(X, PADDED).predict(X), PADDED)


def test_batches_go_on_with_the_taxonomy_of_the_first():
    model = HierarchicalPerceptron("infer", random_state=0).partial_fit(X, PATHS)
    assert model.partial_fit(X[:3], PATHS[:3]).predict(X) == PATHS
    with pytest.raises(UserError, match="'cow' is not below 'pet' in the taxonomy"):
        model.partial_fit(X[:1], [["pet", "cow"]])


def test_splitters_and_scores_take_rows_of_paths():
    pipeline = make_pipeline(StandardScaler(), FlatSVM("infer"))
    for y in (PADDED, PADDED.astype(object), LEVELS.fillna("")):  # scikit-learn sorts them
        assert (cross_val_score(pipeline, X, y, cv=2) == 1).all()


def test_deep_answers_below_an_artificial_top():
    tax = Taxonomy.from_edges([("top", v) for v in ("pet", "toy")] + [("pet", "a cat or so")])
    y = np.array([["pet", "a cat or so"], ["toy", ""]] * 4)
    said = FlatSVM(tax).fit(X[:8, :2], y).predict(np.eye(4, 2))
    assert said[:2].tolist() == y[:2].tolist()
    y = np.array([["pet"], ["toy"]] * 4)[:, 0]  # one label each, and then a level more
    assert FlatSVM(tax).fit(X[:8, :2], y).predict(X[:2, :2]).tolist() == ["pet", "toy"]


def test_numbers_as_names_of_levels():
    y = np.array([[1, 1], [1, 2], [2, 1], [2, 3]] * 5)  # 1 in three places
    model = FlatSVM("infer").fit(X, y)
    assert model.taxonomy_.nodes == (1, "1/1", "1/2", 2, "2/1", 3)
    assert model.predict(X).tolist() == y.tolist() and model.predict(X).dtype == y.dtype
    holes = np.where(y == 3, np.nan, y)
    assert np.array_equal(FlatSVM("infer").fit(X, holes).predict(X), holes, equal_nan=True)


@pytest.mark.parametrize(
    ("y", "what"),
    [
        (["cat", "dog"] * 10, "one label per row (the first is 'cat')"),
        (np.eye(4)[np.arange(N) % 4], "an indicator"),
        (pd.DataFrame(np.eye(4)[np.arange(N) % 4]), "an indicator"),
    ],
)
def test_what_cannot_be_inferred_from(y, what):
    for model in (FlatSVM("infer"), Threshold(FlatSVM(), "infer")):
        with pytest.raises(UserError) as error:
            model.fit(X, y)
        assert "makes the taxonomy from rows that are paths" in str(error.value)
        assert what in str(error.value)
    with pytest.raises(
        UserError, match=r"taxonomy='inferr' is not known \(did you mean 'infer'\?\)"
    ):
        FlatSVM("inferr").fit(X, y)
    with pytest.raises(UserError, match="taxonomy='infer' needs labels that are paths: call fit"):
        Threshold(taxonomy="infer").decide(X)


def test_names_that_differ_in_blanks_are_refused():
    with pytest.raises(UserError, match="Row 1: 'cat ' differs from 'cat' in blanks only. Strip"):
        FlatSVM("infer").fit(X[:2], [["pet", "cat"], ["toy", "cat "]])


# -- numbers for leaves, and columns by name -------------------------------------------------------

TAX = Taxonomy.from_edges([("plant", "oak"), ("animal", "dog"), ("animal", "cat")])


def test_numbers_stand_for_sorted_leaves(tmp_path):
    y = np.arange(N) % 3
    X = 5.0 * np.eye(3)[y]
    names = np.array(["cat", "dog", "oak"])[y]
    for model in (FlatSVM(TAX), SCut(FlatSVM(TAX), TAX, cv=2)):
        with pytest.warns(UserWarning, match="3 leaves, sorted: 0 = 'cat', 1 = 'dog', 2 = 'oak'."):
            model.fit(X, y)
        assert model.predict(X).dtype == y.dtype and model.predict(X).tolist() == y.tolist()
        assert sorted(model.classes_.tolist()) == [0, 1, 2]
        model.save(tmp_path / type(model).__name__)
        again = linnaeus.load(tmp_path / type(model).__name__)
        assert again.predict(X).tolist() == y.tolist()
    assert FlatSVM(TAX).fit(X, names).predict(X).tolist() == names.tolist()
    renamed = TAX.renamed({"oak": 0, "dog": 1, "cat": 2})
    assert renamed.decode(renamed.encode(y))[:3] == [[0], [1], [2]]
    with pytest.warns(UserWarning, match="numbers 0 to 2"), pytest.raises(UserError, match="numbe"):
        TopDown(TAX, stop=0.5).fit(X, y)


def test_other_numbers_name_the_remedy():
    for y in ([0, 1, 1], [0, 1, 3], [1, 2, 3], [-1, 0, 2]):
        with pytest.raises(UserError, match=r"is not a node of the taxonomy.*taxonomy.renamed"):
            TAX.encode(y)


def test_get_dummies_are_matched_by_name():
    names = pd.Series(["oak", "dog", "cat", "cat"] * 5)
    y = pd.get_dummies(names)
    X = 5.0 * np.eye(3)[[sorted(set(names)).index(v) for v in names]]
    assert TAX.decode(TAX.encode(y)) == [[v] for v in names]
    for model in (FlatSVM(TAX), FlatSVM(), Threshold(FlatSVM(TAX), TAX)):
        said = model.fit(X, y).predict(X)
        pd.testing.assert_frame_equal(said, y)
    assert FlatSVM().fit(X, y).classes_.tolist() == ["cat", "dog", "oak"]


def test_frames_without_a_taxonomy_are_compared_by_name():
    y = pd.DataFrame({"a": [1, 0], "b": [0, 0], "c": [0, 1]})
    assert metrics.micro_f1(y, y[["c", "a", "b"]]) == 1 > metrics.micro_f1(y, 1 - y)
    with pytest.raises(UserError, match="The column 'd' is in one of the data frames of labels"):
        metrics.micro_f1(y, y.assign(d=0))


def test_columns_of_a_binarizer():
    rows = [["oak", "dog"], ["cat"], ["animal"]]
    for sparse in (False, True):
        binarizer = MultiLabelBinarizer(sparse_output=sparse)
        Y = binarizer.fit_transform(rows)
        encoded = TAX.encode(Y, classes=binarizer.classes_)
        assert (encoded != TAX.encode(rows)).nnz == 0
    with pytest.raises(UserError, match="but `classes` has 3 names"):
        TAX.encode(Y, classes=["cat", "dog", "oak"])
    with pytest.raises(UserError, match="'oka' is not a node of the taxonomy"):
        TAX.encode(np.eye(2), classes=["cat", "oka"])


def test_namesakes_in_plain_lists_are_walked():
    tax = Taxonomy.from_paths(PATHS)
    assert tax.decode(tax.encode(PATHS[:4])) == [["pet/cat"], ["dog"], ["toy/cat"], ["toy"]]
    with pytest.raises(UserError, match=r"It is the title of \['pet/cat', 'toy/cat'\]"):
        tax.encode([["cat"], ["dog"]])
    assert tax.decode(tax.encode([["dog", "pet"], ["toy"]])) == [["pet", "dog"], ["toy"]]
