"""Data frames in, names kept; estimators as diagrams; wrong rows refused in one sentence."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

import linnaeus
from every_estimator import DECISIONS, ESTIMATORS, EVERY, TAX, examples, make
from linnaeus import FlatSVM, Taxonomy
from linnaeus.errors import UserError
from linnaeus.kernels import SpectrumKernel
from linnaeus.model.tables import TableFeatures
from linnaeus.text import SpectrumVectorizer, TfidfVectorizer

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore:The chains of CorrelatedMNL")
TEXTS = ["the cat sat", "the dog sat", "an oak tree"]


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_the_names_of_columns_are_kept_and_checked(kind):
    X, y = examples()
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    model = make(kind).fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == 6
    assert list(model.predict(frame)) == list(make(kind).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_diagrams_of_estimators(kind):
    model = make(kind)
    assert kind.__name__ in model._repr_html_()
    fitted = model.fit(*examples())
    assert kind.__name__ in fitted._repr_html_() and "text/html" in fitted._repr_mimebundle_()
    assert kind.__name__ in make_pipeline(TfidfVectorizer(), model)._repr_html_()


@pytest.mark.parametrize(
    "transformer", [TfidfVectorizer(), SpectrumVectorizer(p=2), TfidfVectorizer(hashing=16)]
)
def test_words_as_a_data_frame(transformer):
    plain = transformer.fit_transform(TEXTS)
    names = transformer.get_feature_names_out()
    assert names.shape == (plain.shape[1],)
    frame = transformer.set_output(transform="pandas").fit_transform(TEXTS)
    assert list(frame.columns) == list(names)
    assert (frame.to_numpy() == plain.toarray()).all()
    assert (transformer.transform(TEXTS).to_numpy() == plain.toarray()).all()
    assert sp.issparse(transformer.set_output(transform="default").transform(TEXTS))


@pytest.mark.parametrize("scale", ["unit", "standard"])
def test_tables_as_a_data_frame(scale):
    table = pd.DataFrame({"width": [1.0, 2.0, 3.0], "height": [3.0, 1.0, 0.0]})
    found = TableFeatures(scale).set_output(transform="pandas").fit_transform(table)
    assert list(found.columns) == ["width", "height"]
    plain = TableFeatures(scale).fit_transform(table)
    np.testing.assert_array_equal(found, plain.toarray() if sp.issparse(plain) else plain)


def test_a_pipeline_of_words_with_data_frames_inside():
    pipe = make_pipeline(TfidfVectorizer(), FlatSVM()).set_output(transform="pandas")
    pipe.fit(TEXTS, ["cat", "dog", "oak"])
    assert pipe[-1].feature_names_in_.tolist() == pipe[0].get_feature_names_out().tolist()
    assert pipe.predict(TEXTS).tolist() == ["cat", "dog", "oak"]


# -- wrong rows -----------------------------------------------------------------------------------

X, Y = examples()
HOLED = X.copy()
HOLED[3, 2] = np.nan
ENDLESS = X.copy()
ENDLESS[4, 1] = -np.inf
MIXED = X.astype(object)
MIXED[2, 1] = "blue"
TEXT_REMEDY = "Turn texts into numbers first, for example with TfidfVectorizer in a pipeline."
FILL = "Give finite numbers; fill what is missing, for example with sklearn.impute.SimpleImputer."
WRONG = {
    "texts": (["the cat sat"] * 30, f"X holds the text 'the cat sat' in row 0. {TEXT_REMEDY}"),
    "array of texts": (np.array(["cat"] * 30), f"X holds the text 'cat' in row 0. {TEXT_REMEDY}"),
    "series of texts": (
        pd.Series(["cat"] * 30), f"X holds the text 'cat' in row 0. {TEXT_REMEDY}",
    ),
    "column of texts": (
        pd.DataFrame({"a": np.ones(30), "b": ["cat"] * 30}),
        f"X holds the text 'cat' in row 0, column 1. {TEXT_REMEDY}",
    ),
    "objects": (MIXED, f"X holds the text 'blue' in row 2, column 1. {TEXT_REMEDY}"),
    "NaN": (HOLED, f"X holds NaN in row 3, column 2. {FILL}"),
    "NaN in lists": (HOLED.tolist(), f"X holds NaN in row 3, column 2. {FILL}"),
    "sparse NaN": (sp.csr_array(HOLED), f"X holds NaN in row 3, column 2. {FILL}"),
    "infinity": (ENDLESS, f"X holds -inf in row 4, column 1. {FILL}"),
    "one dimension": (
        X[:, 0],
        "X has one dimension, with 30 values, where rows and columns are needed. Reshape your "
        "data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row.",
    ),
    "ragged": (
        [[1.0, 2.0]] * 29 + [[1.0]],
        "Row 29 of X has 1 values, but row 0 has 2. Give every row the same columns.",
    ),
    "None": (
        None, "X is None. Give an array or a sparse matrix with a row for each example.",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_rows_that_are_none_are_refused(kind):
    fitted = make(kind).fit(X, Y)
    for rows, message in WRONG.values():
        for call in (lambda rows=rows: make(kind).fit(rows, Y), lambda r=rows: fitted.predict(r)):
            with pytest.raises(UserError, match=f"^{re.escape(message)}$"):
                call()
    for empty, what in ((np.zeros((0, 6)), "row"), (np.zeros((30, 0)), "column")):
        with pytest.raises(UserError, match=f"0 .* Give at least one {what}"):
            make(kind).fit(empty, Y)


@pytest.mark.parametrize("kind", DECISIONS, ids=lambda kind: kind.__name__)
def test_decisions_pass_rows_on_and_the_reason_back(kind):
    with pytest.raises(UserError, match="X holds NaN in row 3, column 2"):
        make(kind).fit(HOLED, Y)


def test_numbers_in_texts_are_numbers():
    model = FlatSVM(TAX).fit(X.astype(str).tolist(), Y)
    assert list(model.predict(X)) == list(FlatSVM(TAX).fit(X, Y).predict(X))


def test_kernels_of_texts_take_texts():
    tax = Taxonomy.flat(["cat", "dog", "oak"])
    model = linnaeus.HM3(tax, kernel=SpectrumKernel(2)).fit(TEXTS, ["cat", "dog", "oak"])
    assert list(model.predict(TEXTS)) == ["cat", "dog", "oak"]
