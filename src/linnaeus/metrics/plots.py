"""Pictures: what all of them share, and that of a report, F1 by level and by size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from linnaeus.errors import MissingExtraError, UserError
from linnaeus.files import atomic_path
from linnaeus.metrics.counts import count
from linnaeus.metrics.display import filled
from linnaeus.metrics.sets import by_size

if TYPE_CHECKING:
    from linnaeus.metrics.report import Report

PICTURES = (".png", ".svg", ".pdf")


def draw(report: Report, path: str | Path | None = None) -> Any:
    """The figure; also written if a path is given. No window is opened."""
    figure = empty("Report.plot", 10, 4)
    left, right = figure.subplots(1, 2, sharey=True)
    levels = filled(report.levels)
    _bars(left, [str(r["depth"]) for r in levels], levels, "depth (roots 0)")
    left.set_ylabel("F1")
    if report.sizes is not None:
        sizes, what = report.sizes, "training examples of the class"
    else:
        counts = count(report.own)
        sizes, what = by_size(counts, counts.tp + counts.fn), "true labels of the class"
    used = filled(sizes)
    _bars(right, [r["train"] for r in used], used, what)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(
        f"micro F1 {report.metrics['micro_f1']:.3f}, macro F1 {report.metrics['macro_f1']:.3f}, "
        f"hierarchical F1 {report.metrics['hierarchical_f1']:.3f}"
    )
    return written(figure, path)


def empty(what: str, width: float, height: float) -> Any:
    """A figure without anything in it, in inches; `what` wants to draw there."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(what, "matplotlib", "plot") from None
    return Figure(figsize=(width, height), layout="constrained")


def written(figure: Any, path: str | Path | None) -> Any:
    """The figure; also as a file if a path is given, of the kind that its suffix says."""
    if path is not None:
        kind = Path(path).suffix.lower() or ".png"
        if kind not in PICTURES:
            raise UserError(f"{path}: pictures end in {', '.join(PICTURES)}. Use one of these.")
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=kind[1:], dpi=150)
    return figure


def _bars(axes: Any, names: list[str], records: list[dict[str, Any]], what: str) -> None:
    """Micro and macro F1 side by side, with the number of classes or nodes below each name."""
    place = range(len(names))
    axes.bar([x - 0.2 for x in place], [r["f1"] for r in records], 0.4, label="micro")
    axes.bar(
        [x + 0.2 for x in place], [r["macro_f1"] for r in records], 0.4, label="macro", hatch="//"
    )
    n = [r["nodes"] if "nodes" in r else r["classes"] for r in records]
    axes.set_xticks(list(place), [f"{name}\n({k:,})" for name, k in zip(names, n, strict=True)])
    axes.set_xlabel(what)
    axes.set_ylim(0, 1)
