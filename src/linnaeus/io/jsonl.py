"""JSON lines: one object a line with `text`, and where given `id`, `labels` and other fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from linnaeus.errors import shorten
from linnaeus.files import open_lines
from linnaeus.io.reading import Reading, each_row
from linnaeus.io.rows import BadRowError, Example


def read_jsonl(reading: Reading) -> Iterator[Example]:
    """The examples of a JSON lines file; blank lines are passed over."""
    asked = reading.options
    texts, labels, id = asked.text or ("text",), asked.labels or "labels", asked.id or "id"
    fields = Fields(texts, labels, asked.levels, id)

    def parse(number: int, line: str) -> Example:
        return _example(number, _object(line), reading, fields)

    with open_lines(reading.path, asked.encoding) as lines:
        yield from each_row(reading, ((lines.line, s) for s in lines if s.strip()), parse)


class Fields(NamedTuple):
    """What the fields of an object are called."""

    text: tuple[str, ...]
    labels: str
    levels: tuple[str, ...]
    id: str


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
    if isinstance(given, str):
        return (
            reading.labels.split(given)
            if reading.labels.taxonomy is not None
            else reading.labels.resolve([given])
        )
    return reading.labels.resolve(
        [] if given is None else given if isinstance(given, list) else [given]
    )


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
    if not isinstance(value, dict):
        raise BadRowError(
            f'{shorten(line)} is not a JSON object. Write {{"text": "...", "labels": [...]}}.'
        )
    return value
