"""Recursion against independent machines, each at the C that held-out data prefer.

FlatSVM and RecursiveSVM, also with stronger edges between inner nodes, on the problems S and M: a
quarter of the training part is held out, every C of a grid is tried on the rest, the one of highest
macro-F1 is trained on everything and measured once on the test part. Two rules turn scores into
label sets: "zero" takes the classes of positive score, the best one at least; "peers" is the peers'
common cut, one threshold that gives as many labels as the training part has. PEERS is the folder of
their scripts, PEERS_DATA that of the problems; SIZES, LOSS and JOBS choose problems, loss, threads.

Beside it what recursion costs: CPU seconds of RecursiveSVM (gap 0.01) and RecursiveLogistic by
those of their flat twins (0.001) in one run, on S, many classes, dense features and the collections
below COLLECTIONS. ONLY=costs leaves the rest out; COSTS names the problems.
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
from benchmarks.recording import collections, publish
from benchmarks.run_linnaeus import TOP, labels
from linnaeus.synthetic import make_text_like

CS = {"FlatSVM": (3.0, 10.0, 30.0, 100.0), "RecursiveSVM": (10.0, 100.0, 1000.0)}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "flat": ("FlatSVM", {"tol": 1e-3}),
    "recursive": ("RecursiveSVM", {"tol": 1e-2}),
    "recursive, inner edges 10": ("RecursiveSVM", {"tol": 1e-2, "conductance": 10.0}),
}

TWINS = {  # recursive, flat, and what they are told
    "RecursiveSVM": ("FlatSVM", {"tol": 1e-2}, {"tol": 1e-3}),
    "RecursiveLogistic": ("FlatLogistic", {"tol": 1e-3}, {"tol": 1e-3}),
}
REAL = ("ImCLEF07A", "news20", "lshtc-small-val")


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


def peers_problem(name: str) -> tuple[Any, ...]:
    """A problem of the peers: its arrays, the taxonomy, and X and Y to learn from."""
    from common import data

    z = data(name)
    X, above = sp.csr_array(z["Xtr"], dtype=np.float32), z["parents"].tolist()
    taxonomy = linnaeus.Taxonomy.from_edges([(above[v] or None, v) for v in range(1, len(above))])
    return z, taxonomy, X, sp.csr_matrix(z["Ytr"])


def measure(name: str) -> list[list[Any]]:
    z, taxonomy, X, Y = peers_problem(name)
    X_test = sp.csr_array(z["Xte"], dtype=np.float32)
    column = np.full(len(z["parents"]), -1)
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


def wide(n_rows: int = 20_000, n_classes: int = 2000) -> tuple[Any, ...]:
    """Text-like rows of many classes."""
    X, Y, taxonomy = make_text_like(
        n_rows, 20_000, n_leaves=n_classes, nonzeros=60, labels_per_sample=1.0, tfidf=True,
        random_state=0,
    )  # fmt: skip
    return taxonomy, X.astype(np.float32), np.array(taxonomy.nodes)[Y.indices], {}


def real(name: str) -> tuple[Any, ...]:
    """A collection, with the intercept of the studies."""
    from studies.gopal_data import intercept_of, load

    folder = collections()
    if folder is None:
        raise FileNotFoundError(name)
    problem = load(folder, name)
    return problem.taxonomy, problem.X, problem.y, intercept_of(name)


def embedded(name: str = "news20", width: int = 384) -> tuple[Any, ...]:
    """Texts in few dense features: the largest singular vectors, rows of length one."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    taxonomy, X, y, _ = real(name)
    Z = TruncatedSVD(width, n_iter=2, random_state=0).fit_transform(X)
    return taxonomy, normalize(Z).astype(np.float32), y, {}


def small() -> tuple[Any, ...]:
    """The peers' S."""
    z, taxonomy, X, Y = peers_problem("S")
    return taxonomy, X, labels(Y, z["leaves"], taxonomy), {}


def seconds(kind: str, C: float, problem: tuple[Any, ...], **options: Any) -> tuple[float, float]:
    """CPU seconds of a fit on one core, and its gap."""
    taxonomy, X, y, more = problem
    model = getattr(linnaeus, kind)(taxonomy, C=C, n_jobs=1, random_state=0, **options, **more)
    began = time.process_time()
    model.fit(X, y)
    return time.process_time() - began, float(model.gap_)


def costs() -> None:
    """Recursive models by their flat twins."""
    problems = {"S": small, "wide": wide, "embeddings": embedded}
    problems |= {name: (lambda name=name: real(name)) for name in REAL}
    for kind, (flat, *_) in TWINS.items():  # loops are loaded before the clock starts
        for name in (kind, flat):
            seconds(name, 1.0, wide(300, 20), dtype="float32")
            seconds(name, 1.0, wide(300, 20), dtype="float64")
    asked, rows = os.environ.get("COSTS", ",".join(problems)).split(","), []
    for name, kind, C in ((n, k, C) for n in asked for k in TWINS for C in (1.0, 10.0)):
        if kind == "RecursiveLogistic" and name in ("S", "wide"):
            continue
        try:
            problem = problems[name]()
        except (FileNotFoundError, ImportError):
            print(f"{name}: not here", file=sys.stderr)
            continue
        flat, own, others = TWINS[kind]
        mine, gap = seconds(kind, C, problem, **own)
        theirs, flat_gap = seconds(flat, C, problem, **others)
        rows.append([f"{name}, {kind}", C, mine, theirs, mine / theirs, gap, flat_gap])
        print(rows[-1], flush=True)
    publish(
        "recursive_costs",
        "What recursion costs: CPU seconds of a fit by those of the flat twin",
        ["problem", "C", "recursive", "flat", "ratio", "gap", "gap of the flat one"],
        rows,
        needs=f"ONLY=costs COSTS={','.join(asked)} PEERS=peers PEERS_DATA=peers/data",
        benchmark="rr_svm",
    )


def main() -> None:
    warnings.simplefilter("ignore")
    folder = os.environ.get("PEERS")
    sys.path[:0] = [folder] if folder else []
    costs()
    if os.environ.get("ONLY") == "costs":
        return
    if not folder:
        print("PEERS names no folder of the peers' scripts: nothing to measure.", file=sys.stderr)
        return
    loss = os.environ.get("LOSS", "squared_hinge")
    for name in os.environ.get("SIZES", "S,M").split(","):
        publish(
            f"recursive_{name}_{loss}",
            f"Recursion against independent machines on {name}, each at its own C: {loss}",
            ["problem", "rule", "model", "C", "micro F1", "macro F1", "gap", "held-out macro F1"],
            sorted(measure(name)),
            notes="C by macro-F1 on a held-out quarter of the training part.",
            needs=f"LOSS={loss} SIZES={name} PEERS=peers PEERS_DATA=peers/data",
            benchmark="rr_svm",
        )


if __name__ == "__main__":
    main()
