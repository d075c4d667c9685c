"""Multilabel svmlight: ``label,label feature:value feature:value ... # comment``.

Labels are ids (see `linnaeus.io.labels`), possibly none: the line then begins with a blank.
Features are numbered from 1 and ascend. Empty lines and lines that begin with # are no rows. A
comment ``# id=...`` names the row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnaeus.errors import shorten
from linnaeus.files import open_lines
from linnaeus.io.reading import Reading, each_row
from linnaeus.io.rows import BadRowError, Example, SparseRow

_LINE = re.compile(r"([^\s,]*+(?:\s*+,\s*+[^\s,]++)*+)(\s.*+)?", re.DOTALL)
_PAIRS = re.compile(r"\s*+(?:[0-9]++:[-+0-9.eE]++\s*+)*+")
MOST = 2**31 - 1  # feature numbers are 32-bit integers
ID = "id="  # in a comment at the end of a row: the name of the row follows


def read_svm(reading: Reading) -> Iterator[Example]:
    """The examples of an svmlight file, float32 unless asked otherwise."""
    dtype = reading.number_type(np.float32)

    def parse(number: int, line: str) -> Example:
        row, _, comment = line.partition("#")
        labels, tail = split_row(row)
        key = comment.strip().removeprefix(ID) if comment.lstrip().startswith(ID) else ""
        x = _features(tail, dtype)
        return Example(key or str(number), reading.labels.resolve(labels), x=x)

    with open_lines(reading.path) as lines:
        rows = ((lines.line, line) for line in lines if line and line[0] != "#")
        yield from each_row(reading, rows, parse)


def split_row(line: str) -> tuple[list[str], str]:
    """The labels of a row, possibly with blanks around their commas, and what follows them."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise BadRowError(
            f"{shorten(line)} does not begin with labels. Separate labels by commas, and begin "
            f"a row without labels with a blank."
        )
    head, tail = match.groups(default="")
    return [s.strip() for s in head.split(",")] if head else [], tail


def _features(tail: str, dtype: np.dtype[np.floating]) -> SparseRow:
    """The pairs of a row as arrays; numbers from 0."""
    pairs = read_pairs(tail, dtype)
    if pairs is None:
        raise BadRowError(explain(tail, dtype))
    numbers, values = pairs
    ascend = numbers.size == 0 or (
        numbers[0] >= 1 and numbers[-1] <= MOST and bool((numbers[1:] > numbers[:-1]).all())
    )
    if not (ascend and np.isfinite(values).all()):
        raise BadRowError(explain(tail, dtype))
    return SparseRow((numbers - 1).astype(np.int32), values)


def read_pairs(tail: str, dtype: Any) -> tuple[NDArray[np.float64], NDArray[Any]] | None:
    """Feature numbers and values of a row as they are written; None where one is not a number."""
    if _PAIRS.fullmatch(tail) is None:
        return None
    try:
        flat = np.array(list(map(float, tail.replace(":", " ").split())))
    except ValueError:
        return None
    with np.errstate(over="ignore"):
        return flat[::2], flat[1::2].astype(dtype)


def explain(tail: str, dtype: np.dtype[np.floating], first: int = 1) -> str:
    """What is wrong with the features of a row: the first fault, from the left.

    first : the lowest number that a feature may have
    """
    tokens = tail.split()
    for token in tokens:
        fault = _fault(token, dtype, first)
        if fault:
            return f"feature {shorten(token)} {fault}"
    for before, token in pairwise(tokens):
        if float(token.partition(":")[0]) <= float(before.partition(":")[0]):
            return (
                f"feature {shorten(token)} follows {shorten(before)}, but features must ascend. "
                f"Sort them, and give each one once."
            )
    raise AssertionError(f"no fault in {shorten(tail)}")


def _fault(token: str, dtype: np.dtype[np.floating], first: int) -> str:
    number, colon, value = token.partition(":")
    if not (colon and re.fullmatch("[0-9]+", number)):
        return "is not a number, a colon and a value. Write 17:0.5, and labels first on the line."
    if float(number) < first:
        return "has the number 0, but features are numbered from 1. Add 1 to every number."
    if float(number) > MOST:
        return f"has a number above {MOST}. Number the features from 1 without large gaps."
    try:
        x = float(value) if "_" not in value else None
    except ValueError:
        x = None
    if x is None:
        return f"has the value {shorten(value)}, which is not a number. Write a finite number."
    with np.errstate(over="ignore"):
        finite = np.isfinite(np.float64(x).astype(dtype))
    return (
        "" if finite else f"is not finite as {dtype.name}. Write a finite number, or leave it out."
    )
