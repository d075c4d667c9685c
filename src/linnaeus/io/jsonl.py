"""JSON: one object a line, or a list of them, with `text`, and where given `id` and `labels`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

from linnaeus.errors import UserError, shorten
from linnaeus.files import open_lines
from linnaeus.io.columns import Sample, lay_out
from linnaeus.io.reading import SAMPLE, Reading, each_row
from linnaeus.io.rows import BadRowError, Example
from linnaeus.taxonomy.formats.tables import as_text


def read_jsonl(reading: Reading) -> Iterator[Example]:
    """The examples of a JSON lines file; blank lines are passed over."""
    with open_lines(reading.path, reading.options.encoding) as lines:
        rows = ((lines.line, text) for text in lines if text.strip())
        yield from _examples(reading, rows, _object)


def read_json(reading: Reading) -> Iterator[Example]:
    """The examples of a JSON file: a list of objects, alone or in an object; or JSON lines."""
    with open_lines(reading.path, reading.options.encoding) as lines:
        text = "\n".join(lines)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise reading.error(
                f"malformed JSON ({error.msg}). Correct it.", error.lineno
            ) from None
        yield from read_jsonl(reading)
        return
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
        data = lists[0] if len(lists) == 1 else [data]
    rows = ((None, row) for row in data) if isinstance(data, list) else iter(())
    yield from _examples(reading, rows, _checked)


def _examples(
    reading: Reading, rows: Iterator[tuple[int | None, Any]], parse: Callable[[Any], dict[str, Any]]
) -> Iterator[Example]:
    first = list(islice(rows, SAMPLE))
    fields = _fields(reading, list(_readable(first, parse)))

    def make(number: int, row: Any) -> Example:
        return _example(number, parse(row), reading, fields)

    yield from each_row(reading, chain(first, rows), make)


def _readable(rows: list[tuple[int | None, Any]], parse: Any) -> Iterator[dict[str, Any]]:
    for _, row in rows:
        with suppress(BadRowError):
            yield parse(row)


class Fields(NamedTuple):
    """What the fields of an object are called."""

    text: tuple[str, ...]
    labels: str
    levels: tuple[str, ...]
    id: str


def _fields(reading: Reading, rows: list[dict[str, Any]]) -> Fields:
    """What the fields are: those asked for, text and labels, or others that look like them."""
    asked = reading.options
    names = list(dict.fromkeys(name for row in rows for name in row))
    plain = Fields(
        asked.text or ("text",), asked.labels or "labels", asked.levels, asked.id or "id"
    )
    wanted = reading.labels.infer or reading.labels.taxonomy is not None
    unlabelled = wanted and not (plain.labels in names or plain.levels)
    missing = unlabelled or not {*plain.text} & {*names}
    found = _guessed(reading, names, rows, plain) if rows and missing else plain
    values = [row.get(found.labels) for row in rows]
    cells = [value for value in values if isinstance(value, str)]
    listed = [v for value in values if isinstance(value, list) for v in value if isinstance(v, str)]
    reading.labels.learn(cells or listed, found.labels.casefold(), whole=not cells)
    return found


def _guessed(
    reading: Reading, names: list[str], rows: list[dict[str, Any]], plain: Fields
) -> Fields:
    sample = Sample(names, [[shown(row.get(name)) for name in names] for row in rows])
    asked = reading.options
    if plain.text[0] in names:
        asked = replace(asked, text=plain.text)
    knows = reading.labels.taxonomy is not None
    try:
        layout = lay_out(sample, asked, reading.labels.share_of if knows else None)
    except UserError:
        return plain
    told = [note for note in layout.notes if not note.startswith("labels") or layout.labels]
    if told:
        reading.notes.append(f"{reading.path.name}: fields read as {'; '.join(told)}.")
    given = layout.options()
    labels = plain.labels if layout.labels is None else names[layout.labels]
    return Fields(given.text or plain.text, labels, given.levels, given.id or plain.id)


def shown(value: Any) -> str:
    """A value as a cell would show it: lists with bars between."""
    return "|".join(map(as_text, value)) if isinstance(value, list) else as_text(value)


def _example(number: int, row: dict[str, Any], reading: Reading, fields: Fields) -> Example:
    rest = dict(row)
    texts = [rest.pop(name, None) for name in fields.text]
    for name, text in zip(fields.text, texts, strict=True):
        if not isinstance(text, str) and (text is not None or len(texts) == 1):
            raise BadRowError(
                f'the field "{name}" is {"missing" if text is None else shorten(text)}. Give every '
                f'object a text: {{"{name}": "..."}}.',
                kind="no_text",
            )
    name, given = rest.pop(fields.id, None), rest.pop(fields.labels, None)
    key = str(number if name is None else name)
    text = "\n".join(text for text in texts if text)
    labels = _labels(given, [rest.pop(level, None) for level in fields.levels], reading)
    return Example(key, labels, text, metadata=row if reading.keeps else rest)


def _labels(given: Any, levels: list[Any], reading: Reading) -> list[Any]:
    if levels:
        return reading.labels.level("" if level is None else str(level) for level in levels)
    labels = reading.labels
    if isinstance(given, str) and labels.taxonomy is None and not labels.infer:
        given = [given]
    return labels.of_value(given)


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        shown = shorten(line[max(0, error.pos - 20) : error.pos + 20])
        raise BadRowError(
            f"malformed JSON at column {error.pos + 1}, near {shown} ({error.msg}). Write one "
            f"complete JSON object on each line."
        ) from None
    except (RecursionError, ValueError) as error:  # nested too deeply, a number too long
        raise BadRowError(f"{shorten(line)} cannot be read ({error}). Simplify it.") from None
    return _checked(value, line)


def _checked(value: Any, line: str | None = None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRowError(
            f"{shorten(line or value)} is not a JSON object. Write "
            f'{{"text": "...", "labels": [...]}}.'
        )
    return value
