"""The charts of a comparison, as plain data for plotly: {"data": [...], "layout": {...}}.

Colours are such that all eyes can tell them apart, marks such that ink alone can.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from linnaeus.experiments import FIGURES, Comparison, MethodResult
from linnaeus.metrics import Report
from linnaeus.report.style import FAINT, INK, axis, colour, escaped, layout, line, marker, pattern

Chart = dict[str, Any]
_KINDS = tuple(FIGURES)[:3]  # of F1


def numbered(comparison: Comparison) -> list[tuple[int, MethodResult, Report]]:
    """The methods with results, each with its number, which is its colour everywhere."""
    return [(i, s, s.report) for i, s in enumerate(comparison.ranked) if s.report is not None]


def _trace(name: str, x: Sequence[Any], y: Sequence[float], hover: str, **own: Any) -> Chart:
    """Points of one method, with what is said when they are pointed at."""
    name = escaped(name)
    said = f"{hover}<extra>{name}</extra>"
    return {"type": "scatter", "name": name, "x": x, "y": y, "hovertemplate": said, **own}


def _errors(values: Sequence[float]) -> dict[str, Any]:
    """Bars of two standard errors."""
    return {"type": "data", "array": [2 * v for v in values], "thickness": 1.2, "width": 3}


def _reach(result: MethodResult) -> dict[str, Any]:
    """Bars from end to end of the intervals."""
    down, up = (
        [abs(result.intervals[kind][side] - result.figures[kind]) for kind in _KINDS]
        for side in (0, 1)
    )
    own = {"type": "data", "symmetric": False, "thickness": 1.2, "width": 3}
    return {**own, "array": up, "arrayminus": down}


def figure_bars(comparison: Comparison) -> Chart | None:
    """F1 in its three kinds for every method; None for one method."""
    if len(comparison.ranked) < 2:
        return None
    data = [
        _trace(
            s.name,
            [FIGURES[kind] for kind in _KINDS],
            [s.figures[kind] for kind in _KINDS],
            "%{x}: %{y:.4f}",
            type="bar",
            error_y=_reach(s) | {"color": INK},
            marker={"color": colour(i), "pattern": {"shape": pattern(i)}},
        )
        for i, s, _ in numbered(comparison)
    ]
    if comparison.baseline is not None:
        names = [FIGURES[kind] for kind in _KINDS]
        values = [comparison.baseline.values[kind] for kind in _KINDS]
        mark = {"symbol": "line-ew", "size": 40, "line": {"width": 2, "color": FAINT}}
        drawn = {"mode": "markers", "marker": mark}
        data.append(_trace("always the same", names, values, "%{x}: %{y:.4f}", **drawn))
    highest = max(s.figures[kind] for s in comparison.ranked for kind in _KINDS)
    own = {"barmode": "group", "bargap": 0.25, "xaxis": axis("", showgrid=False)}
    top = min(1.02, 1.2 * highest) or 1.0
    return {"data": data, "layout": layout(len(data), yaxis=axis("F1", range=[0, top]), **own)}


def level_lines(comparison: Comparison) -> Chart:
    """F1 on each level of the taxonomy."""

    def points(report: Report) -> list[dict[str, Any]]:
        return [r for r in report.levels if r["support"]]

    return _lines(comparison, points, "depth", "depth in the taxonomy", "nodes")


def size_lines(comparison: Comparison) -> Chart:
    """F1 of classes with few and with many training rows."""

    def points(report: Report) -> list[dict[str, Any]]:
        return [r for r in report.sizes or [] if r["classes"] and r["support"]]

    return _lines(comparison, points, "train", "training rows of the class", "classes")


def _lines(
    comparison: Comparison,
    points: Callable[[Report], list[dict[str, Any]]],
    key: str,
    title: str,
    many: str,
) -> Chart:
    """F1 of groups of nodes, a line per method."""
    hover = (
        f"F1 %{{y:.4f}}, macro F1 %{{customdata[2]:.4f}}<br>"
        f"%{{customdata[0]:,}} {many}, %{{customdata[1]:,}} true labels"
    )
    data, values = [], []
    for i, s, report in numbered(comparison):
        records = points(report)
        x, y = [str(r[key]) for r in records], [r["f1"] for r in records]
        more = [[r[many], r["support"], r["macro_f1"]] for r in records]
        data.append(_trace(s.name, x, y, hover, customdata=more, **_joined(i)))
        values += y
    room = [max(-0.02, min(values) - 0.06), min(1.02, max(values) + 0.06)] if values else [0, 1]
    axes = {"xaxis": axis(title, type="category"), "yaxis": axis("F1", range=room)}
    return {"data": data if values else [], "layout": layout(len(data), **axes)}


def _joined(i: int) -> dict[str, Any]:
    """Points of the i-th method, joined by lines."""
    return {"mode": "lines+markers", "line": line(i), "marker": marker(i)}


def calibration_curves(comparison: Comparison) -> Chart | None:
    """What share of the labels given a probability is true; None without probabilities."""
    hover = "given %{x:.2f}, true %{y:.3f}<br>%{customdata:,} labels"
    data = []
    for i, s, _ in numbered(comparison):
        if s.calibration is not None:
            bins, error = s.calibration.bins, s.calibration.expected_calibration_error
            x, y = [b["predicted"] for b in bins], [b["observed"] for b in bins]
            own = {"customdata": [b["n"] for b in bins], **_joined(i)}
            bars = _errors([b["error"] for b in bins])
            name = f"{s.name} (error {error:.3f})"
            data.append(_trace(name, x, y, hover, error_y=bars, **own))
    if not data:
        return None
    dotted = {"color": FAINT, "width": 1, "dash": "dot"}
    diagonal = _trace("perfect", [0, 1], [0, 1], "", mode="lines", line=dotted, hoverinfo="skip")
    x_axis = axis("probability given", range=[-0.02, 1.02])
    y_axis = axis("share that is true", range=[-0.02, 1.04])
    return {"data": [diagonal, *data], "layout": layout(len(data), xaxis=x_axis, yaxis=y_axis)}


def time_against_quality(comparison: Comparison) -> Chart | None:
    """Processor time of a fit, log scale, against micro F1."""

    def seconds(s: MethodResult) -> float | None:
        return None if s.cost is None else max(s.cost.cpu_seconds, 1e-3)

    return _price(comparison, seconds, "CPU seconds of a fit", "%{x:,.3g} s")


def memory_against_quality(comparison: Comparison) -> Chart | None:
    """Peak memory of a fit, log scale, against micro F1."""

    def megabytes(s: MethodResult) -> float | None:
        return None if s.cost is None else max(s.cost.memory_bytes / 1e6, 0.1)

    return _price(comparison, megabytes, "memory of a fit, MB", "%{x:,.3g} MB")


def _price(
    comparison: Comparison, price: Callable[[MethodResult], float | None], title: str, shown: str
) -> Chart | None:
    """What methods cost against what they reach; None for fewer than two."""
    found = [(i, s, x) for i, s, _ in numbered(comparison) if (x := price(s)) is not None]
    if len(found) < 2:
        return None
    data = [
        _trace(
            s.name,
            [x],
            [s.figures["micro_f1"]],
            f"{shown}, F1 %{{y:.4f}}",
            mode="markers",
            marker=marker(i, 12),
            error_y=_errors([s.errors["micro_f1"]]),
        )
        for i, s, x in found
    ]
    x_axis = axis(title, type="log", **_log_axis([x for _, _, x in found]))
    return {"data": data, "layout": layout(len(data), xaxis=x_axis, yaxis=axis("micro F1"))}


def _log_axis(values: Sequence[float]) -> dict[str, Any]:
    """A log axis from below the least to above the largest value, ticks at 1, 2 and 5 or at 1."""
    low, high = math.log10(min(values)), math.log10(max(values))
    room = max(0.2, 0.1 * (high - low))
    low, high = low - room, high + room
    steps = (1, 2, 5) if high - low < 2.5 else (1,)
    ticks = [s * 10.0**k for k in range(math.floor(low), math.ceil(high)) for s in steps]
    return {"range": [low, high], "tickvals": ticks, "ticktext": [f"{t:,g}" for t in ticks]}


def sweep_lines(comparison: Comparison) -> Chart | None:
    """Precision against recall at other thresholds; None where no sweep was made."""
    hover = "recall %{x:.3f}, precision %{y:.3f}"
    more = "<br>F1 %{customdata[1]:.3f} at the threshold %{customdata[0]:.3g}"
    data = []
    for i, s, report in numbered(comparison):
        if s.sweep is not None:
            points = s.sweep.points
            x, y = [p["recall"] for p in points], [p["precision"] for p in points]
            curve = {"customdata": [[p["threshold"], p["f1"]] for p in points], "line": line(i)}
            data.append(_trace(s.name, x, y, hover + more, mode="lines", **curve))
            x, y = [report["hierarchical_recall"]], [report["hierarchical_precision"]]
            mark = {"marker": marker(i, 11), "showlegend": False}
            data.append(_trace(f"{s.name}, as decided", x, y, hover, mode="markers", **mark))
    if not data:
        return None
    axes = {name: axis(name, range=[0, 1.04]) for name in ("recall", "precision")}
    chosen = layout(len(data) // 2, xaxis=axes["recall"], yaxis=axes["precision"])
    return {"data": data, "layout": chosen}


def coverage_lines(comparison: Comparison) -> Chart | None:
    """Precision against the share of rows that are kept; None where no method is sure of any."""
    hover = "%{x:.0%} of the rows kept, precision %{y:.3f}<br>confidence from %{customdata:.3f}"
    data = []
    for i, s, _ in numbered(comparison):
        if s.coverage is not None:
            points = s.coverage.points()
            x, y = [p["kept"] for p in points], [p["precision"] for p in points]
            least = [p["confidence"] for p in points]
            data.append(_trace(s.name, x, y, hover, mode="lines", line=line(i), customdata=least))
    if not data:
        return None
    x_axis = axis("share of rows kept", range=[0, 1.02], tickformat=".0%")
    y_axis = axis("precision of their labels", range=[0, 1.04])
    return {"data": data, "layout": layout(len(data), xaxis=x_axis, yaxis=y_axis)}
