"""How words are written: their one spelling, marks of letters, scripts without blanks.

`fold` gives one spelling to a word however it was typed: composed or decomposed accents, capitals,
full-width letters, soft hyphens, Arabic vowel signs and stretching, Greek accents (which capitals
lose), and the Turkish i with and without a dot (which capitals of other languages mix up). A text
that is plain ASCII takes none of these steps.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

Span = tuple[int, int]

# Scripts without blanks between words: of syllables and ideas, and of letters
IDEOGRAPHS = (
    "\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U000323af"
)
LETTERS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ecf\u0edc-\u0edf\u1000-\u103f\u104c-\u108f\u109a-\u109f\u1780-\u17d3"
    "\u17d7\u17dc\u17dd\u1950-\u19cf\u1a20-\u1a5e\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a-\uaadf"
)  # Thai, Lao, Burmese, Khmer, Tai
LONGEST = ((IDEOGRAPHS, 3), (LETTERS, 4))  # letters of the longest run that is a term

# Written or not, the word is the same: hyphens at line ends, joiners, directions, variants, vowel
# points of Hebrew and Arabic, tatweel; zero-width blanks part words
_SILENT = (
    "\u00ad\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f"
    "\ufeff\U000e0100-\U000e01ef"
)
# Letters of other shapes: ligatures, Arabic as printed, full and half width, mathematical
_SHAPES = (
    "\u0132\u0133\u0149\u01c4-\u01cc\u01f1-\u01f3\ufb00-\ufb17\ufb1d-\ufb4f\ufb50-\ufdf9\ufe70-\ufefc\uff01-\uffee"
    "\U0001d400-\U0001d7ff"
)
_SILENCE = re.compile(f"[{_SILENT}]+")
_SHAPE = re.compile(f"[{_SHAPES}]+")
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff][\u0300-\u036f]*")
_DOTTED = re.compile("i\u0307+|\u0131\u0307*")
_ODD = re.compile(f"[{_SILENT}{_SHAPES}\u0307\u0131\u0370-\u03ff\u1f00-\u1fff]")
_RUN = re.compile(f"[{IDEOGRAPHS}]+|[{LETTERS}]+")
_RARE = "\U00011000-\U00011fff"  # Indian scripts of the past, and a few of today
_UNUSUAL = re.compile(  # all but letters and signs of Europe, the Caucasus, Ethiopia and Korea
    "[^\x00-\xac\xae-\u0130\u0134-\u0148\u014a-\u01c3\u01cd-\u01f0\u01f4-\u02ff\u0400-\u0482\u048a-\u0590"
    "\u10a0-\u10ff\u1200-\u135a\u1e00-\u1eff\u2010-\u2029\u202f-\u205f\u2070-\u20cf\u2100-\u2125"
    "\u2127-\u2129\u212c-\u2328\u232b-\u2adb\u2add-\u2bff\uac00-\ud7a3]"
)  # their one spelling is that of their folded case, and words have blanks between them
_OF_WORDS = re.compile(r"\\[wWbB]")  # what a pattern says of letters in general


class Cut(NamedTuple):
    """A folded text, where its words are, and its runs of scripts without blanks."""

    text: str
    words: list[Span]
    runs: list[Span]


def fold(text: str, lowercase: bool = True, greek: bool = True) -> str:
    """The text in one spelling.

    Parameters
    ----------
    text : str
        The text.
    lowercase : bool, default=True
        Whether to fold case.
    greek : bool, default=True
        Whether Greek letters lose their accents with their case.

    Returns
    -------
    str

    Examples
    --------
    >>> fold("Cafe\u0301 STRASSE \u0130stanbul") == fold("caf\u00e9 Stra\u00dfe ISTANBUL")
    True
    """
    folded = text.casefold() if lowercase else text
    if is_usual(folded):
        return folded
    text = unicodedata.normalize("NFC", text)
    folded = unicodedata.normalize("NFC", text.casefold()) if lowercase else text
    if not _ODD.search(folded):
        return folded
    text = _SHAPE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    text = unicodedata.normalize("NFC", _SILENCE.sub("", text))
    if lowercase:
        text = _DOTTED.sub("i", (_GREEK.sub(_bare, text) if greek else text).casefold())
    return unicodedata.normalize("NFC", text)


def _bare(letter: re.Match[str]) -> str:
    """A Greek letter without its accents, which it loses in capitals."""
    return unicodedata.normalize("NFD", letter[0])[:1]


def fold_with_places(text: str, lowercase: bool = True) -> tuple[str, list[Span]]:
    """The folded text, and for each of its characters the part of the text that it comes from.

    Parameters
    ----------
    text : str
        The text.
    lowercase : bool, default=True
        Whether to fold case.

    Returns
    -------
    tuple of (str, list of tuple)
    """
    parts = [(fold(found[0], lowercase), found.span()) for found in _clusters().finditer(text)]
    return "".join(part for part, _ in parts), [span for part, span in parts for _ in part]


def cut(text: str, pattern: str, apart: bool = True) -> Cut:
    r"""Where the words of a folded text are.

    Parameters
    ----------
    text : str
        The text, folded.
    pattern : str
        Regular expression of a word; in it ``\w`` stands for letters with their marks.
    apart : bool, default=True
        Whether what a pattern with ``\w`` finds of scripts without blanks is no word but a run.

    Returns
    -------
    Cut

    Examples
    --------
    >>> found = cut("iphone手机", r"\w+")
    >>> found.words, found.runs
    ([(0, 6)], [(6, 8)])
    """
    seen, runs, general = text, [], _OF_WORDS.search(pattern)
    if general and apart:
        runs = [found.span() for found in _RUN.finditer(text)]
        seen = _RUN.sub(lambda found: " " * len(found[0]), text) if runs else text
    if general:
        seen = marks().sub("a", seen)  # a mark is part of the word like any letter
    compiled = re.compile(pattern)
    group = 1 if compiled.groups == 1 else 0
    places = [found.span(group) for found in compiled.finditer(seen)]
    return Cut(text, [(start, end) for start, end in places if start < end], runs)


def letters(text: str) -> list[str]:
    """The letters of a text, each with its marks.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    list of str

    Examples
    --------
    >>> letters("ที่นี่")
    ['ที่', 'นี่']
    """
    if text.isascii() or not marks().search(text):
        return list(text)
    return _letter().findall(text)


def longest_run(letter: str) -> int:
    """How many letters of a script without blanks the longest run that is a term has.

    Parameters
    ----------
    letter : str
        The first letter of the run.

    Returns
    -------
    int
    """
    return next((n for script, n in LONGEST if re.match(f"[{script}]", letter)), 1)


def is_usual(text: str) -> bool:
    """Whether a text with its case folded needs no further look.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    bool
    """
    return text.isascii() or not _UNUSUAL.search(text)


def is_plain(text: str) -> bool:
    """Whether a folded text has blanks between words, and no marks beside its letters.

    Parameters
    ----------
    text : str
        The text, folded.

    Returns
    -------
    bool
    """
    return not _special().search(text)


@cache
def marks() -> re.Pattern[str]:
    """The marks that are written over, under or beside letters: accents, vowels, tones.

    Returns
    -------
    Pattern
    """
    return re.compile(_mark())


@cache
def _mark() -> str:
    """The expression of a mark; the rare ones apart, since each of their ranges costs time."""
    blocks = ((0x300, 0x3100), (0xA66F, 0xAC00), (0xFB1E, 0xFB1F), (0xFE20, 0xFE30))
    usual = "".join(_marks_of(*block) for block in blocks)
    return f"(?:[{usual}]|(?=[{_RARE}])[{_marks_of(0x11000, 0x12000)}])"


def _marks_of(first: int, end: int) -> str:
    """The marks of a block, as ranges."""
    codes = {c for c in range(first, end) if unicodedata.category(chr(c)) in ("Mn", "Mc")}
    starts = sorted(c for c in codes if c - 1 not in codes)
    ends = sorted(c for c in codes if c + 1 not in codes)
    return "".join(f"{chr(i)}-{chr(j)}" for i, j in zip(starts, ends, strict=True))


@cache
def _special() -> re.Pattern[str]:
    return re.compile(f"[{IDEOGRAPHS}{LETTERS}{_RARE}]|{_mark()}")


@cache
def _letter() -> re.Pattern[str]:
    return re.compile(f"(?s:.){_mark()}*")


@cache
def _clusters() -> re.Pattern[str]:
    """Characters that may become one: with marks, silent signs, parts of Hangul, voicing."""
    return re.compile(f"(?s:.)(?:{_mark()}|[{_SILENT}\u1160-\u11ff\ud7b0-\ud7fb\uff9e\uff9f])*")
