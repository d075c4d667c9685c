"""Reports as text: aligned tables, for a terminal or a colleague; and as HTML, for notebooks."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from linnaeus.errors import MissingExtraError

if TYPE_CHECKING:
    from linnaeus.metrics.report import Comparison, Report

_SETS = (
    ("micro F1", "micro_f1", ("micro_precision", "micro_recall")),
    ("macro F1", "macro_f1", ()),
    ("hierarchical F1", "hierarchical_f1", ("hierarchical_precision", "hierarchical_recall")),
    ("zero-one loss", "zero_one_loss", ()),
    ("symmetric difference", "symmetric_difference_loss", ()),
)
_SCALINGS = ("unif", "sibl", "subtree")
_RANKING = {
    "top1_accuracy": "top-1 accuracy",
    "label_ranking_average_precision": "average precision",
    "au_prc": "AU(PRC)",
    "parent_accuracy": "parent accuracy",
    "precision_at_3": "precision at 3",
    "precision_at_5": "precision at 5",
    "ranking_loss": "ranking loss",
    "maximal_loss": "maximal loss",
    "top_loss": "top loss",
}
_EXPLAINED = (
    "[from, to]: 95 % interval, by drawing the rows again. Always the same: the best fixed answer\n"
    "that can be learned from the training labels."
)
_LEVEL = ("support", "precision", "recall", "f1", "macro_f1")


def report_text(report: Report) -> str:
    """The whole report: values, levels, sizes and the worst nodes."""
    values = report.metrics
    parts = [_head(values), "\n".join(_main_lines(report))]
    if "top1_accuracy" in values:
        known = {key: name for key, name in _RANKING.items() if key in values}
        parts.append("\n".join(_line(report, name, key) for key, name in known.items()))
    if report.intervals is not None:
        parts.append(_EXPLAINED)
    return "\n\n".join([*parts, *(table(*found) for found in _tables(report))])


def report_html(report: Report) -> str:
    """The same as a part of a page, with the picture where it can be drawn."""
    values = report.metrics
    names = {key: _RANKING.get(key, _words(key)) for key in values}
    rows = [[names[k], v] for k, v in values.items() if isinstance(v, float)]
    tables = [(["metric", "value"], rows), *_tables(report)]
    return f"<p>{escape(_head(values))}</p>{_picture(report)}{''.join(map(_html, tables))}"


Table = tuple[list[str], list[list[Any]]]  # head and rows


def _tables(report: Report) -> Iterator[Table]:
    """By level, by size, and the worst nodes."""
    yield _records(filled(report.levels), ("depth", "nodes", *_LEVEL))
    if report.sizes is not None and filled(report.sizes):
        yield _records(filled(report.sizes), ("train", "classes", *_LEVEL))
    worst = [r for r in report.worst(5) if r["f1"] < 1]
    if worst:
        rows = [[r["title"], r["support"], r["precision"], r["recall"], r["f1"]] for r in worst]
        yield ["worst nodes", "support", "precision", "recall", "F1"], rows


def filled(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The levels or sizes that have a true label."""
    return [record for record in records if record["support"]]


def _html(found: Table) -> str:
    head, rows = found
    heading = "".join(f"<th>{escape(name)}</th>" for name in head)
    cells = ("".join(f"<td>{escape(_cell(value))}</td>" for value in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>"


def _picture(report: Report) -> str:
    """The plot of the report inline, or nothing without matplotlib."""
    written = io.BytesIO()
    try:
        report.plot().savefig(written, format="png", dpi=72)
    except MissingExtraError:
        return ""
    data = base64.b64encode(written.getvalue()).decode()
    return f'<img alt="F1 by level and by size" src="data:image/png;base64,{data}">'


def comparison_text(comparison: Comparison) -> str:
    """Both systems, the difference, and the two tests."""
    rows = [[_words(k), a, b, _signed(a - b)] for k, a, b in comparison.rows]
    micro, macro = comparison.micro, comparison.macro
    tests = [
        f"micro: sign test, {micro.wins:,} decisions won and {micro.losses:,} lost, "
        f"p = {micro.pvalue:.3g}{daggers(micro.pvalue)}",
        f"macro: Wilcoxon's test over {macro.n:,} classes that differ, "
        f"p = {macro.pvalue:.3g}{daggers(macro.pvalue)}",
    ]
    return "\n\n".join([table(["", "first", "second", "difference"], rows), "\n".join(tests)])


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns aligned: the first to the left, numbers to the right."""
    cells = [list(head), *([_cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        first, *others = (
            c.ljust(w) if i == 0 else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join(lines)


def _head(values: dict[str, Any]) -> str:
    text = (
        f"{values['rows']:,} rows, {values['classes']:,} classes, {values['nodes']:,} nodes\n"
        f"{values['labels_per_row']:.2f} labels per row, "
        f"{values['predicted_per_row']:.2f} predicted"
    )
    empty = values["empty_predictions"]
    return text + (f"; nothing predicted for {empty:,} rows" if empty else "")


def _main_lines(report: Report) -> list[str]:
    values, lines = report.metrics, []
    for name, key, more in _SETS:
        extra = ", ".join(f"{k.rsplit('_', 1)[-1]} {_cell(values[k])}" for k in more)
        lines.append(_line(report, name, key, extra))
    shares = (f"{s} {_cell(values[f'hierarchical_loss_{s}'])}" for s in _SCALINGS)
    return [*lines, f"{'hierarchical loss':<22}{', '.join(shares)}"]


def _line(report: Report, name: str, key: str, extra: str = "") -> str:
    """A value with its interval and the baseline, where these are known."""
    text = f"{name:<22}{_cell(report.metrics[key])}"
    if report.intervals is not None and key in report.intervals:
        text += "  [{:.4f}, {:.4f}]".format(*report.intervals[key])
    if report.baseline is not None and key in report.baseline:
        text += f"  always the same {_cell(report.baseline[key])}"
    return f"{text}   ({extra})" if extra else text


def _records(records: list[dict[str, Any]], keys: Sequence[str]) -> Table:
    return [_words(k) for k in keys], [[r[k] for k in keys] for r in records]


def _words(key: str) -> str:
    return key.replace("_", " ").replace("f1", "F1")


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4f}"
    return value if isinstance(value, str) else f"{value:,}"


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:+.4f}"


def daggers(pvalue: float) -> str:
    """The marks of [GopalYang2015]: p below 5 % and below 1 %."""
    return " ††" if pvalue < 0.01 else " †" if pvalue < 0.05 else ""
