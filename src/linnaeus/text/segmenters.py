"""Libraries that cut Chinese, Japanese and Thai into words; none is needed, each may be installed.

A vectoriser names the one that it uses, so that a saved model says what it needs.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from linnaeus.errors import UserError

Span = tuple[int, int]
HAN, KANA, THAI = (
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af",
    "\u3041-\u30ff",
    "\u0e01-\u0e4e",
)


class Segmenter(NamedTuple):
    """What a library cuts, and how it is called."""

    language: str  # code
    letters: str  # ranges of characters
    install: str
    make: Callable[[Any], Callable[[str], Any]]  # from the module to a function of a text


def _jieba(module: Any) -> Callable[[str], Any]:
    module.setLogLevel(60)
    return lambda text: module.cut(text)


def _janome(module: Any) -> Callable[[str], Any]:
    cutter = importlib.import_module("janome.tokenizer").Tokenizer()
    return lambda text: cutter.tokenize(text, wakati=True)


def _fugashi(module: Any) -> Callable[[str], Any]:
    cutter = module.Tagger()
    return lambda text: (word.surface for word in cutter(text))


def _sudachi(module: Any) -> Callable[[str], Any]:
    cutter = module.Dictionary().create()
    return lambda text: (word.surface() for word in cutter.tokenize(text))


def _pythainlp(module: Any) -> Callable[[str], Any]:
    cut = importlib.import_module("pythainlp.tokenize").word_tokenize
    return lambda text: cut(text, engine="newmm")


SEGMENTERS = {
    "jieba": Segmenter("zh", HAN, "jieba", _jieba),
    "fugashi": Segmenter("ja", HAN + KANA, "'fugashi[unidic-lite]'", _fugashi),
    "sudachipy": Segmenter("ja", HAN + KANA, "sudachipy sudachidict_core", _sudachi),
    "janome": Segmenter("ja", HAN + KANA, "janome", _janome),
    "pythainlp": Segmenter("th", THAI, "pythainlp", _pythainlp),
}


def installed_segmenter(language: str) -> str | None:
    """The first library that cuts this language and works here; None without one.

    Parameters
    ----------
    language : str
        Code, such as 'zh'.

    Returns
    -------
    str or None
    """
    for name, entry in SEGMENTERS.items():
        if entry.language == language and importlib.util.find_spec(name) is not None:
            try:
                segmenter(name)
            except UserError:  # its dictionary is missing
                continue
            return name
    return None


@cache
def segmenter(name: str) -> Callable[[str], Iterator[Span]]:
    """The function that says where the words of a run of letters are.

    Parameters
    ----------
    name : str
        A library in `SEGMENTERS`.

    Returns
    -------
    callable
        From a text to the places of its words.
    """
    entry = SEGMENTERS[name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            words = entry.make(importlib.import_module(name))
            list(words("\u4e00"))
    except Exception as error:
        raise UserError(
            f"The words are found by the library {name}, which does not work here ({error}). "
            f"Install it with: pip install {entry.install}. Or train again without it."
        ) from error

    def places(text: str) -> Iterator[Span]:
        end = 0
        for word in words(text):
            start = text.find(word, end)
            if word and start >= 0:
                end = start + len(word)
                yield start, end

    return places
