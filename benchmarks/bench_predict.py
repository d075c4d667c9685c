"""Rows a CPU-second of ``linnaeus predict`` beside its vectoriser alone, on the same texts.

The vectoriser has the texts in memory; predict reads the file, makes the features, scores,
decides and writes. `COLLECTIONS` is the folder of collections, `COLLECTION_NAMES` chooses (news20).
The target is 60 %.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.recording import record
from linnaeus.io import read_collection
from linnaeus.model import Model, inputs_of, train
from linnaeus.workflow import predict

ROUNDS = 5
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


def measure(name: str, folder: Path) -> dict[str, float | str]:
    data = read_collection(folder, parts=["train", "test"])
    model: Model = train(data.part("train"), data.taxonomy)
    inputs, n = inputs_of(data.part("test")), len(data.part("test"))
    with tempfile.TemporaryDirectory() as place:
        model.save(f"{place}/model")
        target = f"{place}/out.jsonl"
        features, read, whole = least(
            lambda: model.features.transform(inputs),
            lambda: read_collection(folder, taxonomy=data.taxonomy, parts=["test"]),
            lambda: predict(f"{place}/model", folder, target),
        )
    return {
        "collection": name, "method": model.about["method"], "rows": n,
        "features_rows_per_second": n / features, "read_rows_per_second": n / read,
        "predict_rows_per_second": n / whole, "share": features / whole,
    }  # fmt: skip


def main() -> None:
    if "COLLECTIONS" not in os.environ:
        sys.exit("Set COLLECTIONS to the folder of the collections.")
    names = os.environ.get("COLLECTION_NAMES", "news20").split(",")
    rows = [measure(name, Path(os.environ["COLLECTIONS"]) / name) for name in names]
    for row in rows:
        print(
            f"{row['collection']} ({row['method']}): {row['rows']:,} rows; a CPU-second: features "
            f"{row['features_rows_per_second']:,.0f}, reading {row['read_rows_per_second']:,.0f}, "
            f"predict {row['predict_rows_per_second']:,.0f}: {row['share']:.0%} of the features"
        )
    record("predict", {"target": TARGET, "rows": rows})


if __name__ == "__main__":
    main()
