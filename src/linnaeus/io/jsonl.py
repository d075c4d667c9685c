"""JSON lines: one object a line with `text`, and where given `id`, `labels` and other fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from linnaeus.errors import shorten
from linnaeus.files import open_lines
from linnaeus.io.labels import Labels
from linnaeus.io.reading import Reading, each_row
from linnaeus.io.rows import BadRowError, Example


def read_jsonl(reading: Reading) -> Iterator[Example]:
    """The examples of a JSON lines file; blank lines are passed over."""

    def parse(number: int, line: str) -> Example:
        return _example(number, line, reading.labels)

    with open_lines(reading.path) as lines:
        yield from each_row(reading, ((lines.line, s) for s in lines if s.strip()), parse)


def _example(number: int, line: str, labels: Labels) -> Example:
    fields = _object(line)
    text = fields.pop("text", None)
    if not isinstance(text, str):
        raise BadRowError(
            f'the field "text" is {"missing" if text is None else shorten(text)}. Give every '
            f'object a text: {{"text": "..."}}.'
        )
    name, given = fields.pop("id", None), fields.pop("labels", None)
    given = [] if given is None else given if isinstance(given, list) else [given]
    key = str(number if name is None else name)
    return Example(key, labels.resolve(given), text, metadata=fields)


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
