"""Texts as vectors: words, and the weights that words get."""

from linnaeus.text.descriptions import class_descriptions, description_attributes
from linnaeus.text.spectrum import SpectrumVectorizer
from linnaeus.text.stop_words import ENGLISH
from linnaeus.text.tfidf import TfidfVectorizer
from linnaeus.text.tokens import WORD, ngrams, tokenize

__all__ = [
    "ENGLISH",
    "WORD",
    "SpectrumVectorizer",
    "TfidfVectorizer",
    "class_descriptions",
    "description_attributes",
    "ngrams",
    "tokenize",
]
