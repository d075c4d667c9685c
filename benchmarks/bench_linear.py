"""Linear models on two text-like problems: CPU seconds against peers, in one run.

Set PEERS_DATA to the folder that holds the problems S and M (npz files of a training and a test
part with leaf indicators, ``parents.npy`` and ``leaves.npy``); without it nothing is measured.
Quality is by one rule for all: the best class, and further ones above a common threshold that
gives as many labels as in training.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from benchmarks.recording import publish, shown
from linnaeus import (
    FlatLogistic,
    FlatSVM,
    MulticlassLogistic,
    MulticlassSVM,
    RecursiveSVM,
    Taxonomy,
)
from linnaeus.metrics import macro_f1, micro_f1

TOP = 20


class Problem:
    """One of the problems, with its taxonomy and labels over nodes."""

    def __init__(self, folder: Path) -> None:
        parts = {
            k: sp.csr_array(sp.load_npz(folder / f"{k}.npz")) for k in ("Xtr", "Xte", "Ytr", "Yte")
        }
        parents, leaves = np.load(folder / "parents.npy"), np.load(folder / "leaves.npy")
        nodes = range(1, len(parents))
        self.taxonomy = Taxonomy.from_edges([(int(parents[v]), int(v)) for v in nodes])
        self.X, self.X_test = (parts[k].astype(np.float32) for k in ("Xtr", "Xte"))
        self.leaf = self.taxonomy.numbers(leaves.tolist())
        self.Y, self.Y_test = (self._over_nodes(parts[k]) for k in ("Ytr", "Yte"))
        self.one_label = (np.diff(self.Y.indptr) == 1).all()

    def _over_nodes(self, Y: sp.csr_array) -> sp.csr_array:
        shape = (Y.shape[0], len(self.taxonomy))
        out = sp.csr_array((np.ones(Y.nnz, np.int8), self.leaf[Y.indices], Y.indptr), shape=shape)
        out.sort_indices()
        return out

    def quality(self, best: np.ndarray, scores: np.ndarray, nodes: np.ndarray) -> tuple[float, ...]:
        """Micro and macro F1 over classes in the test part, and hierarchical F1."""
        keep = np.zeros(best.shape, dtype=bool)
        keep[:, 0] = True
        extra = round((self.Y.nnz / self.Y.shape[0] - 1) * len(best))
        if extra > 0:
            keep[:, 1:] |= scores[:, 1:] >= np.sort(scores[:, 1:].ravel())[-extra]
        row, at = np.nonzero(keep)
        ones = np.ones(row.size, np.int8)
        P = sp.csr_array((ones, (row, nodes[best[row, at]])), shape=self.Y_test.shape)
        Y, closed = self.Y_test, self.taxonomy.closure
        return (
            micro_f1(Y[:, self.leaf], P[:, self.leaf]),
            macro_f1(Y[:, self.leaf], P[:, self.leaf], over="support"),
            micro_f1(closed(Y)[:, 1:], closed(P)[:, 1:]),  # without the root, which all have
        )


def measure(name: str, model, problem: Problem, y=None) -> list:
    """A row of the table: CPU and wall seconds, the gap, and the quality on the test part."""
    start_cpu, start = time.process_time(), time.perf_counter()
    model.fit(problem.X, problem.Y if y is None else y)
    cpu, wall = time.process_time() - start_cpu, time.perf_counter() - start
    start_cpu = time.process_time()
    if hasattr(model, "top_k"):
        best, scores = model.top_k(problem.X_test, TOP)
        nodes = problem.taxonomy.numbers(model.classes_.tolist())
    else:
        S = model.decision_function(problem.X_test)
        best = np.argsort(-S, axis=1, kind="stable")[:, :TOP]
        scores, nodes = np.take_along_axis(S, best, axis=1), np.asarray(model.classes_)
    predict = time.process_time() - start_cpu
    gap = float(model.gap_) if hasattr(model, "gap_") else None
    row = [name, cpu, wall, predict, gap, *problem.quality(best, scores, nodes)]
    print("  ".join(shown(value) for value in row), flush=True)
    return row


def run(folder: Path, large: bool) -> None:
    problem = Problem(folder)
    tax, options = problem.taxonomy, {"dtype": "float32", "n_jobs": 2, "random_state": 0}
    n, d = problem.X.shape
    title = f"{folder.name}: {n:,} x {d:,}, {problem.X.nnz:,} nonzeros, {len(tax.leaves):,} leaves"
    rows = []
    for loss in ("squared_hinge",) if large else ("squared_hinge", "hinge"):
        flat = FlatSVM(tax, loss=loss, tol=1e-3, **options)
        recursive = RecursiveSVM(tax, loss=loss, tol=1e-2, **options)
        pair = {f"FlatSVM, gap 1e-3, {loss}": flat, f"RecursiveSVM, gap 1e-2, {loss}": recursive}
        for model in pair.values():
            model.fit(problem.X[:300], problem.Y[:300])  # compile
        runs: dict = {name: [] for name in pair}
        for _ in range(1 if large else 3):  # in turns: other work on the machine only adds
            for name, model in pair.items():
                runs[name].append(measure(name, model, problem))
                model.coef_ = None
        rows += [min(found, key=lambda row: row[1]) for found in runs.values()]
    if large:  # the C that held-out data prefer among these two, see bench_rr_svm
        larger = FlatSVM(tax, C=3.0, tol=1e-3, **options)
        rows.append(measure("FlatSVM, gap 1e-3, C = 3", larger, problem))
    else:
        others(problem, rows, options)
    heads = ("model", "fit CPU s", "wall s", "predict CPU s", "gap", "micro", "macro", "hF1")
    publish(
        f"linear_{folder.name}", title, heads, rows, needs="PEERS_DATA=data", benchmark="linear"
    )


def others(problem: Problem, rows: list, options: dict) -> None:
    """More models, and scikit-learn's."""
    tax = problem.taxonomy
    FlatLogistic(tax, **options).fit(problem.X[:300], problem.Y[:300])
    rows.append(measure("FlatLogistic", FlatLogistic(tax, **options), problem))
    if problem.one_label:
        y = problem.Y.indices
        names = np.array(tax.nodes)[y]
        for model in (MulticlassSVM(tax, **options), MulticlassLogistic(tax, **options)):
            model.fit(problem.X[:300], names[:300])
            rows.append(measure(type(model).__name__, model, problem, names))
        rows.append(measure("scikit-learn LinearSVC", LinearSVC(), problem, y))
        crammer = LinearSVC(multi_class="crammer_singer")
        rows.append(measure("scikit-learn crammer_singer", crammer, problem, y))


def main() -> None:
    folder = os.environ.get("PEERS_DATA")
    if not folder:
        print("PEERS_DATA is not set: nothing to measure.", file=sys.stderr)
        return
    for name in ("S", "M"):
        if (Path(folder) / name).is_dir():
            run(Path(folder) / name, large=name == "M")


if __name__ == "__main__":
    main()
