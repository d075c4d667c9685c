"""Texts as vectors: words, and the weights that words get."""

from linnaeus.text.descriptions import class_descriptions, description_attributes
from linnaeus.text.languages import guess_language, language_shares
from linnaeus.text.spectrum import SpectrumVectorizer
from linnaeus.text.stop_words import ENGLISH
from linnaeus.text.tfidf import TfidfVectorizer
from linnaeus.text.tokens import WORD, ngrams, tokenize
from linnaeus.text.writing import fold, fold_with_places

__all__ = [
    "ENGLISH",
    "WORD",
    "SpectrumVectorizer",
    "TfidfVectorizer",
    "class_descriptions",
    "description_attributes",
    "fold",
    "fold_with_places",
    "guess_language",
    "language_shares",
    "ngrams",
    "tokenize",
]
