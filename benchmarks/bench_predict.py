"""Rows a CPU-second of ``linnaeus predict`` beside its vectoriser alone, on the same texts.

The vectoriser has the texts in memory; predict reads the file, makes the features, scores,
decides and writes. Small test parts are repeated, so that loading the model, which comes once,
does not count for rows that come without end. `COLLECTIONS` is the folder of collections,
`COLLECTION_NAMES` chooses (news20). The target is 60 %.

With `PEERS_DATA`, the folder of the problems S and M, also what scores cost beside reading the
weights: CPU seconds of the test rows of M with random weights of its shape, dense and sparse,
beside one pass that sums all weights per batch of 2^23 scores (the target is 2 of them), and beside
SciPy's product, which is timed for one batch. And H-RLS on S: labels, and margins.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp

from benchmarks.recording import publish
from linnaeus import FlatSVM, HierarchicalRLS, Taxonomy
from linnaeus.inference.rows import score_blocks
from linnaeus.io import read_collection, write_jsonl
from linnaeus.model import Model, inputs_of, train
from linnaeus.workflow import predict

ROUNDS = 3
ROWS = 30_000  # at least
TARGET = 0.6
SPARSE = 2.25  # random weights up to this are left out of sparse ones: one in forty stays
HALF = 4000  # rows of S for H-RLS


def least(*works: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """The least CPU seconds of each piece of work, run in turn."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for i, work in enumerate(works):
            start = time.process_time()
            work()
            best[i] = min(best[i], time.process_time() - start)
    return best


def measure(name: str, folder: Path) -> list[Any]:
    data = read_collection(folder, parts=["train", "test"])
    model: Model = train(data.part("train"), data.taxonomy)
    once = data.part("test")
    part = once.take(list(range(len(once))) * -(-ROWS // len(once)))
    inputs, n = inputs_of(part), len(part)
    with tempfile.TemporaryDirectory() as place:
        model.save(f"{place}/model")
        target, source = f"{place}/out.jsonl", Path(f"{place}/test.jsonl")
        write_jsonl(part, source)
        features, read, whole = least(
            lambda: model.features.transform(inputs),
            lambda: read_collection(place, taxonomy=data.taxonomy, parts=["test"]),
            lambda: predict(f"{place}/model", source, target),
        )
    rates = [n / seconds for seconds in (features, read, whole)]
    return [name, model.about["method"], n, *map(round, rates), round(features / whole, 2)]


@numba.njit(fastmath=True)  # type: ignore[untyped-decorator]
def streamed(values: Any) -> float:
    """The sum, in any order: what reading costs."""
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


def matrix(folder: Path, name: str) -> sp.csr_array:
    return sp.csr_array(sp.load_npz(folder / f"{name}.npz"))


def flat_model(n_classes: int, n_features: int) -> FlatSVM:
    """A flat model with random weights of float32."""
    model = FlatSVM(dtype="float32").fit(sp.eye_array(n_classes, n_features), range(n_classes))
    model.coef_ = np.random.default_rng(0).standard_normal(model.coef_.shape, dtype=np.float32)
    return model


def beside_a_pass(folder: Path) -> list[list[Any]]:
    """Scores of M, a row for each form of weights."""
    X = matrix(folder / "M", "Xte")
    model = flat_model(matrix(folder / "M", "Yte").shape[1], X.shape[1])
    dense, rows = model.coef_, []
    batches = list(score_blocks(X.shape[0], dense.shape[0]))
    streamed(dense[0])
    for form in ("dense", "sparse"):
        if form == "sparse":
            model.coef_ = sp.csr_array(np.where(np.abs(dense) > SPARSE, dense, np.float32(0)))
        values = dense.ravel() if form == "dense" else model.coef_.data
        model.decision_function(X[:1])
        reading, scores, top, one, plain = least(
            partial(streamed, values),
            lambda: model.decision_function(X),
            lambda: model.top_k(X),
            lambda: model.decision_function(X[batches[0]]),
            lambda: X[batches[0]] @ model.coef_.T,
            rounds=1,
        )
        passes = scores / (reading * len(batches))
        rows.append([f"M, {form}", len(batches), reading, one, plain, scores, top, passes])
    return rows


def without_factors(folder: Path) -> list[list[Any]]:
    """H-RLS on half of S: labels and margins of the test rows."""
    names = np.load(folder / "S" / "leaves.npy").astype(str)
    parents = np.load(folder / "S" / "parents.npy")
    edges = [(str(p), str(v)) for v, p in enumerate(parents.tolist()) if p >= 0]
    X, Y = (matrix(folder / "S", name)[:HALF] for name in ("Xtr", "Ytr"))
    model = HierarchicalRLS(Taxonomy.from_edges(edges)).fit(X, names[Y.indices])
    new = matrix(folder / "S", "Xte")
    labels, margins = least(
        lambda: model.predict(new), lambda: model.decision_function(new), rounds=1
    )
    return [["H-RLS, S", len(new.indptr) - 1, labels, margins]]


def scoring(folder: Path) -> None:
    columns = ["weights", "batches", "pass s", "batch s", "SciPy's batch s", "decision_function s"]
    publish(
        "predict_weights",
        "Scores of 12,000 rows with all classes of M beside passes over the weights: CPU seconds",
        [*columns, "top_k s", "decision_function / (batches x pass)"],
        beside_a_pass(folder),
        notes="Random weights, one thread. The target is 2 for the last column.",
        needs="PEERS_DATA=data",
        benchmark="predict",
    )
    publish(
        "predict_hrls",
        f"H-RLS after {HALF} rows of S: CPU seconds",
        ["problem", "rows", "predict s", "decision_function s"],
        without_factors(folder),
        needs="PEERS_DATA=data",
        benchmark="predict",
    )


def reading_texts() -> None:
    names = os.environ.get("COLLECTION_NAMES", "news20").split(",")
    rows = [measure(name, Path(os.environ["COLLECTIONS"]) / name) for name in names]
    publish(
        "predict",
        "linnaeus predict beside its vectoriser alone: rows a CPU-second",
        ["collection", "method", "rows", "features", "reading", "predict", "predict / features"],
        rows,
        notes=f"The least of {ROUNDS} rounds. The target is {TARGET} for the last column.",
        needs=f"COLLECTIONS=data COLLECTION_NAMES={','.join(names)}",
    )


def main() -> None:
    if not {"COLLECTIONS", "PEERS_DATA"} & os.environ.keys():
        sys.exit("Set COLLECTIONS to the folder of the collections, or PEERS_DATA to that of S, M.")
    if "PEERS_DATA" in os.environ:
        scoring(Path(os.environ["PEERS_DATA"]))
    if "COLLECTIONS" in os.environ:
        reading_texts()


if __name__ == "__main__":
    main()
