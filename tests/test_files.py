"""Reading with errors that name the line; writing whole or not at all."""

import gzip
import pickle
from pathlib import Path

import pytest

from linnaeus.errors import FormatError, UserError, shorten
from linnaeus.files import atomic_write, open_lines, read_text
from linnaeus.taxonomy.formats.guess import stem_and_suffix


def test_lines_of_plain_gzip_bom_and_windows_files(tmp_path):
    (tmp_path / "plain.txt").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "bom.txt").write_bytes(b"\xef\xbb\xbfa\r\nb")
    (tmp_path / "packed").write_bytes(gzip.compress(b"a\nb\n"))
    for name in ("plain.txt", "bom.txt", "packed"):
        with open_lines(tmp_path / name) as lines:
            assert list(lines) == ["a", "b"]
            assert lines.line == 2


def test_a_truncated_gzip_names_the_line(tmp_path):
    path = tmp_path / "cut.gz"
    whole = gzip.compress("\n".join(f"line {i * i}" for i in range(20000)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"cut.gz, line \d+: the gzip file is cut off"):
        read_text(path)
    path.write_bytes(whole[:2000] + b"garbage" + whole[2007:])
    with pytest.raises(FormatError, match=r"cut.gz, line \d+: the gzip file is damaged"):
        read_text(path)


def test_bad_encoding_names_the_byte(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("caf\xe9".encode("latin1"))
    with pytest.raises(FormatError, match="line 1: byte 0xe9 is not valid UTF-8.*iconv"):
        read_text(path)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(UserError, match="There is no file .*nowhere"):
        read_text(tmp_path / "nowhere")
    with pytest.raises(UserError, match="is a folder"):
        read_text(tmp_path)
    with pytest.raises(UserError, match="There is no folder"), atomic_write(tmp_path / "a" / "b"):
        pass


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
def test_a_write_is_whole_or_nothing(tmp_path, name):
    path = tmp_path / name
    with atomic_write(path) as handle:
        handle.write("first\n")
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as handle:
        handle.write("second\n")
        raise KeyboardInterrupt
    assert read_text(path) == "first"
    assert [p.name for p in tmp_path.iterdir()] == [name]
    first = path.read_bytes()
    with atomic_write(path) as handle:
        handle.write("first\n")
    assert path.read_bytes() == first


def test_links_folders_and_pipes_survive(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old\n")
    link.symlink_to(real)
    with atomic_write(link) as handle:
        handle.write("new\n")
    assert link.is_symlink() and real.read_text() == "new\n"
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match="is a folder"), atomic_write(tmp_path / "folder"):
        pass
    with atomic_write("/dev/null") as handle:
        handle.write("gone\n")
    assert Path("/dev/null").is_char_device()


def test_names_errors_and_values():
    assert stem_and_suffix("a/train.jsonl.gz") == ("train", "jsonl")
    assert stem_and_suffix("README") == ("README", "")
    error = FormatError("f.tsv", "is odd", 3)
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == "f.tsv, line 3: is odd"
    assert shorten("x" * 100).endswith("(100 characters)'")
    assert shorten(3) == "3"
