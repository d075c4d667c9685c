"""From a text to terms: words or characters, alone or in runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from linnaeus.text import writing

WORD = r"\w\w+"  # two or more letters, digits or underscores, in any script


def tokenize(text: str, pattern: str = WORD, lowercase: bool = True) -> list[str]:
    r"""The words of a text, in one spelling; whatever matches `pattern` is a word.

    Parameters
    ----------
    text : str
        The text.
    pattern : str, default='\\w\\w+'
        Regular expression of a word; in it ``\\w`` stands for letters with their marks.
    lowercase : bool, default=True
        Whether to fold case.

    Returns
    -------
    list of str

    Examples
    --------
    >>> tokenize("The cat was chased by a Straße.")
    ['the', 'cat', 'was', 'chased', 'by', 'strasse']
    >>> tokenize("a b", pattern=r"\w")
    ['a', 'b']
    """
    folded = writing.fold(text, lowercase, greek=False)
    if not (writing.is_usual(folded) or writing.is_plain(folded)):
        return [folded[i:j] for i, j in writing.cut(folded, pattern, apart=False).words]
    words: list[str] = re.findall(pattern, folded)
    return words


def ngrams(tokens: Sequence[str], shortest: int, longest: int, glue: str = " ") -> Iterator[str]:
    """Runs of `shortest` to `longest` tokens, the short ones first.

    Parameters
    ----------
    tokens : sequence of str
        The tokens, in order.
    shortest : int
        Tokens of the shortest run.
    longest : int
        Tokens of the longest run.
    glue : str, default=' '
        What stands between tokens.

    Yields
    ------
    str
        One run.

    Examples
    --------
    >>> list(ngrams(["a", "fat", "dog"], 1, 2))
    ['a', 'fat', 'dog', 'a fat', 'fat dog']
    """
    for n in range(shortest, longest + 1):
        if n == 1:
            yield from tokens
        else:
            for i in range(len(tokens) - n + 1):
                yield glue.join(tokens[i : i + n])
