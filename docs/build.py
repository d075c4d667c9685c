"""``make docs``: run the examples, draw the pictures, and write the reference as HTML.

The pictures in ``docs/images`` are made from real runs; nothing in them is drawn by hand. The
reference goes to ``docs/site``, which is not kept.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console

from linnaeus import workflow
from linnaeus.cli.demo import present

HERE = Path(__file__).resolve().parent
IMAGES = HERE / "images"


def draw_demo() -> None:
    """The terminal after ``linnaeus demo``, as a picture for the README."""
    console = Console(record=True, width=100, highlight=False, file=StringIO())
    present(workflow.demo(), console)
    svg = console.export_svg(title="linnaeus demo")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # nothing to fetch
    (IMAGES / "demo.svg").write_text(svg.replace("Fira Code,", ""), encoding="utf-8")


def run_examples() -> None:
    """Every example must run; each may draw into the folder it is told."""
    for path in sorted((HERE.parent / "examples").glob("plot_*.py")):
        print(f"running {path.name}", flush=True)
        runpy.run_path(str(path), init_globals={"IMAGES": IMAGES}, run_name="__main__")


def write_reference() -> None:
    """The reference, from the docstrings."""
    site = str(HERE / "site")
    command = ["-m", "pdoc", "--docformat", "numpy", "--math", "-o", site, "linnaeus"]
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, *command], check=True, env=quiet)
    print(f"wrote {site}/linnaeus.html")


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    draw_demo()
    run_examples()
    write_reference()


if __name__ == "__main__":
    main()
