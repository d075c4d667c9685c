"""Text files, plain or gzip: read with errors that name the line, written whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from linnaeus.errors import FormatError, UserError

_GZIP_MAGIC = b"\x1f\x8b"


class LineReader:
    """The lines of an open file without their ends; `line` is the number of the last one.

    A broken gzip stream or text that is not UTF-8 becomes a `FormatError` that names the line.
    """

    def __init__(self, path: Path, handle: TextIO) -> None:
        self.path, self.line, self._handle = path, 0, handle

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            text = next(self._handle)
        except EOFError:
            raise self.error(
                "the gzip file is cut off after this line. Fetch or compress it again."
            ) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self.error(f"the gzip file is damaged ({error}). Fetch it again.") from None
        self.line += 1
        if not text.isascii():
            self._check_utf8(text)
        return text.rstrip("\r\n")

    def _check_utf8(self, text: str) -> None:
        """Bytes that are not UTF-8 were decoded to lone surrogates, which cannot be encoded."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            bad = ord(text[error.start]) - 0xDC00
            raise self.error(
                f"byte 0x{bad:02x} is not valid UTF-8. Save the file as UTF-8, for example with "
                f"iconv -f latin1 -t utf-8."
            ) from None

    def error(self, message: str) -> FormatError:
        """An error at the current line."""
        return FormatError(self.path, message, self.line)


@contextmanager
def open_lines(path: str | Path) -> Iterator[LineReader]:
    """Read a text file line by line: gzip by content, a byte order mark and \\r\\n allowed."""
    path = Path(path)
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise UserError(f"There is no file {path}. Check the path.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder. Name a file.") from None
    except PermissionError:
        raise UserError(f"The file {path} cannot be read. Check its permissions.") from None
    with raw:
        packed = raw.peek(2)[:2] == _GZIP_MAGIC
        stream = gzip.GzipFile(fileobj=raw) if packed else raw
        with io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape") as handle:
            yield LineReader(path, handle)


def read_text(path: str | Path) -> str:
    """The whole of a text file, lines ended by \\n."""
    with open_lines(path) as lines:
        return "\n".join(lines)


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A temporary file beside `path`, to be written by the caller and renamed at the end.

    When anything goes wrong, Ctrl-C included, the old file stays and nothing else is left.
    """
    path = Path(os.path.realpath(path))  # a link stays a link: what it points at is replaced
    if path.is_dir():
        raise UserError(f"{path} is a folder, but a file is to be written there. Name a file.")
    special = path.exists() and not path.is_file()  # a device or a pipe is written to, not replaced
    folder = tempfile.gettempdir() if special else path.parent
    name = os.path.join(folder, f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileNotFoundError:
        raise UserError(f"There is no folder {path.parent} to write {path.name} into.") from None
    except PermissionError:
        raise UserError(
            f"The folder {path.parent} cannot be written to. Check its permissions."
        ) from None
    os.close(descriptor)
    try:
        yield Path(name)
        if special:
            path.write_bytes(Path(name).read_bytes())
            os.unlink(name)
            return
        os.replace(name, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


@contextmanager
def atomic_write(path: str | Path) -> Iterator[TextIO]:
    """Write a text file whole or not at all (see `atomic_path`); gzip for ``.gz``."""
    with atomic_path(path) as temporary, temporary.open("wb") as raw:
        # no name and no time inside the gzip header: equal content gives equal bytes
        packed = Path(path).suffix == ".gz"
        stream = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if packed else raw
        with io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as handle:
            yield handle
