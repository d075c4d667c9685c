"""The tables of a report, as rows of plain texts and numbers for the templates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from linnaeus.experiments import (
    FIGURES,
    LESS_IS_BETTER,
    Comparison,
    GroupTest,
    MethodResult,
    PairTest,
    holm,
    stars,
)
from linnaeus.experiments.pair_tests import TESTS
from linnaeus.taxonomy import Taxonomy

NAMED = 5  # labels of the constant answer
RANKING = {
    "top1_accuracy": "top-1 accuracy",
    "label_ranking_average_precision": "average precision",
}


def figure_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """A row per method: every figure with error, mark, and whether it is the best."""
    marks = {figure: comparison.marks(figure) for figure in FIGURES}
    best = {name: _best(comparison, name) for name in (*FIGURES, *RANKING)}
    out = []
    for i, s in enumerate(comparison.ranked):
        assert s.report is not None
        cells = [
            {
                "value": f"{s.figures[figure]:.4f}",
                "error": "–".join(f"{end:.3f}" for end in s.intervals[figure]),
                "mark": marks[figure].get(s.name, ""),
                "best": s.figures[figure] == best[figure],
            }
            for figure in FIGURES
        ]
        for name in RANKING:
            value = s.report.get(name)
            text = "–" if value is None else f"{value:.4f}"
            cells.append({"value": text, "best": value is not None and value == best[name]})
        out.append({"number": i, "name": s.name, "cells": cells})
    return out


def baseline_row(comparison: Comparison) -> dict[str, Any] | None:
    """The row of the constant answer: its labels, and a value per figure."""
    best = comparison.baseline
    if best is None or not comparison.ranked:
        return None
    titles = [comparison.taxonomy.title(name) for name in best.labels]
    names = ", ".join(titles[:NAMED]) + (f" and {len(titles) - NAMED} more" * (len(titles) > NAMED))
    cells = [f"{best.values[figure]:.4f}" for figure in FIGURES] + ["–"] * len(RANKING)
    return {"labels": names or "no label", "cells": cells}


def _best(comparison: Comparison, name: str) -> float | None:
    values = [
        s.report[name] for s in comparison.ranked if s.report is not None and name in s.report
    ]
    known = [v for v in values if v is not None]
    return None if not known else min(known) if name in LESS_IS_BETTER else max(known)


def figure_heads() -> list[tuple[str, bool]]:
    """The names above the figures, an arrow where less is better; and whether there are marks."""
    down = {name: "\u00a0↓" if name in LESS_IS_BETTER else "" for name in FIGURES}
    heads = [(title + down[name], True) for name, title in FIGURES.items()]
    return heads + [(title, False) for title in RANKING.values()]


def cost_table(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Heads, and a row per method: what it cost, how it decided, how exact it is.

    A column that no method fills is left out: the cost of a fit, of a model that was there before.
    """
    columns: dict[str, list[Any]] = {
        "method": [s.name for s in comparison.ranked],
        "CPU s": [s.cost and f"{s.cost.cpu_seconds:,.2f}" for s in comparison.ranked],
        "wall s": [s.cost and f"{s.cost.wall_seconds:,.2f}" for s in comparison.ranked],
        "memory": [s.cost and size(s.cost.memory_bytes) for s in comparison.ranked],
        "rows/s": [f"{s.rows_per_second:,.0f}" for s in comparison.ranked],
        "model": [size(s.model_bytes) for s in comparison.ranked],
        "gap": [None if s.gap is None else f"{s.gap:.1e}" for s in comparison.ranked],
        "rule": [s.rule for s in comparison.ranked],
        "parameters": [parameters_text(s) for s in comparison.ranked],
    }
    used = {head: cells for head, cells in columns.items() if any(cells)}
    rows = zip(*used.values(), strict=True)
    return list(used), [[cell or "none" for cell in row] for row in rows]


def parameters_text(result: MethodResult) -> str:
    """What a method was given, as on the command line."""
    found = (f"{k}={v if isinstance(v, str) else json.dumps(v, default=str)}"
             for k, v in result.parameters.items())  # fmt: skip
    return ", ".join(found) or "defaults"


def size(n_bytes: float) -> str:
    """Bytes in a unit that fits."""
    value, units = float(n_bytes), ["kB", "MB", "GB"]
    unit = "B"
    while value >= 1000 and units:
        value, unit = value / 1000, units.pop(0)
    return f"{value:,.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"


def pair_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """A row per pair of methods; those with the best method of all come first."""
    if not comparison.ranked:
        return []
    best, others = comparison.best().name, _corrected(comparison.pair_tests)
    order = sorted(comparison.pair_tests, key=lambda d: best not in (d.first, d.second))
    return [
        {
            "first": d.first,
            "second": d.second,
            "leading": best in (d.first, d.second),
            "tests": [_test(d, figure) for figure in FIGURES],
            "others": [pvalue(others[name][d.first, d.second]) for name in TESTS],
        }
        for d in order
    ]


def _corrected(pairs: Sequence[PairTest]) -> dict[str, dict[tuple[str, str], float]]:
    """The p-values of the other tests after Holm, by test and pair."""
    keys = [(d.first, d.second) for d in pairs]
    found = {name: holm([getattr(d, name).pvalue for d in pairs]) for name in TESTS}
    return {name: dict(zip(keys, p.tolist(), strict=True)) for name, p in found.items()}


def _test(pair: PairTest, figure: str) -> dict[str, str]:
    p = pair.adjusted[figure]
    return {
        "difference": f"{pair.differences[figure]:+.4f}",
        "p": pvalue(pair.bootstrap[figure]),
        "adjusted": pvalue(p),
        "mark": stars(p),
    }


def group_rows(pair_tests: tuple[GroupTest, ...]) -> list[dict[str, str]]:
    """A row per level or size and method that is not the best there."""
    return [
        {
            "group": d.group,
            "best": d.best,
            "method": d.method,
            "difference": f"{d.difference:+.4f}",
            "sign": pvalue(d.adjusted_sign),
            "wilcoxon": pvalue(d.adjusted_wilcoxon),
        }
        for d in pair_tests
    ]


def coverage_rows(comparison: Comparison) -> list[list[str]]:
    """A row per method and precision: the least confidence, and how many rows it keeps."""
    return [
        [s.name, *row]
        for s in comparison.ranked
        for row in ([] if s.coverage is None else s.coverage.rows_at())
    ]


def pvalue(p: float) -> str:
    """A p-value for a table."""
    return "<0.0001" if p < 1e-4 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


def confusion_rows(taxonomy: Taxonomy, result: MethodResult, n: int = 12) -> list[list[str]]:
    """The labels that a method takes for one another."""
    return [
        [
            taxonomy.title(c.true),
            taxonomy.title(c.predicted),
            f"{c.rows:,}",
            f"{c.share:.0%}",
            str(c.distance),
            c.relation,
        ]
        for c in result.confusions[:n]
    ]


def mistake_rows(taxonomy: Taxonomy, result: MethodResult) -> list[dict[str, Any]]:
    """Rows with wrong labels, label by label: right, missed or wrong."""
    out = []
    for m in result.mistakes:
        kinds = [(name, "right" if name in m.predicted else "missed") for name in m.true]
        kinds += [(name, "wrong") for name in m.predicted if name not in m.true]
        labels = [
            {
                "title": taxonomy.title(name),
                "kind": kind,
                "score": f"{m.scores[name]:+.2f}" if name in m.scores else "",
            }
            for name, kind in kinds
        ]
        out.append({"id": m.id, "text": m.text, "why": m.why, "wrong": m.wrong, "labels": labels})
    return out
