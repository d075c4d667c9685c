"""Text files, plain or packed: read with errors that name the line, written whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TextIO

from linnaeus.errors import FormatError, UserError, note

_GZIP_MAGIC, _ZIP_MAGIC = b"\x1f\x8b", b"PK\x03\x04"
_MARKS = {  # the longer ones first: UTF-32 begins as UTF-16 does
    b"\xff\xfe\x00\x00": "utf-32", b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16",
}  # fmt: skip


class LineReader:
    """The lines of an open file without their ends; `line` is the number of the last one.

    A broken gzip stream or text that is not UTF-8 becomes a `FormatError` that names the line,
    but a line that is not UTF-8 is read in the encoding `other`, if there is one, with a note.
    """

    def __init__(self, path: Path, handle: TextIO, other: str | None = None) -> None:
        self.path, self.line, self._handle, self._other = path, 0, handle, other

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
        except UnicodeDecodeError:
            raise self.error(
                f"the file begins as {self._handle.encoding.upper()}, but what follows is none. "
                f"Save it as UTF-8."
            ) from None
        self.line += 1
        if not text.isascii():
            text = self._checked(text)
        return text.rstrip("\r\n")

    def _checked(self, text: str) -> str:
        """Bytes that are not UTF-8 were decoded to lone surrogates, which cannot be encoded."""
        try:
            text.encode()
            return text
        except UnicodeEncodeError as error:
            bad = ord(text[error.start]) - 0xDC00
        with suppress(UnicodeError):
            if self._other is not None:
                text = text.encode("utf-8", "surrogateescape").decode(self._other)
                note(f"{self.path.name} is not UTF-8, and was read as {self._other}")
                return text
        raise self.error(
            f"byte 0x{bad:02x} is not valid UTF-8. Save the file as UTF-8 (in a spreadsheet "
            f"program: CSV UTF-8; or, if it is latin-1, with iconv -f latin1 -t utf-8)."
        )

    def error(self, message: str) -> FormatError:
        """An error at the current line."""
        return FormatError(self.path, message, self.line)


@contextmanager
def open_lines(path: str | Path, other: str | None = None) -> Iterator[LineReader]:
    """Read a text file line by line: packed by content, any byte order mark, \\r\\n allowed.

    other : encoding of lines that are not UTF-8 (None: they are an error)
    """
    path = Path(path)
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise UserError(f"There is no file {path}. Check the path.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder. Name a file.") from None
    except PermissionError:
        raise UserError(f"The file {path} cannot be read. Check its permissions.") from None
    with raw, _unpacked(path, raw) as stream:
        try:
            start = stream.peek(4)[:4]
        except (EOFError, zlib.error, OSError):
            start = b""  # a damaged file: the first line will say so
        encoding = next((kind for mark, kind in _MARKS.items() if start.startswith(mark)), None)
        if encoding:
            note(f"{path.name} is {encoding.upper()}")
        errors = "strict" if encoding else "surrogateescape"
        with io.TextIOWrapper(stream, encoding or "utf-8-sig", errors) as handle:
            yield LineReader(path, handle, other)


def _unpacked(path: Path, raw: io.BufferedReader) -> io.BufferedReader:
    """The content of a gzip file, or of a zip file that holds one file; else the file itself."""
    start = raw.peek(4)[:4]
    if start.startswith(_ZIP_MAGIC):
        return io.BufferedReader(_only_member(path, raw))  # type: ignore[arg-type]
    packed = start.startswith(_GZIP_MAGIC)
    return io.BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw


def _only_member(path: Path, raw: IO[bytes]) -> IO[bytes]:
    try:
        archive = zipfile.ZipFile(raw)
        names = [n for n in archive.namelist() if not n.endswith("/") and "__MACOSX" not in n]
        if len(names) == 1:
            return archive.open(names[0])
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise FormatError(path, f"the zip file is damaged ({error}). Pack it again.") from None
    raise FormatError(path, f"the zip file holds {len(names)} files. Unpack it, and name one.")


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
