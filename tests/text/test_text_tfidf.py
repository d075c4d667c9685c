"""Weighted words, against the definition written plainly."""

import json
import math
from collections import Counter

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
from linnaeus.text import ENGLISH, TfidfVectorizer, ngrams, tokenize

TEXTS = ["The cat was chased by the fat dog.", "the dog was fat", "A cat and a dog", "by the sea"]


def weights_by_definition(documents):
    """count * log2(N / N_u), word by word."""
    N_u = Counter(word for document in documents for word in set(document))
    return [
        {u: n * math.log2(len(documents) / N_u[u]) for u, n in Counter(document).items()}
        for document in documents
    ]


def as_dicts(vectorizer, X):
    names = vectorizer.get_feature_names_out()
    return [
        {names[j]: v for j, v in zip(row.indices.tolist(), row.data.tolist(), strict=True)}
        for row in (sp.csr_array(X[[i]]) for i in range(X.shape[0]))
    ]


def test_golden_weights(golden_file):
    case = golden_file("kernels")["tfidf"]
    plain = TfidfVectorizer(norm=None, dtype=np.float64)
    X = plain.fit_transform(case["docs"])
    for found, expected in zip(as_dicts(plain, X), case["features"], strict=True):
        assert found == pytest.approx(expected, rel=1e-12)
    assert (X[[0]] @ X[[1]].T).toarray()[0, 0] == pytest.approx(case["dot01"], rel=1e-12)
    unit = TfidfVectorizer(dtype=np.float64).fit_transform(case["docs"])
    assert (unit[[0]] @ unit[[1]].T).toarray()[0, 0] == pytest.approx(case["cos01"], rel=1e-12)


@given(st.lists(st.lists(st.sampled_from("abcdefg")), min_size=1, max_size=8))
def test_weights_are_those_of_the_definition(documents):
    if not any(documents):
        return
    vectorizer = TfidfVectorizer(norm=None, dtype=np.float64)
    X = vectorizer.fit_transform(documents)
    for found, expected in zip(
        as_dicts(vectorizer, X), weights_by_definition(documents), strict=True
    ):
        assert found == pytest.approx({u: w for u, w in expected.items() if w})
    assert_allclose(vectorizer.transform(documents).toarray(), X.toarray())
    unit = clone(vectorizer).set_params(norm="l2").fit_transform(documents)
    norms = np.sqrt((unit.toarray() ** 2).sum(axis=1))
    assert np.all(np.isclose(norms, 1) | (norms == 0))


def test_words_are_folded_and_unseen_words_dropped():
    vectorizer = TfidfVectorizer(norm=None).fit(["Straße ab", "x1 AB"])
    assert list(vectorizer.vocabulary_) == ["ab", "strasse", "x1"]
    X = vectorizer.transform(["STRASSE strasse unseen ab", "unseen"])
    assert X.toarray().tolist() == [[0, 2, 0], [0, 0, 0]]
    assert X.nnz == 1  # the word of every document weighs nothing
    assert X.dtype == np.float32 and isinstance(X, sp.csr_array)


def test_counting_agrees_with_scikit_learn():
    options = {"ngram_range": (1, 3), "stop_words": ["the"], "min_df": 2}
    ours = TfidfVectorizer(idf=False, norm=None, **options)
    theirs = CountVectorizer(**options)
    assert_array_equal(ours.fit_transform(TEXTS).toarray(), theirs.fit_transform(TEXTS).toarray())
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    chars = TfidfVectorizer(idf=False, norm=None, analyzer="char", ngram_range=(2, 4))
    theirs = CountVectorizer(analyzer="char", ngram_range=(2, 4))
    assert_array_equal(chars.fit_transform(TEXTS).toarray(), theirs.fit_transform(TEXTS).toarray())


def test_options():
    def terms(**options):
        return list(TfidfVectorizer(**options).fit(TEXTS).vocabulary_)

    assert terms(stop_words="english") == ["cat", "chased", "dog", "fat", "sea"]
    assert terms(min_df=3) == ["dog", "the"]
    assert terms(min_df=0.75) == ["dog", "the"]
    assert terms(max_features=3) == ["by", "dog", "the"]  # cat, fat and was occur as often as by
    assert "The" in terms(lowercase=False)
    assert "a" in terms(token_pattern=r"\w+")
    assert terms(analyzer=lambda text: [text[:1]]) == ["A", "T", "b", "t"]
    counts = TfidfVectorizer(idf=False, norm=None, sublinear_tf=True).fit_transform([["u"] * 5])
    assert counts.toarray()[0, 0] == pytest.approx(1 + math.log(5))
    l1 = TfidfVectorizer(norm="l1", dtype=np.float64).fit_transform(TEXTS)
    assert_allclose(l1.sum(axis=1), 1)


def test_hashing():
    exact = TfidfVectorizer(dtype=np.float64)
    hashed = TfidfVectorizer(hashing=2**20, dtype=np.float64)
    K = exact.fit_transform(TEXTS)
    H = hashed.fit_transform(TEXTS)
    assert H.shape == (4, 2**20) and hashed.vocabulary_ is None
    assert_allclose((H @ H.T).toarray(), (K @ K.T).toarray())  # no collisions: the same products
    assert_allclose(hashed.transform(TEXTS).toarray()[:, H.indices], H.toarray()[:, H.indices])
    signed = TfidfVectorizer(hashing=2**20, alternate_sign=True, dtype=np.float64)
    S = signed.fit_transform(TEXTS)
    assert (S.data < 0).any() and (S.data > 0).any()
    assert_allclose((S @ S.T).toarray(), (K @ K.T).toarray())
    rare = TfidfVectorizer(hashing=2**20, min_df=2).fit_transform(["aa bb", "aa cc", "dd"])
    assert [row.nnz for row in (rare[[0]], rare[[1]], rare[[2]])] == [1, 1, 0]
    assert list(TfidfVectorizer(hashing=2).fit(TEXTS).get_feature_names_out()) == ["hash0", "hash1"]


def murmur3(data, mask=0xFFFFFFFF):
    """MurmurHash3, 32 bits, seed 0, as a signed number."""

    def mix(k):
        k = k * 0xCC9E2D51 & mask
        return ((k << 15 | k >> 17) & mask) * 0x1B873593 & mask

    h, whole = 0, len(data) // 4 * 4
    for i in range(0, whole, 4):
        h ^= mix(int.from_bytes(data[i : i + 4], "little"))
        h = ((h << 13 | h >> 19) & mask) * 5 + 0xE6546B64 & mask
    h ^= mix(int.from_bytes(data[whole:], "little")) ^ len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = (h ^ h >> shift) * factor & mask
    return h - 2**32 if h >= 2**31 else h


def test_hashing_is_the_same_on_every_machine():
    words = ["the", "fat", "cat", "satisfied", "東京", "straßen"]
    for word in words:
        X = TfidfVectorizer(hashing=1000, idf=False).fit_transform([[word]])
        assert X.indices.tolist() == [abs(murmur3(word.encode())) % 1000]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hashing": 64, "alternate_sign": True},
        {"stop_words": ["the", "a"], "ngram_range": (1, 2), "dtype": np.float64},
    ],
)
def test_state_is_plain_data(options):
    vectorizer = TfidfVectorizer(**options).fit(TEXTS)
    state = vectorizer.to_state()
    idf = state.pop("idf")
    plain = json.loads(json.dumps(state)) | {"idf": idf}
    again = TfidfVectorizer.from_state(plain)
    assert_array_equal(again.transform(TEXTS).toarray(), vectorizer.transform(TEXTS).toarray())
    assert again.get_params()["ngram_range"] == vectorizer.ngram_range
    assert again.transform(TEXTS).dtype == vectorizer.transform(TEXTS).dtype


def test_scikit_learn_conventions():
    vectorizer = TfidfVectorizer(min_df=2, stop_words=["a"])
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    with pytest.raises(NotFittedError):
        vectorizer.transform(TEXTS)
    y = [0, 1, 0, 1] * 3
    pipe = make_pipeline(TfidfVectorizer(), LogisticRegression())
    grid = GridSearchCV(pipe, {"tfidfvectorizer__ngram_range": [(1, 1), (1, 2)]}, cv=2)
    assert grid.fit(TEXTS * 3, y).predict(np.array(TEXTS, dtype=object)).shape == (4,)
    assert pipe.fit(TEXTS * 3, y)[:-1].get_feature_names_out()[0] == "and"


@pytest.mark.parametrize(
    "options, message",
    [
        ({"analyzer": "words"}, "'words'. Use 'word', 'char' or a function"),
        ({"stop_words": "klingon"}, "'klingon'. Use 'english', or a list"),
        ({"ngram_range": (2, 1)}, r"\(2, 1\). Use \(shortest, longest\)"),
        ({"norm": "l3"}, "'l3'. Use 'l2'"),
        ({"min_df": -1}, "min_df is -1. Use a count"),
        ({"hashing": 0}, "hashing is 0"),
        ({"hashing": 8, "max_features": 3}, "max_features is 3"),
    ],
)
def test_parameters_are_checked(options, message):
    with pytest.raises(UserError, match=message):
        TfidfVectorizer(**options).fit(TEXTS)


@pytest.mark.parametrize(
    "texts, message",
    [
        ("one text", "One text was given, 'one text'. Give a list"),
        (["fine", None], "Document 1 is None.*Convert"),
        (["fine", 3.5], "Document 1 is 3.5"),
        (["a", "."], "No document holds a word.*token_pattern"),
        ([], "There are no documents"),
    ],
)
def test_documents_are_checked(texts, message):
    with pytest.raises(UserError, match=message):
        TfidfVectorizer().fit(texts)


def test_a_vocabulary_without_words_is_refused():
    with pytest.raises(UserError, match="No word is left with min_df=2 .*Lower"):
        TfidfVectorizer(min_df=2).fit(["aa", "bb"])


def test_a_function_cannot_be_saved():
    with pytest.raises(UserError, match="is a function, which cannot be saved.*lists of tokens"):
        TfidfVectorizer(analyzer=str.split).fit(TEXTS).to_state()


def test_tokens_in_any_script():
    assert tokenize("Ελλάδα, 東京タワー naïve I x_1 42") == [
        "ελλάδα",
        "東京タワー",
        "naïve",
        "x_1",
        "42",
    ]
    assert list(ngrams("abc", 2, 3, "")) == ["ab", "bc", "abc"]
    assert list(ngrams([], 1, 2)) == []
    assert all(word == word.casefold() for word in ENGLISH)
