"""The charts of a comparison, as plain data for plotly: {"data": [...], "layout": {...}}.

Colours are such that all eyes can tell them apart, marks such that ink alone can.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from linnaeus.experiments import FIGURES, Comparison, MethodResult
from linnaeus.metrics import Report

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
            error_y=_errors([s.errors[kind] for kind in _KINDS]) | {"color": INK},
            marker={"color": colour(i)},
        )
        for i, s, _ in numbered(comparison)
    ]
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


# -- how charts look ------------------------------------------------------------------------------


INK, FAINT, GRID = "#1f2933", "#6b7785", "#e4e8ec"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
# after Okabe and Ito (2008), darkened where too light on white
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#b8559a", "#b07a00", "#3c9fd6", "#1f2933", "#8a6d3b",
)  # fmt: skip
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x", "hexagon")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# from poor (orange) over middling (grey) to good (blue)
SCALE = [
    [0.0, "#a6430a"], [0.25, "#e79a5b"], [0.5, "#efeae4"], [0.75, "#7fb2d6"], [1.0, "#0b5a94"],
]  # fmt: skip


def colour(i: int) -> str:
    """The colour of the i-th method."""
    return COLOURS[i % len(COLOURS)]


def line(i: int) -> dict[str, Any]:
    """Colour and dashes of the i-th method's lines."""
    return {"color": colour(i), "width": 2, "dash": DASHES[i // len(COLOURS) % len(DASHES)]}


def marker(i: int, size: int = 8) -> dict[str, Any]:
    """Colour and symbol of the i-th method's points."""
    return {"color": colour(i), "size": size, "symbol": SYMBOLS[i % len(SYMBOLS)]}


def axis(title: str, **own: Any) -> dict[str, Any]:
    """An axis with its name."""
    common = {"gridcolor": GRID, "linecolor": GRID, "zeroline": False, "automargin": True}
    return {**common, "title": {"text": title, "standoff": 12}, **own}


def layout(n_lines: int = 0, **own: Any) -> dict[str, Any]:
    """What all charts share; the height leaves room for a legend of so many lines."""
    return {
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "margin": {"l": 56, "r": 16, "t": 32, "b": 40},
        "legend": {"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
        "hoverlabel": {"font": {"family": FONT}},
        "height": 340 + 24 * -(-n_lines // 3),
        **own,
    }


def escaped(text: str) -> str:
    """A name as it is: plotly would read < and & as mark-up."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
