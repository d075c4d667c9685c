"""The methods of [Rousu2006] section 5 on the test part of a collection, C = 1, and what is
measured of their label sets.

SVM and H-SVM have hinge loss, and a node below one that is off is switched off. Proteins get
normalised counts of substrings, as features for these two, as a kernel for the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus import FlatSVM, HierarchicalRLS, Taxonomy, TopDown
from linnaeus.experiments import spread_of_sums
from linnaeus.metrics import hierarchical_loss, symmetric_difference_loss, zero_one_loss
from studies.paired import DIGITS, facts_of, standard_error
from studies.results import Cell, Outcome
from studies.rousu_data import Problem, kernel, load, markov
from studies.tables import Context

MACHINE: dict[str, Any] = {"C": 1.0, "loss": "hinge"}
PAPER: dict[str, Any] = {"empty": "none"}  # a row in which nothing is on has no label
SCALINGS = ("unif", "sibl", "subtree")
TOP = "Root"
PARTS = ("P", "R", "F1")
BLOCKS = 100  # of test rows, for errors and tests
DRAWS = 1000  # of test rows, for the errors of precision, recall and F1


class Sets(NamedTuple):
    """True and predicted label sets over the nodes of a tree, closed upwards."""

    taxonomy: Taxonomy
    true: sp.csr_array
    pred: sp.csr_array


def answers(data: Problem, name: str, method: str, seed: int = 0) -> Any:
    """The label sets that a method, by the paper's name, gives to the test part."""
    if method.startswith("H-M3"):
        model, X, X_test = markov(data, name, method.removeprefix("H-M3, "), seed)
        return model.fit(X, data.Y).predict(X_test)
    X, X_test = data.X, data.X_test
    if method == "SVM":
        model = FlatSVM(data.taxonomy, classes="nodes", random_state=seed, **MACHINE, **PAPER)
    elif method == "H-SVM":  # labels whose parents are off go off
        model = TopDown(data.taxonomy, decode="signs", random_state=seed, **MACHINE, **PAPER)
    elif data.texts is None:
        model = HierarchicalRLS(data.taxonomy, margins=False, **PAPER)
    else:
        model = HierarchicalRLS(data.taxonomy, kernel=kernel(), margins=False, **PAPER)
        X, X_test = data.texts, data.texts_test
    return model.fit(X, data.Y).predict(X_test)


def under_one_root(taxonomy: Taxonomy, true: Any, pred: Any) -> Sets:
    """Label sets with the paper's common root, which every example has, above a forest."""
    if len(taxonomy.roots) == 1:
        return Sets(taxonomy, sp.csr_array(true), sp.csr_array(pred))
    tops = [(TOP, root) for root in taxonomy.roots]
    edges = [(p, v) for v in taxonomy.nodes for p in taxonomy.parents(v)]
    tree = Taxonomy.from_edges(tops + edges)
    wide = (tree.encode([[*row, TOP] for row in taxonomy.decode(Y)]) for Y in (true, pred))
    return Sets(tree, *(sp.csr_array(Y) for Y in wide))


def losses(sets: Sets) -> dict[str, float]:
    """The test losses of Table 1."""
    pair = (sets.true, sets.pred, sets.taxonomy)
    found = {"0/1 %": 100 * zero_one_loss(*pair), "delta": symmetric_difference_loss(*pair)}
    return found | {s: hierarchical_loss(*pair, scaling=s) for s in SCALINGS}


def level_counts(sets: Sets) -> np.ndarray:
    """(n_rows, 3 x levels): labels that are right, predicted and true, level by level."""
    depth = sets.taxonomy.depth
    n = depth.size
    onto = sp.csr_array((np.ones(n), (np.arange(n), depth)), shape=(n, int(depth.max()) + 1))
    right = sp.csr_array(sets.true.multiply(sets.pred))
    parts = [(Y.astype(np.float64) @ onto).toarray() for Y in (right, sets.pred, sets.true)]
    return np.stack(parts, axis=2).reshape(sets.true.shape[0], -1)


def ratios(sums: np.ndarray) -> np.ndarray:
    """From sums (draws, 3 x levels): P, R and F1 in %, pooled first, then of every level."""
    by_level = sums.reshape(sums.shape[0], -1, 3)
    every = np.concatenate([by_level.sum(axis=1, keepdims=True), by_level], axis=1)
    right, pred, true = every[:, :, 0], every[:, :, 1], every[:, :, 2]
    found = [_ratio(right, pred), _ratio(right, true), _ratio(2 * right, pred + true)]
    return 100 * np.stack(found, axis=2).reshape(sums.shape[0], -1)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(a, b, out=np.zeros_like(a), where=b > 0))


def block_values(sets: Sets, counts: np.ndarray, seed: int) -> dict[str, list[float]]:
    """Losses, and hits per level (in labels a row), of blocks of test rows drawn at random."""
    n = sets.true.shape[0]
    values: dict[str, list[float]] = {}
    rows = np.random.default_rng(seed).permutation(n)
    for block in np.array_split(rows, min(BLOCKS, n)):
        part = Sets(sets.taxonomy, sets.true[block], sets.pred[block])
        found = losses(part)
        hits = counts[block, ::3].mean(axis=0)
        found |= {f"hits at level {k}": float(hit) for k, hit in enumerate(hits)}
        for measure, value in found.items():
            values.setdefault(measure, []).append(value)
    return values


def run_method(
    context: Context, collection: str, method: str, row: str, columns: tuple[str, ...],
    published: tuple[float, ...],
) -> Outcome:  # fmt: skip
    """A method on a collection: the figures named by `columns`, with levels among the facts."""
    data = load(context.data, collection)
    found = answers(data, collection, method, context.seed)
    sets = under_one_root(data.taxonomy, data.Y_test, found)
    counts = level_counts(sets)
    values = block_values(sets, counts, context.seed)
    whole = {name: (value, standard_error(values[name])) for name, value in losses(sets).items()}
    figures = np.round(ratios(counts.sum(axis=0, keepdims=True))[0].reshape(-1, 3), DIGITS)
    errors = np.round(spread_of_sums(counts, ratios, DRAWS, context.seed), DIGITS).reshape(-1, 3)
    whole |= {p: (float(figures[0, j]), float(errors[0, j])) for j, p in enumerate(PARTS)}
    cells = [
        Cell(row, name, round(whole[name][0], DIGITS), whole[name][1], figure)
        for name, figure in zip(columns, published, strict=True)
    ]
    facts = facts_of(
        collection, method, values, levels=figures[1:], level_errors=errors[1:],
        figures={name: value for name, (value, _) in whole.items()},
        sizes={"training rows": data.Y.shape[0], "test rows": data.Y_test.shape[0],
               "nodes": len(data.taxonomy)},
    )  # fmt: skip
    return Outcome(cells, facts=facts)
