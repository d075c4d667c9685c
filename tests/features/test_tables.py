"""Tables of numbers: scaled by column or by row, missing cells, sparse rows of any width."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.utils.estimator_checks import check_estimator

from linnaeus.errors import UserError
from linnaeus.model import TableFeatures
from linnaeus.storage import load, save

NAN = np.nan
SMALL = st.floats(-5, 5).map(lambda x: round(x, 3))


def by_the_formula(X):
    """Standardised cell by cell, missing ones at 0."""
    out = np.zeros(X.shape)
    for j in range(X.shape[1]):
        there = X[~np.isnan(X[:, j]), j]
        mean = sum(there) / len(there) if len(there) else 0.0
        deviation = np.sqrt(sum((x - mean) ** 2 for x in there) / len(there)) if len(there) else 0
        for i in range(X.shape[0]):
            if not np.isnan(X[i, j]) and deviation > 1e-9:
                out[i, j] = (X[i, j] - mean) / deviation / np.sqrt(X.shape[1])
    return out


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_is_a_transformer_of_scikit_learn():
    check_estimator(TableFeatures())


@settings(max_examples=40)
@given(arrays(float, (6, 3), elements=SMALL | st.just(NAN)))
def test_standard_is_the_formula(X):
    found = TableFeatures("standard").fit_transform(X)
    assert_allclose(found, by_the_formula(X), atol=1e-6)
    assert np.isfinite(found).all()


@settings(max_examples=40)
@given(arrays(float, (5, 4), elements=st.floats(0.01, 5) | st.just(NAN) | st.just(0.0)))
def test_unit_rows_have_length_1_or_0_and_sparse_equals_dense(X):
    dense = TableFeatures("unit").fit_transform(X)
    lengths = np.sqrt(dense.multiply(dense).sum(axis=1))
    full = np.nan_to_num(X).any(axis=1)
    assert_allclose(lengths, full.astype(float), atol=1e-9)
    sparse = TableFeatures("unit").fit_transform(sp.csr_array(np.nan_to_num(X)))
    assert_allclose(dense.toarray(), sparse.toarray(), atol=1e-9)


def test_auto_looks_at_the_table():
    counts = np.array([[0, 0, 0, 2.0], [0, 0, 1, 0], [0, 0, 0, 0]])
    assert TableFeatures().fit(counts).scale_ == "unit"
    assert TableFeatures().fit(-counts).scale_ == "standard"
    assert TableFeatures().fit(counts + 1).scale_ == "standard"
    assert TableFeatures().fit(sp.csr_array(-counts)).scale_ == "unit"
    assert TableFeatures().fit(sp.csr_array(counts)).sparse_
    assert not TableFeatures().fit(counts).sparse_


def test_none_only_fills_what_is_missing():
    X = np.array([[1.0, NAN], [3.0, 4.0], [NAN, 8.0]])
    assert TableFeatures("none").fit_transform(X).tolist() == [[1, 6], [3, 4], [2, 8]]


def test_new_rows_are_scaled_by_the_old():
    features = TableFeatures("standard").fit(np.array([[0.0], [2.0]]))
    assert features.transform([[4.0], [NAN]]).tolist() == [[3.0], [0.0]]


def test_idf_weighs_rare_columns_more():
    X = sp.csr_array(np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]))
    features = TableFeatures("unit", idf=True).fit(X)
    assert features.idf_.tolist() == [0.0, 2.0]
    assert features.transform(X).toarray()[0].tolist() == [0.0, 1.0]


def test_sparse_rows_may_be_wider_or_narrower_than_those_learnt():
    features = TableFeatures().fit(sp.csr_array(np.eye(3)))
    wide = sp.csr_array(np.array([[0.0, 2.0, 0.0, 7.0]]))
    assert features.transform(wide).toarray().tolist() == [[0, 1, 0]]
    assert features.transform(sp.csr_array(np.array([[5.0]]))).toarray().tolist() == [[1, 0, 0]]


def test_the_input_is_left_alone():
    X = sp.csr_array(np.array([[3.0, 4.0], [0.0, 2.0]]))
    before = X.toarray()
    TableFeatures().fit_transform(X)
    assert (X.toarray() == before).all()


def test_names():
    X = np.eye(2)
    assert TableFeatures().fit(X).get_feature_names_out().tolist() == ["1", "2"]
    named = TableFeatures(feature_names=["a", "b"]).fit(X)
    assert named.get_feature_names_out().tolist() == ["a", "b"]


def test_mistakes():
    with pytest.raises(UserError, match=r"scale is 'big'. Use one of: auto, standard, unit, none"):
        TableFeatures("big").fit(np.eye(2))
    with pytest.raises(UserError, match="would fill a sparse table. Use 'unit' or 'none'"):
        TableFeatures("standard").fit(sp.csr_array(np.eye(2)))


@pytest.mark.parametrize("X", [np.array([[1.0, NAN], [2.0, 5.0]]), sp.csr_array(np.eye(2))])
def test_saved_and_loaded(X, tmp_path):
    features = TableFeatures(feature_names=["a", "b"]).fit(X)
    save(features, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.sparse_ == features.sparse_ and again.scale_ == features.scale_
    before, after = features.transform(X), again.transform(X)
    assert (sp.csr_array(before) != sp.csr_array(after)).nnz == 0


def test_empty_columns_of_very_wide_tables_are_left_out(monkeypatch):
    monkeypatch.setattr("linnaeus.model.tables.WIDE", 5)
    X = sp.csr_array(np.array([[0, 2.0, 0, 0, 0, 1], [0, 0, 0, 3.0, 0, 0]]))
    features = TableFeatures(scale="unit").fit(X)
    assert features.get_feature_names_out().tolist() == ["2", "4", "6"]
    new = sp.csr_array(np.array([[4.0, 3.0, 0, 0, 0, 0]]))  # the first was never seen
    assert features.transform(new).toarray().round(6).tolist() == [[0.6, 0.0, 0.0]]
    assert TableFeatures(scale="none").fit(X).transform(new).toarray().tolist() == [[3.0, 0, 0]]
