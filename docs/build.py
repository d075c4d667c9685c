"""``make docs``: run the examples, draw the pictures, and build the site into ``docs/site``.

The pictures are made from real runs; nothing in them is drawn by hand. What the site needs beyond
its pages goes to ``build/docs`` first: the gallery with its pictures, and the page of the command
line. No network is needed.
"""

from __future__ import annotations

import contextlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from docs import command_page, pictures

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
IMAGES = HERE / "images"
MADE = HERE.parent / "build" / "docs"


class Example(NamedTuple):
    """An example of the gallery: its title, what it shows, and its source without both."""

    name: str
    title: str
    about: str
    source: str


class Ran(NamedTuple):
    """What running an example gave: what it printed, and the pictures that it drew."""

    printed: str
    pictures: list[str]
    seconds: float


def draw_demo() -> None:
    """The terminal after ``linnaeus demo``, as a picture for the README."""
    from rich.console import Console

    from linnaeus import workflow
    from linnaeus.cli.demo import present

    console = Console(record=True, width=100, highlight=False, file=StringIO())
    present(workflow.demo(), console)
    pictures.save_terminal(console, "linnaeus demo", IMAGES / "demo.svg")


def examples() -> list[Example]:
    """The examples, by name."""
    return [read_example(path) for path in sorted(EXAMPLES.glob("plot_*.py"))]


def read_example(path: Path) -> Example:
    """Take an example apart: a docstring with an underlined title, then the source."""
    match = re.match(r'"""\n(.+)\n=+\n\n(.+?)\n?"""\n+(.*)', path.read_text("utf-8"), re.DOTALL)
    if match is None:
        raise ValueError(f"{path} does not begin with a docstring that has an underlined title.")
    return Example(path.stem, *match.groups())


def run_example(name: str, folder: Path) -> Ran:
    """Run an example; it draws into `folder`, under its own name."""
    before = set(folder.iterdir())
    printed = StringIO()
    start = time.perf_counter()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(
            str(EXAMPLES / f"{name}.py"), init_globals={"IMAGES": folder}, run_name="__main__"
        )
    seconds = time.perf_counter() - start
    return Ran(printed.getvalue(), sorted(p.name for p in {*folder.iterdir()} - before), seconds)


def write_gallery() -> None:
    """Run every example and write a page for each, and one for all."""
    folder = MADE / "gallery"
    folder.mkdir(parents=True)
    cards = []
    for example in examples():
        print(f"running {example.name}.py", end=" ", flush=True)
        ran = run_example(example.name, folder)
        print(f"({ran.seconds:.1f} s)", flush=True)
        (folder / f"{example.name}.md").write_text(example_page(example, ran), encoding="utf-8")
        cards.append(example_card(example, ran.pictures))
    head = "# Gallery\n\nEvery picture is drawn by the example that it leads to.\n\n"
    (folder / "index.md").write_text(head + "\n".join(cards), encoding="utf-8")


def example_card(example: Example, pictures: list[str]) -> str:
    """An entry of the gallery's first page."""
    link = f"{example.name}.md"
    lines = [f"## [{example.title}]({link})", "", example.about.split("\n\n")[0], ""]
    lines += [f"[![{example.title}]({name})]({link}){{ .gallery }}" for name in pictures[:1]]
    return "\n".join([*lines, ""])


def example_page(example: Example, ran: Ran) -> str:
    """The page of one example: text and source in turn, what it printed, and its pictures."""
    lines = [f"# {example.title}", "", example.about, ""]
    lines += [f"![{example.title}]({name}){{ .gallery }}" for name in ran.pictures]
    for part in re.split(r"^# %%\n", example.source, flags=re.MULTILINE):
        words, code = split_words(part)
        lines += ["", words, "", "```python", code.strip("\n"), "```"]
    if ran.printed:
        lines += ["", "It prints", "", "```text", ran.printed.rstrip(), "```"]
    lines += ["", f"The file is `examples/{example.name}.py`."]
    return "\n".join(lines) + "\n"


def split_words(part: str) -> tuple[str, str]:
    """The comment at the start of a part as text, and the code below it.

    >>> split_words("# Two lines\\n# of words.\\n\\nx = 1\\n")
    ('Two lines\\nof words.', 'x = 1\\n')
    """
    match = re.match(r"((?:#[^\n]*\n)*)\n*(.*)", part, re.DOTALL)
    assert match is not None
    return "\n".join(line.lstrip("# ") for line in match[1].splitlines()), match[2]


def build_site() -> None:
    """Turn the pages into HTML; a link to nowhere is an error."""
    command = [sys.executable, "-m", "mkdocs", "build"]
    told = subprocess.run(command, cwd=HERE.parent, stderr=subprocess.PIPE, text=True)
    if told.returncode:
        sys.exit(told.stderr)
    print(f"wrote {(HERE / 'site' / 'index.html').relative_to(HERE.parent)}")


def main() -> None:
    os.environ.setdefault("MPLBACKEND", "Agg")
    shutil.rmtree(MADE, ignore_errors=True)
    IMAGES.mkdir(exist_ok=True)
    draw_demo()
    with TemporaryDirectory() as folder:
        pictures.draw(Path(folder), IMAGES)
    write_gallery()
    (MADE / "commands.md").write_text(command_page.page(), encoding="utf-8")
    build_site()


if __name__ == "__main__":
    main()
