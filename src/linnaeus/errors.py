"""What the library raises when the input, not the program, is at fault.

Every message names the thing, the value and the remedy. Front ends catch `UserError` once:
exit code 1 on the command line, status 400 over HTTP.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

_SHOWN = 60


def cut(text: str, limit: int = _SHOWN) -> str:
    """A text for a message, cut when it is longer than a line."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"


def shorten(value: object) -> str:
    """A value for a message: a text in quotes, and cut when it is longer than a line."""
    return repr(cut(value)) if isinstance(value, str) else cut(repr(value))


def listed(values: Iterable[object], most: int = 4) -> str:
    """The first of some values for a message."""
    shown = list(islice(values, most + 1))
    return ", ".join(map(shorten, shown[:most])) + (", ..." if len(shown) > most else "")


def nearest(name: object, known: Iterable[object]) -> str:
    """A hint at the known name that is nearest to a mistyped one, for messages; or nothing."""
    if not isinstance(name, str) or len(name) > 100:
        return ""
    texts = [k for k in islice(known, 20_000) if isinstance(k, str)]
    close = [k for k in texts if k.casefold() == name.casefold()]
    close = close or [k for k in texts if len(name) > 2 and k.startswith(name)]
    close = close or difflib.get_close_matches(name, texts, 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


class UserError(ValueError):
    """A mistake in what the user gave; the message says how to fix it.

    `shell` says it in the words of the command line, where they differ from Python's.
    """

    def __init__(self, message: str = "", shell: str | None = None) -> None:
        super().__init__(message)
        self.shell = message if shell is None else shell


def check_choice(name: str, value: object, known: Iterable[str]) -> None:
    """Refuse a value of a parameter that is none of those known."""
    if value not in (known := tuple(known)):
        hint = nearest(value, known)
        raise UserError(
            f"{name}={shorten(value)} is not known{hint}. Use one of: {', '.join(known)}."
        )


def check_like(default: object, value: object, what: str) -> None:
    """Refuse a text, a list or the like where the default of a parameter is a number.

    what : the parameter, as the message is to name it
    """
    number = isinstance(default, int | float) and not isinstance(default, bool)
    if number and isinstance(value, bool | str | list | dict):
        raise UserError(f"{what} is {shorten(value)}, where a number is needed, such as {default}.")


class TaxonomyError(UserError):
    """The nodes and edges given do not form a taxonomy."""


class FormatError(UserError):
    """A file cannot be read; knows the file, and the line where one is at fault."""

    def __init__(
        self, path: str | Path, message: str, line: int | None = None, shell: str | None = None
    ) -> None:
        self.path, self.line, self.reason, self._shell = str(path), line, message, shell
        where = f"{path}, line {line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {message}", f"{where}: {shell or message}")

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), (self.path, self.reason, self.line, self._shell)


class MissingExtraError(UserError, ImportError):
    """A feature needs a package that only an extra installs."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package {package!r}, which is not installed. "
            f'Install it with: pip install "linnaeus[{extra}]"'
        )
