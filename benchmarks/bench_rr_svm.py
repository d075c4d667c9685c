"""Recursion against independent machines, each at the C that held-out data prefer.

FlatSVM and RecursiveSVM, also with stronger edges between inner nodes, on the problems S and M: a
quarter of the training part is held out, every C of a grid is tried on the rest, the one of highest
macro-F1 is trained on everything and measured once on the test part. Two rules turn scores into
label sets: "zero" takes the classes of positive score, the best one at least; "peers" is the peers'
common cut, one threshold that gives as many labels as the training part has. PEERS is the folder of
their scripts, PEERS_DATA that of the problems; SIZES, LOSS and JOBS choose problems, loss, threads.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

import linnaeus
from benchmarks.recording import publish
from benchmarks.run_linnaeus import TOP, labels

CS = {"FlatSVM": (3.0, 10.0, 30.0, 100.0), "RecursiveSVM": (10.0, 100.0, 1000.0)}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "flat": ("FlatSVM", {"tol": 1e-3}),
    "recursive": ("RecursiveSVM", {"tol": 1e-2}),
    "recursive, inner edges 10": ("RecursiveSVM", {"tol": 1e-2, "conductance": 10.0}),
}


def fitted(name: str, C: float, taxonomy: linnaeus.Taxonomy, X: Any, y: Any) -> Any:
    kind, options = MODELS[name]
    options = {**options, "loss": os.environ.get("LOSS", "squared_hinge"), "dtype": "float32"}
    jobs = int(os.environ.get("JOBS", "2"))
    model = getattr(linnaeus, kind)(taxonomy, C=C, n_jobs=jobs, random_state=0, **options)
    return model.fit(X, y)


def quality(model: Any, X: Any, Y: sp.csr_matrix, column: Any, cardinality: float) -> dict:
    """Micro- and macro-F1 (over classes that occur) under both rules."""
    from common import cut, f1

    best, scores = model.top_k(X, TOP)
    found = column[np.asarray(model.classes_, dtype=int)[best]]
    positive = scores > 0
    positive[:, 0] = True
    row, place = np.nonzero(positive)
    zero = sp.csr_matrix((np.ones(row.size), (row, found[row, place])), shape=Y.shape)
    rules = {"zero": zero, "peers": cut(found, scores, Y.shape[1], cardinality)}
    return {rule: dict(zip(("micro", "macro"), map(float, f1(P, Y)), strict=True))
            for rule, P in rules.items()}  # fmt: skip


def measure(name: str) -> list[list[Any]]:
    from common import data

    z = data(name)
    X, X_test = (sp.csr_array(z[part], dtype=np.float32) for part in ("Xtr", "Xte"))
    above, Y = z["parents"].tolist(), sp.csr_matrix(z["Ytr"])
    taxonomy = linnaeus.Taxonomy.from_edges([(above[v] or None, v) for v in range(1, len(above))])
    column = np.full(len(above), -1)
    column[z["leaves"]] = np.arange(z["leaves"].size)
    order = np.random.default_rng(0).permutation(X.shape[0])
    held, rest = np.split(order, [X.shape[0] // 4])
    cardinality, rows = Y.nnz / Y.shape[0], []
    for kind in MODELS:
        tried = {}
        for C in CS[MODELS[kind][0]]:
            began = time.process_time()
            model = fitted(kind, C, taxonomy, X[rest], labels(Y[rest], z["leaves"], taxonomy))
            tried[C] = quality(model, X[held], Y[held], column, cardinality)
            seconds = time.process_time() - began
            print(f"{name} {kind:25} C {C:6g} held out {tried[C]} gap {model.gap_:.4f} "
                  f"{seconds:.0f} CPU-s", flush=True)  # fmt: skip
        final: dict[float, Any] = {}
        for rule in ("zero", "peers"):
            C = max(tried, key=lambda c: tried[c][rule]["macro"])
            if C not in final:
                final[C] = fitted(kind, C, taxonomy, X, labels(Y, z["leaves"], taxonomy))
            test = quality(final[C], X_test, sp.csr_matrix(z["Yte"]), column, cardinality)[rule]
            held_out = " ".join(f"{c:g}:{tried[c][rule]['macro']:.4f}" for c in tried)
            rows.append([name, rule, kind, C, *test.values(), final[C].gap_, held_out])
    return rows


def main() -> None:
    warnings.simplefilter("ignore")
    folder = os.environ.get("PEERS")
    if not folder:
        print("PEERS names no folder of the peers' scripts: nothing to measure.", file=sys.stderr)
        return
    sys.path.insert(0, folder)
    loss = os.environ.get("LOSS", "squared_hinge")
    for name in os.environ.get("SIZES", "S,M").split(","):
        publish(
            f"recursive_{name}_{loss}",
            f"Recursion against independent machines on {name}, each at its own C: {loss}",
            ["problem", "rule", "model", "C", "micro F1", "macro F1", "gap", "held-out macro F1"],
            sorted(measure(name)),
            notes="C by macro-F1 on a held-out quarter of the training part.",
            needs=f"LOSS={loss} SIZES={name} PEERS=peers PEERS_DATA=peers/data",
            benchmark="recursive",
        )


if __name__ == "__main__":
    main()
