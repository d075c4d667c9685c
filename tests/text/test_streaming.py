"""Texts that are never held: the same words, weights and rows as in memory, to the bit."""

import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from linnaeus.errors import UserError
from linnaeus.storage.sparse_files import open_rows
from linnaeus.synthetic import newsroom
from linnaeus.text import TfidfVectorizer, counting
from linnaeus.text.counting import TERM, Found, TermCounts, text_blocks

NEWS = newsroom(30, 2, random_state=3).train.texts
ODD = [
    "", "  ", 'a\nb\tc "quoted" \\ end', "Straße STRASSE", "日本語の手机", "\ud800 lone", "a a a b",
    "end lone", "lone end", "",
]  # fmt: skip
OPTIONS = [
    {},
    {"min_df": 2},
    {"min_df": 0.05, "sublinear_tf": True},
    {"max_features": 40},
    {"max_features": 40, "min_df": 3, "norm": "l1", "dtype": np.float64},
    {"analyzer": "letters", "ngram_range": (1, 3), "norm": None},
    {"analyzer": "pieces"},
    {"ngram_range": (1, 2), "stop_words": "english", "idf": False},
    {"hashing": 50},
    {"hashing": 50, "alternate_sign": True, "min_df": 2},
    {"hashing": 50, "idf": False, "min_df": 3},
    {"hashing": 50, "idf": False, "sublinear_tf": True},
]


class Twice:
    """Texts that can be gone through again, but not held or counted."""

    def __init__(self, texts):
        self.texts, self.passes = texts, 0

    def __iter__(self):
        self.passes += 1
        return iter(self.texts)


def assert_same(found, X, expected, Y):
    """Fitted vectorisers and their rows, bit by bit."""
    assert found.vocabulary_ == expected.vocabulary_
    assert found.vocabulary_ is None or list(found.vocabulary_) == list(expected.vocabulary_)
    assert found.idf_.tobytes() == expected.idf_.tobytes()
    assert found.n_documents_ == expected.n_documents_
    assert X.shape == Y.shape
    for name in ("indptr", "indices", "data"):
        a, b = getattr(X, name), getattr(Y, name)
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), name


@pytest.mark.parametrize("texts", [NEWS, ODD, ODD + NEWS[:30]], ids=["news", "odd", "both"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_rows_on_disk_are_those_of_memory(options, texts, tmp_path, monkeypatch):
    memory = TfidfVectorizer(**options)
    Y = memory.fit_transform(texts)
    assert Y.has_canonical_format
    assert_same(TfidfVectorizer(**options).fit(texts), memory.transform(texts), memory, Y)
    for rows in (1, 7, 10_000):
        monkeypatch.setattr(counting, "ROWS", rows)
        streamed, given = TfidfVectorizer(**options), Twice(texts)
        assert_same(streamed, streamed.fit_transform_to(tmp_path / "X", given), memory, Y)
        once = "hashing" in options and options.get("idf") is False and "min_df" not in options
        assert given.passes == (1 if once else 3)  # one of them to see that it can be repeated
    assert [p.name for p in tmp_path.iterdir()] == ["X"]


@pytest.mark.parametrize("options", [{}, {"max_features": 30}, {"min_df": 6}], ids=str)
@pytest.mark.parametrize("fan", [3, 64])
def test_terms_beyond_the_limit_are_counted_on_disk(options, fan, tmp_path, monkeypatch):
    monkeypatch.setattr(counting, "FAN", fan)
    memory = TfidfVectorizer(**options)
    Y = memory.fit_transform(NEWS)
    written, write = [], TermCounts._write

    def noted(self, found):
        written.append(len(self._runs))
        write(self, found)

    monkeypatch.setattr(TermCounts, "_write", noted)
    streamed = TfidfVectorizer(**options)
    limit = 2 * TERM * len(memory.vocabulary_)
    if not options:  # all terms are kept, so that some must be counted on disk by other means
        monkeypatch.setattr(TermCounts, "kept", lambda self, *_: list(self.found()))
        limit = TERM * 100
    assert_same(streamed, streamed.fit_transform_to(tmp_path / "X", NEWS, limit), memory, Y)
    assert len(written) > 2 and max(written) < fan
    assert {p.name for p in (tmp_path / "X").iterdir()} == {
        "indptr.npy", "indices.npy", "data.npy", "shape.json",
    }  # fmt: skip


def test_a_vocabulary_beyond_the_limit_is_refused(tmp_path):
    with pytest.raises(UserError, match="more than 100 words.*20,000 bytes.*Raise min_df.*hash"):
        TfidfVectorizer().fit_transform_to(tmp_path / "X", NEWS, TERM * 100)
    assert not list(tmp_path.iterdir())


def test_texts_that_come_once_are_refused_unless_one_pass_is_enough(tmp_path):
    with pytest.raises(UserError, match="only once.*Give a list"):
        TfidfVectorizer().fit_transform_to(tmp_path / "X", iter(NEWS))
    assert not list(tmp_path.iterdir())
    hashed = TfidfVectorizer(hashing=64, idf=False)
    X = hashed.fit_transform_to(tmp_path / "X", iter(NEWS))
    assert_same(hashed, X, TfidfVectorizer(hashing=64, idf=False).fit(NEWS), hashed.transform(NEWS))


@pytest.mark.parametrize("options", [{}, {"hashing": 8}, {"hashing": 8, "idf": False}], ids=str)
def test_no_texts_and_bad_ones_are_refused_and_leave_nothing(options, tmp_path):
    with pytest.raises(UserError, match="There are no documents"):
        TfidfVectorizer(**options).fit_transform_to(tmp_path / "X", [])
    with pytest.raises(UserError, match="Document 1 is None"):
        TfidfVectorizer(**options).fit_transform_to(tmp_path / "X", ["fine", None])
    assert not list(tmp_path.iterdir())


def test_an_old_matrix_stays_where_the_new_one_fails(tmp_path):
    first = TfidfVectorizer().fit_transform_to(tmp_path / "X", NEWS)
    with pytest.raises(UserError, match="min_df"):
        TfidfVectorizer(min_df=1000).fit_transform_to(tmp_path / "X", NEWS)
    assert (open_rows(tmp_path / "X") != first).nnz == 0


@given(st.lists(st.lists(st.text("abcé\n\ud800", max_size=2))), st.integers(1, 9), st.booleans())
def test_term_counts_are_those_of_the_definition(documents, most, totals):
    with tempfile.TemporaryDirectory() as folder:
        counts = TermCounts(totals, most * TERM * (1 + totals), Path(folder))
        for document in documents:
            counts.add(iter(document))
        terms = sorted({term for document in documents for term in document})
        assert list(counts.found()) == [
            Found(
                term,
                sum(term in document for document in documents),
                sum(document.count(term) for document in documents) if totals else 0,
            )
            for term in terms
        ]
        assert counts.any == bool(terms) and counts.n_documents == len(documents)


def test_a_term_takes_about_as_much_memory_as_is_said():
    tracemalloc.start()
    counts, before = TermCounts(), tracemalloc.get_traced_memory()[0]
    for i in range(300):
        counts.add(f"word{i}x{j}" for j in range(100))
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert 0.4 * TERM < taken / 30_000 < TERM


def test_blocks_hold_few_symbols(monkeypatch):
    monkeypatch.setattr(counting, "SYMBOLS", 10)
    texts = ["x" * n for n in (3, 30, 4, 4, 4, 1)]
    blocks = list(text_blocks(iter(texts)))
    assert [text for block in blocks for text in block] == texts
    assert list(map(len, blocks)) == [2, 3, 1]


def test_counts_of_new_and_of_known_terms():
    terms = [["a", "b", "a"], [], ["c"]]
    counts, names = counting.count_new(terms)
    assert names == ["a", "b", "c"]
    assert_array_equal(counts.toarray(), [[2, 1, 0], [0, 0, 0], [0, 0, 1]])
    known = counting.count_known(terms, {"c": 0, "a": 1})
    assert_array_equal(known.toarray(), [[0, 2], [0, 0], [1, 0]])
    assert counting.count_known([], {"a": 0}).shape == (0, 1)
