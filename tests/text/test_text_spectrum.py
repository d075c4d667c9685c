"""Substring features: their products are the spectrum kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from linnaeus.errors import UserError
from linnaeus.kernels import SpectrumKernel, normalize
from linnaeus.text import SpectrumVectorizer

DNA = ["gattaca", "attacag", "tacatac", "ggggg"]


@given(
    st.lists(st.text("abc", max_size=8), min_size=1, max_size=6),
    st.lists(st.text("abcd", max_size=8), min_size=1, max_size=4),
    st.integers(1, 3),
    st.integers(0, 2),
    st.booleans(),
)
def test_products_of_the_rows_are_the_kernel(A, B, q, more, presence):
    if max(map(len, A)) < q:
        return
    p = q + more
    vectorizer = SpectrumVectorizer(p, q, presence=presence, norm=None, dtype=np.float64)
    X = vectorizer.fit_transform(A)
    kernel = SpectrumKernel(p, q, presence)
    assert_array_equal((X @ X.T).toarray(), kernel.gram(A))
    Z = vectorizer.transform(B)
    assert_array_equal((X @ Z.T).toarray(), kernel.gram(A, B))
    assert_array_equal(vectorizer.transform(A).toarray(), X.toarray())
    unit = SpectrumVectorizer(p, q, presence=presence, dtype=np.float64).fit_transform(A)
    assert_allclose((unit @ unit.T).toarray(), normalize(kernel).gram(A, dtype=float), atol=1e-12)


def test_counting_agrees_with_scikit_learn():
    ours = SpectrumVectorizer(3, 1, norm=None).fit(DNA)
    theirs = CountVectorizer(analyzer="char", ngram_range=(1, 3)).fit(DNA)
    columns = [ours.vocabulary_[u] for u in theirs.get_feature_names_out()]
    unseen = [*DNA, "catx", ""]
    X = ours.transform(unseen)
    assert_array_equal(X.toarray()[:, columns], theirs.transform(unseen).toarray())
    assert X.dtype == np.float32 and isinstance(X, sp.csr_array) and X.has_sorted_indices
    assert X.shape[1] == ours.n_features_ == len(columns)


@pytest.mark.parametrize("symbols", [["the", "fat"], [(1, 2), (3, 4)], [None, 5]])
def test_lists_of_symbols(symbols):
    a, b = symbols
    vectorizer = SpectrumVectorizer(2, norm=None)
    X = vectorizer.fit_transform([[a, b, a, b], [b, b]])
    assert {u: X.toarray()[:, j].tolist() for u, j in vectorizer.vocabulary_.items()} == {
        (a, b): [2, 0],
        (b, a): [1, 0],
        (b, b): [0, 1],
    }
    assert f"{a} {b}" in vectorizer.get_feature_names_out()
    assert vectorizer.transform([["new", a, b], []]).sum(axis=1).tolist() == [1, 0]


def test_norms():
    assert_allclose(SpectrumVectorizer(2, norm="l1").fit_transform(DNA).sum(axis=1), 1, rtol=1e-6)
    X = SpectrumVectorizer(2).fit_transform([*DNA, "x"])
    assert_allclose(X.multiply(X).sum(axis=1), [1, 1, 1, 1, 0], rtol=1e-6)


def test_scikit_learn_conventions():
    vectorizer = SpectrumVectorizer(2, 1, presence=True)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    with pytest.raises(NotFittedError):
        vectorizer.transform(DNA)
    y = [0, 1, 0, 1] * 3
    pipe = make_pipeline(SpectrumVectorizer(), LogisticRegression())
    grid = GridSearchCV(pipe, {"spectrumvectorizer__p": [2, 3]}, cv=2)
    assert grid.fit(DNA * 3, y).predict(np.array(DNA, dtype=object)).shape == (4,)
    assert pipe.fit(DNA * 3, y)[:-1].get_feature_names_out()[0] == "aca"


@pytest.mark.parametrize(
    "options, texts, message",
    [
        ({"p": 0}, DNA, "p=0, q=None. Use whole numbers"),
        ({"p": 2, "q": 3}, DNA, "p=2, q=3"),
        ({"norm": "max"}, DNA, "norm is 'max'. Use 'l2'"),
        ({}, "gattaca", "texts is 'gattaca'. Give a list"),
        ({}, [], "texts is empty"),
        ({}, ["fine", None], "Sequence 1 of texts is None"),
        ({"p": 9}, DNA, "No text is as long as 9 symbols.*Lower p"),
    ],
)
def test_mistakes_are_named(options, texts, message):
    with pytest.raises(UserError, match=message):
        SpectrumVectorizer(**options).fit(texts)
