"""H-M3 beside flat machines (SVM), local machines (H-SVM) and least squares (H-RLS), C = 1, with
the figures of [Rousu2006] next to ours.

SVM and H-SVM have hinge loss, and a node below one that is off is switched off. Proteins get
normalised counts of substrings, as features for these two, as a kernel for the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks import hm3_data, hm3_paper
from benchmarks.hm3_data import Problem
from benchmarks.recording import publish
from linnaeus import FlatSVM, HierarchicalRLS, Taxonomy, TopDown
from linnaeus.kernels import SpectrumKernel, normalize
from linnaeus.metrics import (
    hierarchical_loss,
    precision_recall_f1,
    symmetric_difference_loss,
    zero_one_loss,
)

MACHINE: dict[str, Any] = {"C": 1.0, "loss": "hinge", "random_state": 0}
SCALINGS = ("unif", "sibl", "subtree")
TOP = "Root"
LEVELS = range(4)


def flat(data: Problem) -> Any:
    model = FlatSVM(data.taxonomy, classes="nodes", **MACHINE)
    return model.fit(data.X, data.Y).predict(data.X_test)


def local(data: Problem) -> Any:
    """Every node's own decision among the examples of its parent; labels without parents go off."""
    model = TopDown(data.taxonomy, local="binary", decode="signs", **MACHINE)
    return model.fit(data.X, data.Y).predict(data.X_test)


def least_squares(data: Problem) -> Any:
    if data.texts is None:
        model = HierarchicalRLS(data.taxonomy, margins=False)
        return model.fit(data.X, data.Y).predict(data.X_test)
    kernel = normalize(SpectrumKernel(hm3_data.LENGTH))
    model = HierarchicalRLS(data.taxonomy, kernel=kernel, margins=False)
    return model.fit(data.texts, data.Y).predict(data.texts_test)


def markov(name: str, loss: str) -> Any:
    return hm3_data.fitted(name, loss)[1].predict(hm3_data.markov(name, loss)[2])


def answers(name: str) -> dict[str, Any]:
    """The label sets that every method gives to the test part."""
    data = hm3_data.collection(name)
    return {
        "SVM": flat(data),
        "H-SVM": local(data),
        "H-RLS": least_squares(data),
        "H-M3, delta": markov(name, "delta"),
        "H-M3, subtree": markov(name, "subtree"),
    }


def under_one_root(taxonomy: Taxonomy, *sets: Any) -> tuple[Taxonomy, list[Any]]:
    """A forest and label sets with the paper's common root, which every example has."""
    if len(taxonomy.roots) == 1:
        return taxonomy, list(sets)
    tops = [(TOP, root) for root in taxonomy.roots]
    edges = [(p, v) for v in taxonomy.nodes for p in taxonomy.parents(v)]
    tree = Taxonomy.from_edges(tops + edges)
    return tree, [tree.encode([[*row, TOP] for row in taxonomy.decode(Y)]) for Y in sets]


def percent(values: Iterable[float]) -> tuple[float, float, float]:
    precision, recall, f1 = (round(100 * float(v), 1) for v in values)
    return precision, recall, f1


def measures(name: str, found: Any) -> tuple[list[float], list[tuple[float, float, float]]]:
    """Pooled figures as in Table 2, and precision, recall and F1 by level."""
    data = hm3_data.collection(name)
    tree, (true, pred) = under_one_root(data.taxonomy, data.Y_test, found)
    losses = [
        round(100 * zero_one_loss(true, pred, tree), 1),
        round(symmetric_difference_loss(true, pred, tree), 3),
    ]
    pooled = precision_recall_f1(true, pred, tree)
    levels = precision_recall_f1(true, pred, tree, by="level")
    parts = ("precision", "recall", "f1")
    by_level = [percent(levels[k][part] for part in parts) for k in LEVELS]
    return [*losses, *percent((pooled.precision, pooled.recall, pooled.f1))], by_level


def verdict(pooled: dict[str, list[float]], deepest: dict[str, float]) -> str:
    """Who has the lowest 0/1 loss and the best recall at the last level."""
    best = min(pooled, key=lambda m: pooled[m][0])
    deep = max(deepest, key=lambda m: deepest[m])
    return (
        f"lowest 0/1 loss: {best} ({pooled[best][0]:g} %); best recall at level {LEVELS[-1]}: "
        f"{deep} ({deepest[deep]:g} %)."
    )


def tables() -> None:
    """Tables 2 and 3."""
    rows, level_rows, notes = [], [], []
    for name in hm3_data.TOL:
        pooled, deepest = {}, {}
        for method, found in answers(name).items():
            values, levels = measures(name, found)
            pooled[method], deepest[method] = values, levels[-1][1]
            rows.append([f"{name}, {method}", *values, *hm3_paper.POOLED[name][method]])
            ours = ["/".join(f"{v:g}" for v in level) for level in levels]
            level_rows.append([f"{name}, {method}", *ours, *hm3_paper.LEVELS[name][method]])
        notes.append(f"{name}, {verdict(pooled, deepest)}")
    head = ["0/1 %", "delta", "P", "R", "F1"]
    publish(
        "hm3_real",
        "H-M3 and others, C = 1; on the right the figures of [Rousu2006] Table 2",
        ["collection, method", *head, *(f"paper {h}" for h in head)],
        rows,
        notes=" ".join(notes) + " P, R and F1 over all nodes; for enzyme with the root, which "
        "every example has, as in the paper. Its data are others of the same shape.",
        needs="HM3_PARTS=real",
        benchmark="hm3",
    )
    head = [f"level {k}" for k in LEVELS]
    publish(
        "hm3_levels",
        "Precision/recall/F1 by level; on the right those of [Rousu2006] Table 3",
        ["collection, method", *head, *(f"paper {h}" for h in head)],
        level_rows,
        notes=" ".join(notes),
        needs="HM3_PARTS=real",
        benchmark="hm3",
    )


def training_losses() -> None:
    """Table 1: H-M3 trained for one loss, measured with all."""
    data = hm3_data.collection("rcv1-ccat")
    rows = []
    for loss, paper in hm3_paper.LOSSES.items():
        found = markov("rcv1-ccat", loss)
        pair = (data.Y_test, found, data.taxonomy)
        values = [100 * zero_one_loss(*pair), symmetric_difference_loss(*pair)]
        values += [hierarchical_loss(*pair, scaling=scaling) for scaling in SCALINGS]
        rows.append([loss, *np.round(values, 3).tolist(), *paper])
    head = ["0/1 %", "delta", *SCALINGS]
    publish(
        "hm3_losses",
        "H-M3 trained for each loss, on rcv1-ccat; on the right [Rousu2006] Table 1",
        ["trained for", *head, *(f"paper {h}" for h in head)],
        rows,
        notes="C = 1; unif, sibl and subtree are the hierarchical losses with these scalings.",
        needs="HM3_PARTS=real",
        benchmark="hm3",
    )


def main() -> None:
    training_losses()
    tables()
