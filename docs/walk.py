"""``python -m docs.walk``: the way of one row through ``train`` and ``predict``, by watching it.

Both commands are run on a few rows of a CSV file, and every function of ours is noted when it is
first called. A step is a run of functions in one package; the list of steps goes into
CONTRIBUTING.md, between two markers.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "linnaeus"
PAGE = ROOT / "CONTRIBUTING.md"
MARKS = ("<!-- walk: made by python -m docs.walk -->", "<!-- end of walk -->")
SHOWN = 4  # functions of a file in one step; the others are counted
WORDS = {"trout": "river scales fins", "hare": "ears burrow leap", "fern": "frond spore shade"}
TREE = "animal\ttrout\nanimal\thare\nplant\tfern\n"
COMMANDS = {
    "train": ["train", "toy", "-o", "model", "--method", "svm", "--quiet"],
    "predict": ["predict", "model", "toy", "-o", "labelled.jsonl", "--quiet"],
}


class Call(NamedTuple):
    """A function of ours, and the file below src/linnaeus that holds it."""

    file: str
    name: str

    @property
    def package(self) -> str:
        """The first part of the path.

        >>> Call("io/read.py", "read_collection").package, Call("files.py", "opened").package
        ('io', 'files')
        """
        return self.file.split("/")[0].removesuffix(".py")


def main() -> None:
    page = PAGE.read_text("utf-8")
    PAGE.write_text(filled(page, "\n\n".join(map(section, COMMANDS))), encoding="utf-8")
    print(f"wrote the walk into {PAGE.relative_to(ROOT)}")


def filled(page: str, made: str) -> str:
    """A page with a new text between the markers."""
    begin, end = map(re.escape, MARKS)
    found = re.compile(f"({begin}\n).*?({end})", re.DOTALL)
    if not found.search(page):
        raise ValueError(f"The page lacks the markers {MARKS[0]} and {MARKS[1]}.")
    return found.sub(lambda match: f"{match[1]}{made}\n{match[2]}", page)


def section(command: str) -> str:
    """The steps of a command as a numbered list, below a line that counts them."""
    told = subprocess.run(
        [sys.executable, __file__, command], cwd=ROOT, check=True, capture_output=True, text=True
    )
    calls = [Call(*line.split("\t")) for line in told.stdout.splitlines()]
    groups = steps(calls)
    files, packages = {call.file for call in calls}, {call.package for call in calls}
    head = (
        f"**`linnaeus {command}`**: {len(calls)} functions in {len(files)} files of "
        f"{len(packages)} packages, which change {len(groups) - 1} times."
    )
    lines = [f"{i}. {described(group)}" for i, group in enumerate(groups, 1)]
    return "\n".join([head, "", *lines])


def steps(calls: list[Call]) -> list[list[Call]]:
    """Runs of calls in one package.

    >>> [len(group) for group in steps([Call("io/a.py", "f"), Call("io/b.py", "g"),
    ...                                 Call("text/c.py", "h")])]
    [2, 1]
    """
    return [list(group) for _, group in itertools.groupby(calls, key=lambda call: call.package)]


def described(group: list[Call]) -> str:
    """A step: the package, its files, and their first functions.

    >>> described([Call("io/read.py", "read_collection"), Call("io/find.py", "find_file")])
    '**io**: `read.py` read_collection; `find.py` find_file'
    """
    names: dict[str, list[str]] = {}
    for call in group:
        names.setdefault(call.file, []).append(call.name)
    parts = "; ".join(
        f"`{file.partition('/')[2] or file}` {_listed(names[file])}" for file in names
    )
    return f"**{group[0].package}**: {parts}"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


# -- watching -------------------------------------------------------------------------------


def watch(command: str) -> list[Call]:
    """The functions that a command calls, each once, in the order of their first calls."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        _write_rows(Path("toy"))
        for words in COMMANDS.values():
            _run(words)
        _run(COMMANDS[command])  # compiled and imported by now
        with _noted() as calls:
            _run(COMMANDS[command])
    return list(calls)


def _write_rows(folder: Path) -> None:
    folder.mkdir()
    rows = [f"{words} no {i},{name}" for i in range(15) for name, words in WORDS.items()]
    (folder / "taxonomy.tsv").write_text(TREE)
    for part, lines in (("train", rows), ("test", rows[:4])):
        (folder / f"{part}.csv").write_text("\n".join(["text,labels", *lines]) + "\n")


def _run(words: list[str]) -> None:
    from linnaeus.cli.main import run

    try:
        with contextlib.redirect_stdout(StringIO()):
            run(words)
    except SystemExit as stop:
        if stop.code:
            raise


@contextlib.contextmanager
def _noted() -> Iterator[dict[Call, None]]:
    """Note our functions while they are called; comprehensions and lambdas belong to theirs."""
    found: dict[Call, None] = {}
    below = f"{SOURCES}{os.sep}"

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(below):
            name = frame.f_code.co_qualname
            if "<" not in name:
                found.setdefault(Call(path.removeprefix(below).replace(os.sep, "/"), name))

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


if __name__ == "__main__":
    if sys.argv[1:]:
        print("\n".join("\t".join(call) for call in watch(sys.argv[1])))
    else:
        main()
