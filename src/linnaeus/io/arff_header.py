"""The header of an ARFF file: attributes, their types and the columns they become."""

from __future__ import annotations

import re
from typing import NamedTuple

from linnaeus.errors import shorten
from linnaeus.files import LineReader
from linnaeus.io.columns import Sample
from linnaeus.io.reading import Reading, check_columns

QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|\S+)\s+(.+)", re.IGNORECASE)
_CELL = re.compile(rf"\s*({QUOTED}|[^,]*)\s*(,|$)")
_KINDS = {"numeric": "numeric", "real": "numeric", "integer": "numeric"} | {
    kind: kind for kind in ("string", "date", "key", "hierarchical")
}


class Attribute(NamedTuple):
    """A column of the file; features begin at column `start` of the matrix."""

    name: str
    kind: str  # numeric, nominal, string, date, key, hierarchical
    position: int
    start: int
    values: dict[str, int]  # of a nominal attribute: value -> place


class Header(NamedTuple):
    """The attributes by what they are used for."""

    all: list[Attribute]
    numeric: list[Attribute]
    nominal: list[Attribute]
    others: list[Attribute]
    labels: Attribute | None
    id: Attribute | None
    names: list[str]  # of the columns of the matrix


def read_header(reading: Reading, lines: LineReader) -> Header:
    """Everything up to @data."""
    attributes: list[Attribute] = []
    width = 0
    for line in map(str.strip, lines):
        word = line.split(None, 1)[0].lower() if line else ""
        if word == "@data":
            return _arrange(reading, attributes, lines.line)
        if word == "@attribute":
            attribute = _attribute(lines, line, len(attributes), width)
            attributes.append(attribute)
            width += len(_columns(attribute))
        elif word and word != "@relation" and line[0] != "%":
            raise lines.error(f"{shorten(line)} is not a line of an ARFF header. Begin it with %.")
    raise reading.error("there is no line @data. The header of an ARFF file ends with one.")


def _attribute(lines: LineReader, line: str, position: int, start: int) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise lines.error(
            f"{shorten(line)} does not name an attribute and its type. Write "
            f"@attribute 'a name' numeric."
        )
    name, spec = unquote(match[1]), match[2].strip()
    if spec.startswith("{") and spec.endswith("}"):
        values = split_cells(spec[1:-1])
        places = {value: i for i, value in enumerate(dict.fromkeys(values))}
        return Attribute(name, "nominal", position, start, places)
    kind = _KINDS.get(spec.split(None, 1)[0].lower())
    if kind is None:
        raise lines.error(
            f"attribute {shorten(name)} has the unknown type {shorten(spec)}. Known are numeric, "
            f"real, integer, {{a, b, ...}}, string, date, key and hierarchical."
        )
    return Attribute(name, kind, position, start, {})


def _columns(attribute: Attribute) -> list[str]:
    """The names of the feature columns that an attribute becomes."""
    if attribute.kind == "nominal":
        return [f"{attribute.name}={value}" for value in attribute.values]
    return [attribute.name] if attribute.kind == "numeric" else []


def _arrange(reading: Reading, attributes: list[Attribute], line: int) -> Header:
    def of(*kinds: str) -> list[Attribute]:
        return [a for a in attributes if a.kind in kinds]

    check_columns(reading, Sample([a.name for a in attributes], []), line)
    labels, others = of("hierarchical"), of("string", "date", "key")
    if not labels and reading.needs_labels:
        raise reading.error(
            "there is no attribute of type hierarchical, which a training part must have. Name "
            "the labels so.",
            line,
        )
    if len(labels) > 1:
        raise reading.error(
            f"two attributes are hierarchical: {shorten(labels[0].name)} and "
            f"{shorten(labels[1].name)}. Remove one of them.",
            line,
        )
    names = [name for a in attributes for name in _columns(a)]
    if not names:
        raise reading.error("no attribute is numeric or nominal. Give features, or texts as jsonl.")
    reading.match_features(names, line)
    keys = [a for a in others if a.kind == "key" or a.name == "id"]
    key = keys[0] if keys else None
    others = [a for a in others if a is not key]
    label = labels[0] if labels else None
    return Header(attributes, of("numeric"), of("nominal"), others, label, key, names)


def split_cells(text: str) -> list[str]:
    """Cells between commas, with blanks and quotes around them removed."""
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    cells, at, more = [], 0, True
    while more:
        match = _CELL.match(text, at)
        assert match is not None  # the pattern matches any text up to a comma
        cells.append(unquote(match[1].strip()))
        at, more = match.end(), match[2] == ","
    return cells


def unquote(text: str) -> str:
    """A name or value without the quotes around it, and without backslashes before characters."""
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
