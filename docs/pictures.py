"""The pictures of the overview and the quick start, drawn from real runs of what the pages show.

The commands of the quick start are run once, in a folder of their own; then the spreadsheet that
went in, the one that came out, the curve of how many rows can do without a person, and an
explanation are drawn. What a picture shows is what the commands wrote.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
QUICK_START = HERE / "pages" / "quickstart.md"
UNTIL = "explain"  # the commands of the quick start that are run end with this one
SHEETS = {  # the columns that are drawn, and their widths in letters
    "stories": {"Headline": 36, "Story": 54, "Date": 14, "Category": 48},
    "labelled": {
        "Headline": 38, "Date": 14, "titles": 26, "paths": 50, "confidence": 14, "review": 10,
    },
}  # fmt: skip
COLOURS = {"frame": "#c8d0d0", "head": "#00796b", "review": "#fff3d6", "text": "#263238"}
LETTER = 6.3  # width of a letter, and height of a row, in units of the drawing
LINE = 26


def draw(folder: Path, images: Path) -> None:
    """Run the quick start in an empty folder, and draw its pictures into another."""
    told = [(words, run(words, folder)) for words in commands(QUICK_START.read_text("utf-8"))]
    draw_terminal(*told[-1], images / "explain.svg")
    for name, columns in SHEETS.items():
        rows = [[row[column] for column in columns] for row in rows_of(folder / f"{name}.xlsx")]
        draw_sheet(columns, rows, images / f"sheet-{name}.svg")
    words = ["linnaeus", "evaluate", "model", "stories", "--json"]
    draw_coverage(json.loads(run(words, folder, colours=False))["coverage"], images)


def commands(page: str) -> list[list[str]]:
    """The commands that a page shows, up to the last one that is wanted, as words.

    >>> commands("```console\\n$ linnaeus explain model\\n$ linnaeus tune data\\n```")
    [['linnaeus', 'explain', 'model']]
    """
    found = [shlex.split(line) for line in re.findall(r"^\$ (linnaeus .*)$", page, re.MULTILINE)]
    return found[: 1 + next(i for i, words in enumerate(found) if words[1] == UNTIL)]


def run(words: Sequence[str], folder: Path, colours: bool = True) -> str:
    """What a command prints, in a terminal of fixed width."""
    seen = {"COLUMNS": "100", "FORCE_COLOR": "1"} if colours else {"NO_COLOR": "1"}
    known = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    command = [sys.executable, "-m", "linnaeus.cli.main", *words[1:]]
    done = subprocess.run(
        command, cwd=folder, env=known | seen, check=True, capture_output=True, text=True
    )
    return done.stdout


def draw_terminal(words: Sequence[str], printed: str, path: Path) -> None:
    """A command and what it printed, with its colours, as a terminal shows them."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=100, file=StringIO())
    console.print(Text(f"$ {shlex.join(words)}", style="bold"), soft_wrap=True)
    console.print(Text.from_ansi(printed))
    save_terminal(console, "linnaeus", path)


def save_terminal(console: Any, title: str, path: Path) -> None:
    """What a console has recorded, as a drawing that fetches nothing."""
    svg = console.export_svg(title=title)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    path.write_text(svg.replace("Fira Code,", ""), encoding="utf-8")


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a sheet by the names in its first row."""
    from openpyxl import load_workbook

    header, *rows = load_workbook(path, read_only=True).worksheets[0].iter_rows(values_only=True)
    return [dict(zip(header, row, strict=True)) for row in rows[:6]]


def draw_sheet(columns: dict[str, int], rows: Sequence[Sequence[Any]], path: Path) -> None:
    """A spreadsheet: its header and first rows; rows that a person should see have a colour."""
    names, widths = list(columns), list(columns.values())
    lefts = [sum(widths[:i]) * LETTER for i in range(len(widths) + 1)]
    height, width = LINE * (len(rows) + 1), lefts[-1]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'font-family="system-ui, sans-serif" font-size="11.5" fill="{COLOURS["text"]}">',
        f'<rect width="{width:.0f}" height="{height}" fill="#ffffff"/>',
        f'<rect width="{width:.0f}" height="{LINE}" fill="{COLOURS["head"]}"/>',
    ]
    for i, cells in enumerate([names, *rows]):
        top = i * LINE
        if True in cells:
            lines.append(f'<rect y="{top}" width="{width:.0f}" height="{LINE}" '
                         f'fill="{COLOURS["review"]}"/>')  # fmt: skip
        style = ' fill="#ffffff" font-weight="bold"' if i == 0 else ""
        for left, letters, cell in zip(lefts, widths, cells, strict=False):
            lines.append(f'<text x="{left + 7:.0f}" y="{top + 17}"{style}>'
                         f"{escape(shown(cell, letters - 3))}</text>")  # fmt: skip
    frame = f'stroke="{COLOURS["frame"]}" fill="none"'
    lines += [f'<path d="M0 {LINE * i}H{width:.0f}" {frame}/>' for i in range(len(rows) + 2)]
    lines += [f'<path d="M{left:.0f} 0V{height}" {frame}/>' for left in lefts]
    path.write_text("\n".join([*lines, "</svg>\n"]), encoding="utf-8")


def shown(cell: Any, letters: int) -> str:
    """A cell as a narrow column shows it.

    >>> shown("Row over medical", 9), shown(True, 9), shown(0.91234, 9), shown(None, 9)
    ('Row over…', 'yes', '0.91', '')
    """
    if isinstance(cell, bool):
        return "yes" if cell else ""
    text = f"{cell:.2f}" if isinstance(cell, float) else "" if cell is None else str(cell)
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"


def draw_coverage(found: dict[str, Any], images: Path) -> None:
    """How many rows are labelled without a person, and how many of their labels are right."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    points = found["points"]
    plt.rcParams |= {"svg.hashsalt": "linnaeus", "font.size": 11}
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    kept = [100 * point["kept"] for point in points]
    axes.plot(kept, [100 * point["precision"] for point in points], color=COLOURS["head"], lw=2)
    if (reached := found["at"]["0.9"]) is not None:
        x, y = 100 * reached["kept"], 100 * reached["precision"]
        axes.plot(x, y, "o", color=COLOURS["head"])
        said = f"nine in ten right: {x:.0f} % of the rows"
        axes.annotate(
            f"{said}\n(--min-confidence {reached['confidence']:.2f})",
            (x, y), (x - 8, y - 18), arrowprops={"arrowstyle": "-", "color": "grey"},
        )  # fmt: skip
    axes.set(xlabel="rows labelled without a person, %", ylabel="labels that are right, %")
    axes.set(xlim=(0, 101), ylim=(50, 101))
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(images / "coverage.svg", metadata={"Date": None})
    plt.close(figure)
