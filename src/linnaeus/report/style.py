"""How charts look: colours that all eyes can tell apart, marks that ink alone can."""

from __future__ import annotations

from typing import Any

INK, FAINT, GRID = "#1f2933", "#6b7785", "#e4e8ec"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
# after Okabe and Ito (2008), darkened where too light on white
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#b8559a", "#b07a00", "#3c9fd6", "#1f2933", "#8a6d3b",
)  # fmt: skip
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x", "hexagon")
PATTERNS = ("", "/", "x", "-", ".", "\\", "+", "|")
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
    return {"color": colour(i), "width": 2, "dash": DASHES[i % len(DASHES)]}


def pattern(i: int) -> str:
    """The hatching of the i-th method's bars."""
    return PATTERNS[i % len(PATTERNS)]


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
