"""Pieces of a text: they are the text, and their values are the contributions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.explanation.spans import Piece, occurrences
from linnaeus.text import SpectrumVectorizer, TfidfVectorizer

TEXTS = [
    "The cat sat on the mat.", "A STRASSE is a street", "the fat cat, the fat dog",
    "ca 手机 हिन्दी ที่ค้า ガ 가 ας",
]  # fmt: skip
VECTORIZERS = {
    "words": TfidfVectorizer(),
    "pairs": TfidfVectorizer(ngram_range=(1, 3), stop_words=["the"]),
    "case": TfidfVectorizer(lowercase=False, token_pattern=r"\w+"),
    "group": TfidfVectorizer(token_pattern=r"(\w)\w*"),
    "characters": TfidfVectorizer(analyzer="char", ngram_range=(2, 3)),
    "hashed": TfidfVectorizer(hashing=16, ngram_range=(1, 2)),
    "plain words": TfidfVectorizer(analyzer="word", ngram_range=(1, 2)),
    "plain characters": TfidfVectorizer(analyzer="char", ngram_range=(2, 3)),
    "pieces": TfidfVectorizer(analyzer="pieces", ngram_range=(1, 2)),
    "letters": TfidfVectorizer(analyzer="letters", ngram_range=(1, 3)),
    "spectrum": SpectrumVectorizer(p=3, q=2),
}


@pytest.mark.parametrize("name", VECTORIZERS)
@given(
    st.one_of(
        st.text("catfdo ßşİẞﬁ.,STREE", max_size=40),
        st.text("ca ßİı\u0301\u0307\u00adΆςｶﾞ手机हिन्ทีค้ـَﷺ가\u1100\u1161x", max_size=20),
        st.lists(st.sampled_from(["The", "fat", "cat", "Straße", "x"]), max_size=8).map(" ".join),
    )
)
def test_pieces_are_the_text_and_add_up(name, text):
    vectorizer = VECTORIZERS[name].fit(TEXTS)
    row = vectorizer.transform([text])
    contributions = {j: float(np.sin(j + 1)) for j in row.indices.tolist()}
    pieces = occurrences(vectorizer, text).pieces(contributions)
    assert "".join(piece.text for piece in pieces) == text
    total = sum(piece.value for piece in pieces if piece.value is not None)
    assert total == pytest.approx(sum(contributions.values()))


def test_a_word_has_what_its_terms_give_it():
    vectorizer = TfidfVectorizer(ngram_range=(1, 2)).fit(["fat cat"])
    column = vectorizer.vocabulary_
    pieces = occurrences(vectorizer, "Fat cat! Cat.").pieces(
        {column["fat cat"]: 1.0, column["cat"]: 4.0}
    )
    assert pieces == [
        Piece("Fat", 0.5), Piece(" ", None), Piece("cat", 2.5), Piece("! ", None),
        Piece("Cat", 2.0), Piece(".", None),
    ]  # fmt: skip


def test_words_are_found_where_folding_makes_them_longer():
    vectorizer = TfidfVectorizer().fit(["strasse"])
    pieces = occurrences(vectorizer, "Eine STRAßE!").pieces({0: 1.0})
    assert Piece("STRAßE", 1.0) in pieces


def test_functions_as_analyzers_have_no_places():
    vectorizer = TfidfVectorizer(analyzer=str.split).fit(["a b"])
    assert occurrences(vectorizer, "a b") is None
