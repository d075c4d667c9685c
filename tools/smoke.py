"""``make dist``: try a wheel in an empty environment, without its extras and with each of them.

    python tools/smoke.py dist/linnaeus-*.whl

The wheel is installed into a new environment, and the main commands are run there on a few rows.
Then for every extra: what needs it must first refuse and name the extra, and work once the extra
is installed. Extras that no code uses yet are resolved, not installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

WORDS = {"cat": "purr mew", "dog": "bark wag", "oak": "acorn bough", "rose": "thorn petal"}
TREE = "animal\tcat\nanimal\tdog\nplant\toak\nplant\trose\n"
SKOS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<a:animal> a skos:Concept . <a:cat> a skos:Concept ; skos:broader <a:animal> .
"""
LAZY = """import sys, linnaeus
assert linnaeus.__file__.startswith(sys.prefix), linnaeus.__file__
heavy = {"sklearn", "rdflib", "pyarrow", "jinja2", "plotly", "matplotlib", "pandas"}
assert not heavy & {*sys.modules}, heavy & {*sys.modules}
"""
PARQUET = """import pyarrow as pa, pyarrow.parquet as pq
rows = {"text": ["mew", "bark"], "labels": [["cat"], ["dog"]]}
pq.write_table(pa.table(rows), "toy/valid.parquet")
from linnaeus.io import read_collection
assert read_collection("toy").valid.labels == [["cat"], ["dog"]]
"""
PLOT = """import linnaeus
report = linnaeus.load("model").evaluate(["mew", "bark"], [["cat"], ["dog"]])
report.plot("report.png")
report.to_frame()
"""


class Extra(NamedTuple):
    """Commands that need an extra, commands to run after them, and the files they make."""

    needs: Sequence[list[str]]
    then: Sequence[list[str]] = ()
    makes: Sequence[str] = ()


BASE = [
    ["python", "-c", LAZY],
    ["linnaeus", "--version"],
    ["linnaeus", "demo", "--quiet", "--documents", "60", "-o", "demo"],
    ["linnaeus", "train", "toy", "-o", "model", "--method", "svm", "--quiet"],
    ["linnaeus", "evaluate", "model", "toy", "--json"],
    ["linnaeus", "predict", "model", "toy", "-o", "labelled.jsonl", "--quiet"],
    ["linnaeus", "explain", "model", "--text", "mew"],
]
EXTRAS = {
    "formats": Extra(
        [
            ["linnaeus", "taxonomy", "show", "animals.ttl"],
            ["linnaeus", "predict", "model", "toy", "-o", "labelled.parquet"],
            ["python", "-c", "import linnaeus; linnaeus.load('model').taxonomy.to_networkx()"],
        ],
        [["python", "-c", PARQUET]],
        ["labelled.parquet"],
    ),
    "report": Extra(
        [["linnaeus", "compare", "toy", "--methods", "svm,topdown", "-o", "report.html"]],
        makes=["report.html"],
    ),
    "plot": Extra([["python", "-c", PLOT]], makes=["report.png"]),
}
UNUSED = ("web", "ray")  # no code needs them yet


def main(wheel: str) -> None:
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        place = Place(Path(name), Path(wheel).resolve())
        place.prepare()
        place.install("")
        for command in BASE:
            place.run(command)
        print("base: installs, imports, trains, predicts", flush=True)
        for name, extra in EXTRAS.items():
            place.try_extra(name, extra)
        for name in UNUSED:
            place.install(name, "--dry-run")
            print(f"{name}: resolves", flush=True)
    print(f"{Path(wheel).name} works ({time.perf_counter() - start:.0f} s)")


class Place:
    """A folder with an environment of its own and a few rows to learn from."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder, self.wheel = folder, wheel
        self.bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")

    def prepare(self) -> None:
        venv.create(self.folder / "env", with_pip=True)
        rows = [f"{words} {i},{name}" for i in range(12) for name, words in WORDS.items()]
        (self.folder / "toy").mkdir()
        (self.folder / "toy" / "taxonomy.tsv").write_text(TREE)
        for part, lines in (("train", rows), ("test", rows[:6])):
            text = "\n".join(["text,labels", *lines]) + "\n"
            (self.folder / "toy" / f"{part}.csv").write_text(text)
        (self.folder / "animals.ttl").write_text(SKOS)

    def install(self, extra: str, *options: str) -> None:
        wanted = f"linnaeus{f'[{extra}]' if extra else ''} @ {self.wheel.as_uri()}"
        self.run(["python", "-m", "pip", "install", "--quiet", *options, wanted])

    def try_extra(self, name: str, extra: Extra) -> None:
        for command in extra.needs:
            told = self.call(command)
            if not told.returncode or f"linnaeus[{name}]" not in told.stderr:
                sys.exit(f"Without the extra {name} this does not name it: {command}\n{told}")
        self.install(name)
        for command in [*extra.needs, *extra.then]:
            self.run(command)
        for file in extra.makes:
            if not (self.folder / file).stat().st_size:
                sys.exit(f"{file} is empty.")
        print(f"{name}: is named when it is missing, and works when it is there", flush=True)

    def run(self, command: list[str]) -> None:
        told = self.call(command)
        if told.returncode:
            sys.exit(f"Failed: {command}\n{told.stdout}{told.stderr}")

    def call(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment, which sees nothing of this checkout."""
        outside = ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")
        known = {key: value for key, value in os.environ.items() if key not in outside}
        known |= {"LINNAEUS_CACHE_DIR": str(self.folder / "cache"), "MPLBACKEND": "Agg"}
        return subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            cwd=self.folder, env=known, capture_output=True, text=True,
        )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
