"""Text files, plain or gzip: read with errors that name the line, written whole or not at all."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import secrets
import string
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TextIO

from linnaeus.errors import FormatError, UserError, shorten

_GZIP_MAGIC, _ZIP_MAGIC = b"\x1f\x8b", b"PK\x03\x04"
_MARKS = {  # the longer ones first: that of UTF-32 begins as that of UTF-16 does
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
_BLOCK = 1 << 20
_LETTERS = string.ascii_letters.encode()
FOREIGN = 0.25  # of the letters, from which on a text in a single-byte encoding is not Western
WESTERN = "cp1252"
_SAVE = (
    "Save the file as UTF-8: in a spreadsheet or an editor choose it when saving, or at the shell "
    "use iconv -f ENCODING -t utf-8."
)


def missing(path: Path) -> UserError:
    """What to say of a path where nothing is."""
    return UserError(f"There is no file or folder {path}. Check the path.")


def not_writable(target: Path) -> UserError:
    """What to say of the folder of a model that has no folder to be in, or a file in its place."""
    if not target.parent.is_dir():
        return UserError(f"There is no folder {target.parent} to write {target.name} into.")
    return UserError(f"{target} is a file, where the folder of a model is to be. Name a folder.")


class LineReader:
    """The lines of an open file without their ends; `line` is the number of the last one.

    A broken gzip stream or text in another encoding becomes a `FormatError` that names the line.
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
        except UnicodeDecodeError as error:
            raise self.error(f"the text is not {error.encoding.upper()}. {_SAVE}") from None
        self.line += 1
        if not text.isascii():
            self._check_encoding(text)
        return text.rstrip("\r\n")

    def _check_encoding(self, text: str) -> None:
        """Bytes that are not valid were decoded to lone surrogates, which cannot be encoded."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            bad = ord(text[error.start]) - 0xDC00
            name = self._handle.encoding.upper().removesuffix("-SIG")
            raise self.error(f"byte 0x{bad:02x} is not valid {name}. {_SAVE}") from None

    def error(self, message: str) -> FormatError:
        """An error at the current line."""
        return FormatError(self.path, message, self.line)


@contextmanager
def open_lines(path: str | Path, encoding: str | None = None) -> Iterator[LineReader]:
    """Read a text file line by line: gzip by content, a byte order mark and \\r\\n allowed.

    Without an encoding it is UTF-8, or what a byte order mark or the zeros of UTF-16 say.
    """
    path = Path(path)
    with _open_bytes(path) as stream:
        encoding = encoding or _told(stream)
        try:
            handle = io.TextIOWrapper(stream, encoding, "surrogateescape")
        except LookupError:
            raise UserError(
                f"The encoding {shorten(encoding)} is not known. Use one such as utf-8, utf-16, "
                f"cp1252 or latin-1."
            ) from None
        with handle:
            yield LineReader(path, handle)


def encoding_of(path: str | Path) -> str:
    """The encoding of a text file by its bytes: of Unicode, or else that of Western Windows.

    A file that is neither, since too many of its letters are not ASCII, is refused with the
    question: Cyrillic, Greek or Chinese texts in encodings of their own would be read as nonsense.
    """
    path = Path(path)
    with _open_bytes(path) as stream:
        told = _told(stream)
        if told != "utf-8-sig" or _is_utf8(stream):
            return told
    with _open_bytes(path) as stream:
        sample = stream.read(_BLOCK)
    high = len(sample) - len(sample.decode("ascii", "ignore"))
    letters = high + len(sample) - len(sample.translate(None, _LETTERS))
    if high > FOREIGN * letters:
        message = (
            "the text is neither UTF-8 nor in a Western encoding. Save the file as UTF-8, or name "
            "its encoding{}, for example cp1251, gbk or shift_jis."
        )
        raise FormatError(path, message.format(""), shell=message.format(" with --encoding"))
    return WESTERN if not set(sample) & {0x81, 0x8D, 0x8F, 0x90, 0x9D} else "latin-1"


def _told(stream: IO[bytes]) -> str:
    """The encoding that the first bytes of a file tell of; UTF-8 where they tell nothing."""
    try:
        start: bytes = stream.peek(64)[:64]  # type: ignore[attr-defined]
    except (EOFError, OSError, zlib.error):  # damaged: the first line says so
        start = b""
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) > len(start) // 4:  # every second byte of Western text is 0
        return "utf-16-le" if odd > even else "utf-16-be"
    return "utf-8-sig"


def _is_utf8(stream: IO[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in iter(lambda: stream.read(_BLOCK), b""):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return True  # whoever reads the file says on which line it is damaged
    return True


@contextmanager
def _open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked if it is gzip, or a zip that holds one file."""
    try:
        raw = path.open("rb")
    except FileNotFoundError:
        raise UserError(f"There is no file {path}. Check the path.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a folder. Name a file.") from None
    except PermissionError:
        raise UserError(f"The file {path} cannot be read. Check its permissions.") from None
    with raw:
        start = raw.peek(4)[:4]
        if start.startswith(_ZIP_MAGIC):
            yield io.BufferedReader(_only_member(path, raw))  # type: ignore[type-var]
        else:
            packed = start.startswith(_GZIP_MAGIC)
            yield io.BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw


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
