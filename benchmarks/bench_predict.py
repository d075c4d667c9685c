"""Rows a CPU-second of ``linnaeus predict`` beside its vectoriser alone, on the same texts.

The vectoriser has the texts in memory; predict reads the file, makes the features, scores,
decides and writes. Small test parts are repeated, so that loading the model, which comes once,
does not count for rows that come without end. `COLLECTIONS` is the folder of collections,
`COLLECTION_NAMES` chooses (news20). The target is 60 %.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.recording import publish
from linnaeus.io import read_collection, write_jsonl
from linnaeus.model import Model, inputs_of, train
from linnaeus.workflow import predict

ROUNDS = 3
ROWS = 30_000  # at least
TARGET = 0.6


def least(*works: Callable[[], object]) -> list[float]:
    """The least CPU seconds of each piece of work, run in turn."""
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
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


def main() -> None:
    if "COLLECTIONS" not in os.environ:
        sys.exit("Set COLLECTIONS to the folder of the collections.")
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


if __name__ == "__main__":
    main()
