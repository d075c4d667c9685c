"""Critical-difference plots, as in [Demsar2006] figure 1.

An axis of mean ranks, the best on the left. Names hang from their ranks, the better half on the
left side, the others on the right. A bar joins methods that cannot be told apart; the ruler on top
shows the critical difference.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from linnaeus.errors import MissingExtraError
from studies.ranks import ALPHA, Ranking

WIDTH, ROW, BAR = 8.0, 0.24, 0.14  # inches: the figure, a name, a bar
MARGIN = 0.3  # of the length of the axis, on both sides for the names
STYLE = {"svg.hashsalt": "linnaeus", "svg.fonttype": "none", "font.size": 9}


def draw_ranks(ranking: Ranking, path: str | Path) -> None:
    """Write the plot of a ranking as SVG; equal rankings give equal bytes."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("draw_ranks", "matplotlib", "plot") from None
    with matplotlib.rc_context(STYLE):
        bars = ranking.cliques
        half = math.ceil(len(ranking.methods) / 2)
        below = len(bars) * BAR + half * ROW + 0.3
        figure = Figure(figsize=(WIDTH, below + 0.8))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        low, high = _span(ranking)
        margin = MARGIN * (high - low)
        axes.set_xlim(low - margin, high + margin)
        axes.set_ylim(-below, 0.8)
        _axis(axes, low, high)
        _ruler(axes, ranking, low)
        _bars(axes, ranking)
        _names(axes, ranking, half, low, high)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _span(ranking: Ranking) -> tuple[int, int]:
    """The whole ranks that the axis runs between; the ruler fits in."""
    low = math.floor(ranking.ranks[0])
    return low, max(math.ceil(ranking.ranks[-1]), math.ceil(low + ranking.difference))


def _axis(axes: Any, low: int, high: int) -> None:
    axes.plot([low, high], [0, 0], color="black", linewidth=1)
    for rank in range(low, high + 1):
        axes.plot([rank, rank], [0, 0.06], color="black", linewidth=1)
        axes.text(rank, 0.1, str(rank), ha="center", va="bottom")


def _ruler(axes: Any, ranking: Ranking, low: int) -> None:
    """The critical difference, above the axis."""
    ends = [low, low + ranking.difference]
    axes.plot(ends, [0.45, 0.45], color="black", linewidth=1.5)
    for end in ends:
        axes.plot([end, end], [0.41, 0.49], color="black", linewidth=1.5)
    text = f"critical difference {ranking.difference:.2f} ({ALPHA:.0%} level)"
    axes.text(low, 0.53, text, ha="left", va="bottom")


def _bars(axes: Any, ranking: Ranking) -> None:
    rank = dict(zip(ranking.methods, ranking.ranks, strict=True))
    for i, group in enumerate(ranking.cliques):
        y = -BAR * (i + 0.8)
        ends = [rank[group[0]] - 0.04, rank[group[-1]] + 0.04]
        axes.plot(ends, [y, y], color="tab:blue", linewidth=3, solid_capstyle="butt")


def _names(axes: Any, ranking: Ranking, half: int, low: int, high: int) -> None:
    top, gap = -len(ranking.cliques) * BAR - 0.2, 0.02 * (high - low)
    for j, (method, rank) in enumerate(zip(ranking.methods, ranking.ranks, strict=True)):
        left = j < half
        row = j if left else len(ranking.methods) - 1 - j
        y, side = top - ROW * row, (low - gap if left else high + gap)
        axes.plot([rank, rank, side], [0, y, y], color="grey", linewidth=0.8)
        text = f"{method} {rank:.2f}" if left else f"{rank:.2f} {method}"
        align = "right" if left else "left"
        axes.text(side + (-gap if left else gap) / 2, y, text, ha=align, va="center")
