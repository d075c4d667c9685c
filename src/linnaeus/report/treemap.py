"""The taxonomy as a map: an area per node, as large as its true labels, coloured by F1.

A node's area is the number of labels at or below it along first parents, so areas add up even
where rows have several labels or nodes several parents. A node appears once, below its first
parent. Of very many nodes those with the most labels are shown; a parent has at least as many as
its child, so what is shown hangs together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linnaeus.experiments import Comparison
from linnaeus.metrics import Report
from linnaeus.report.charts import FONT, SCALE, Chart, escaped, layout, numbered
from linnaeus.taxonomy import Taxonomy

MOST = 1500  # nodes that are drawn
DEPTH = 3  # levels shown at once; a click goes deeper
ALL = "all"
TITLE = 40  # characters of a node's name


def taxonomy_map(comparison: Comparison, most: int = MOST) -> Chart | None:
    """The map, with a button for each method; None without a label."""
    methods = numbered(comparison)
    if not methods or not comparison.truth.nnz:
        return None
    taxonomy, first = comparison.taxonomy, methods[0][2]
    parent, area = first_parents(taxonomy), areas(taxonomy, first)
    shown = shown_nodes(area, most)
    views = [_view(comparison, report, shown) for _, _, report in methods]
    names = [_short(taxonomy.title(taxonomy.nodes[v])) for v in shown]
    trace = {
        "type": "treemap",
        "ids": [ALL, *map(str, shown)],
        "labels": [comparison.setting.data or "taxonomy", *names],
        "parents": ["", *(ALL if parent[v] < 0 else str(parent[v]) for v in shown)],
        "values": [int(area[parent < 0].sum()), *area[shown].tolist()],
        "branchvalues": "total",
        "maxdepth": DEPTH + 1,
        "tiling": {"pad": 2},
        "pathbar": {"thickness": 24},
        "textfont": {"family": FONT},
        "hovertemplate": "%{customdata}<extra></extra>",
        "customdata": views[0]["customdata"][0],
        "marker": {
            "colors": views[0]["marker.colors"][0],
            "colorscale": SCALE,
            "cmin": 0,
            "cmax": 1,
            "line": {"width": 1, "color": "#ffffff"},
            "colorbar": {"title": {"text": "F1"}, "thickness": 12, "len": 0.8, "tickformat": ".1f"},
        },
    }
    own = layout(height=560, margin={"l": 4, "r": 4, "t": 44 if len(methods) > 1 else 8, "b": 4})
    if len(methods) > 1:
        own["updatemenus"] = [_menu([s.name for _, s, _ in methods], views)]
    return {"data": [trace], "layout": own}


def hidden_nodes(comparison: Comparison, most: int = MOST) -> int:
    """How many nodes with labels the map leaves out."""
    if not comparison.ranked:
        return 0
    area = areas(comparison.taxonomy, numbered(comparison)[0][2])
    return max(0, int((area > 0).sum()) - most)


def first_parents(taxonomy: Taxonomy) -> np.ndarray:
    """The first parent of every node, -1 for roots."""
    dag = taxonomy.dag
    out = np.full(len(taxonomy), -1)
    inner = np.flatnonzero(taxonomy.n_parents > 0)
    out[inner] = dag.parents[dag.parent_ptr[inner]]
    return out


def areas(taxonomy: Taxonomy, report: Report) -> np.ndarray:
    """True labels at or below every node, along first parents; most specific labels count."""
    out = np.zeros(len(taxonomy), dtype=np.int64)
    classes = report.own.classes
    assert classes is not None
    out[classes] = np.bincount(report.own.true.indices, minlength=classes.size)
    parent = first_parents(taxonomy)
    for v in range(len(taxonomy) - 1, -1, -1):  # parents have lower numbers
        if parent[v] >= 0:
            out[parent[v]] += out[v]
    return out


def shown_nodes(area: np.ndarray, most: int) -> list[int]:
    """The nodes with the largest areas, in node order."""
    order = np.lexsort((np.arange(area.size), -area))[:most]
    kept: list[int] = np.sort(order[area[order] > 0]).tolist()
    return kept


def _view(comparison: Comparison, report: Report, shown: list[int]) -> dict[str, Any]:
    """Colours and hover texts of one method."""
    nodes, counts = report.nodes, comparison.train_counts
    texts = [
        f"<b>{escaped(comparison.taxonomy.title(comparison.taxonomy.nodes[v]))}</b><br>"
        f"F1 {nodes.f1[v]:.3f} · precision {nodes.precision[v]:.3f} · "
        f"recall {nodes.recall[v]:.3f}<br>"
        f"{int(nodes.support[v]):,} true · {int(report.predicted[v]):,} predicted · "
        f"{int(counts[v]):,} training rows"
        for v in shown
    ]
    whole = f"<b>all</b><br>hierarchical F1 {report['hierarchical_f1']:.3f}"
    colours = [round(float(nodes.f1[v]), 4) for v in shown]
    top = round(float(report["hierarchical_f1"]), 4)
    return {"customdata": [[whole, *texts]], "marker.colors": [[top, *colours]]}


def _menu(names: list[str], views: list[dict[str, Any]]) -> dict[str, Any]:
    """A menu that colours the map by another method."""
    return {
        "type": "dropdown",
        "direction": "down",
        "x": 0,
        "xanchor": "left",
        "y": 1.0,
        "yanchor": "bottom",
        "pad": {"b": 6},
        "bgcolor": "#ffffff",
        "buttons": [
            {"label": escaped(name), "method": "restyle", "args": [view]}
            for name, view in zip(names, views, strict=True)
        ],
    }


def _short(title: str) -> str:
    return escaped(title if len(title) <= TITLE else f"{title[: TITLE - 1]}…")
