"""Top-down training and beam search on the peers' problems: CPU seconds and quality.

The data are those of the folder that PEERS_DATA names (``S/Xtr.npz`` and so on; shared/peers has
`make_data.py`). Everybody is cut by the same rule: the best label, and all labels above one common
threshold that gives as many labels a row as the training part has. On M libpecos needs 6.6
CPU-seconds to train and 9.3 to predict (micro-F1 .745), napkinXC 11.2 and 7.5 (.752).

C is chosen by cross-validation on the training part, by the micro-F1 after the same cut: the lowest
C within .001 of the best, for a higher one costs time and gains little. The rule itself is our own
choice.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus import Taxonomy
from linnaeus.estimators.topdown import TopDown

TOP, REPEATS, FOLDS = 20, 3, 3
ALIKE = 0.001  # micro-F1
CS = (1.0, 10.0, 100.0, 1000.0)
TUNED: list[tuple[str, dict[str, Any]]] = [  # what C is chosen for
    ("S", {}),
    ("S", {"local": "multiclass"}),
    ("M", {}),
]
RUNS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [  # with the C of these, and more options
    ("S", {}, {}),
    ("S", {"local": "multiclass"}, {}),
    ("M", {}, {}),
    ("M", {}, {"n_jobs": 2}),
    ("M", {}, {"prune": 0.05}),
]
DEFAULTS = {"decode": "beam", "beam": 10, "tol": 3e-2, "random_state": 0}


class Data(NamedTuple):
    """One problem, its label columns in the order of the leaves of the taxonomy."""

    taxonomy: Taxonomy
    X: sp.csr_array
    Y: sp.csr_array
    X_test: sp.csr_array
    Y_test: sp.csr_array


def load(folder: Path) -> Data:
    X, Y, X_test, Y_test = (
        sp.csr_array(sp.load_npz(folder / f"{name}.npz")) for name in ("Xtr", "Ytr", "Xte", "Yte")
    )
    above = np.load(folder / "parents.npy").tolist()  # node 0 is an artificial top
    edges = [(above[v] or None, v) for v in range(1, len(above))]
    taxonomy = Taxonomy.from_edges(edges)
    place = {int(v): j for j, v in enumerate(np.load(folder / "leaves.npy"))}
    columns = [place[v] for v in taxonomy.leaves]
    return Data(taxonomy, X, Y[:, columns], X_test, Y_test[:, columns])


def common_cut(best: np.ndarray, value: np.ndarray, per_row: float, shape: Any) -> sp.csr_array:
    """The best label of each row, and the best of the others, as many as in training."""
    keep = np.zeros(value.shape, dtype=bool)
    keep[:, 0] = True
    rest = np.sort(value[:, 1:][np.isfinite(value[:, 1:])])[::-1]
    extra = min(round((per_row - 1) * len(value)), rest.size)
    if extra > 0:
        keep |= value >= rest[extra - 1]
    row = np.nonzero(keep)[0]
    return sp.csr_array((np.ones(row.size, np.int64), (row, best[keep])), shape=shape)


def f1(found: sp.csr_array, true: sp.csr_array) -> tuple[float, float]:
    """Micro-F1, and macro-F1 over the classes that occur."""
    right = np.asarray(found.multiply(true).sum(axis=0)).ravel()
    both = np.asarray(found.sum(axis=0) + true.sum(axis=0)).ravel()
    present = np.asarray(true.sum(axis=0)).ravel() > 0
    return 2 * right.sum() / both.sum(), float(np.mean(2 * right[present] / both[present]))


def labels(data: Data, Y: sp.csr_array) -> Any:
    """Names where every row has one label, else the indicator."""
    one = bool((np.diff(data.Y.indptr) == 1).all())
    return np.array(data.taxonomy.leaves)[Y.indices] if one else Y


def best_leaves(model: TopDown, data: Data, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The best classes of each row as numbers of leaves, -1 for none, and their values."""
    best, value = model.top_k(X, TOP)
    number = {name: j for j, name in enumerate(data.taxonomy.leaves)}
    return np.array([*(number[name] for name in model.classes_.tolist()), -1])[best], value


def choose(data: Data, options: dict[str, Any]) -> np.ndarray:
    """The micro-F1 of each C, by cross-validation on the training part, (n_values,)."""
    n = data.X.shape[0]
    fold = np.random.default_rng(0).permutation(n) % FOLDS
    scores = np.empty((FOLDS, len(CS)))
    for k in range(FOLDS):
        rest, part = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        Y, true = data.Y[rest], data.Y[part].astype(np.int64)
        for j, C in enumerate(CS):
            model = TopDown(data.taxonomy, C, n_jobs=2, **{**DEFAULTS, **options})
            best, value = best_leaves(model.fit(data.X[rest], labels(data, Y)), data, data.X[part])
            scores[k, j] = f1(common_cut(best, value, Y.nnz / Y.shape[0], true.shape), true)[0]
    return np.asarray(scores.mean(axis=0))


def measured(data: Data, options: dict[str, Any]) -> tuple[TopDown, Any, float, float]:
    """A fitted model, its best labels, and the least CPU seconds of fit and of prediction."""
    y = labels(data, data.Y)
    model = TopDown(data.taxonomy, **{**DEFAULTS, **options})
    fit, predict = [], []
    for _ in range(REPEATS):
        start = time.process_time()
        model.fit(data.X, y)
        fit.append(time.process_time() - start)
        start = time.process_time()
        top = best_leaves(model, data, data.X_test)
        predict.append(time.process_time() - start)
    return model, top, min(fit), min(predict)


def report(name: str, data: Data, options: dict[str, Any]) -> None:
    """One line: seconds, the gap, and quality on the test part."""
    model, (best, value), fit, predict = measured(data, options)
    true = data.Y_test.astype(np.int64)
    cut = common_cut(best, value, data.Y.nnz / data.Y.shape[0], true.shape)
    first = np.asarray(true[np.arange(len(best)), best[:, 0]]).mean()
    micro, macro = f1(cut, true)
    above = data.taxonomy.ancestor_matrix[data.taxonomy.leaf_numbers].astype(np.int64)
    closed, wanted = (((Y @ above) > 0).astype(np.int64) for Y in (cut, true))
    print(
        f"{name} {options!s:40} {fit:7.2f} {predict:8.2f} {model.gap_:8.1e} {first:6.3f} "
        f"{micro:6.3f} {macro:6.3f} {f1(closed, wanted)[0]:6.3f}",
        flush=True,
    )


def main() -> None:
    folder = Path(os.environ.get("PEERS_DATA", "data"))
    if not (folder / "S" / "Xtr.npz").exists():
        print(f"{folder} holds no S/Xtr.npz. Make it with make_data.py, and set PEERS_DATA.")
        return
    problems = {name: load(folder / name) for name in ("S", "M") if (folder / name).exists()}
    print(f"micro-F1 of each C, {FOLDS} folds of the training part")
    print(f"{'':42} " + " ".join(f"{C:>7g}" for C in CS))
    chosen = {}
    for name, options in TUNED:
        if name in problems:
            scores = choose(problems[name], options)
            chosen[name, str(options)] = CS[int(np.argmax(scores >= scores.max() - ALIKE))]
            shown = " ".join(f"{score:7.4f}" for score in scores)
            print(f"{name} {options!s:40} {shown}", flush=True)
    print(f"CPU seconds, the least of {REPEATS}; top {TOP} labels by a beam of {DEFAULTS['beam']}")
    names = ("P@1", "micro", "macro", "hF1")
    print(f"{'':42} {'fit':>7} {'predict':>8} {'gap':>8} " + " ".join(f"{n:>6}" for n in names))
    for name, options, more in RUNS:
        if name in problems:
            report(name, problems[name], {"C": chosen[name, str(options)], **options, **more})


if __name__ == "__main__":
    main()
