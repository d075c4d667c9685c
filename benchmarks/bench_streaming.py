"""What texts that do not fit in memory cost: CPU time and peak memory, on disk and in memory.

A file of made-up texts (words drawn by Zipf's law) is read and turned into weighted words, each run
in a process of its own: in memory, or with texts and rows on disk within ROOM bytes. On disk the
peak must not grow with the file. STREAMING_MB sets the sizes in MB, STREAMING_DIR the folder.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SIZES = "64,256,1024"
BOTH = 64  # MB up to which all is done in memory too
ROOM = 16 << 20
WORDS, LENGTH, CLASSES = 50_000, 150, 20
MB = 1 << 20


def write_texts(path: Path, size: int, seed: int = 0) -> int:
    """Write at least so many bytes of texts with labels; answer how many rows there are."""
    rng = np.random.default_rng(seed)
    letters = rng.choice(list("abcdefghijklmnopqrstuvwxyz"), (WORDS, 12))
    lengths = rng.integers(3, 12, WORDS)
    words = np.array(["".join(row[:n]) for row, n in zip(letters, lengths, strict=True)], object)
    share = np.cumsum(1 / np.arange(1, WORDS + 1))
    rows = 0
    with path.open("w", encoding="ascii") as file:
        while file.tell() < size:
            drawn = words[np.searchsorted(share, rng.random((1000, LENGTH)) * share[-1])]
            for text in map(" ".join, drawn):
                file.write(f'{{"text": "{text}", "labels": ["c{rows % CLASSES}"]}}\n')
                rows += 1
    return rows


def measure(how: str, file: Path) -> dict[str, Any]:
    """Read a file and weigh its words, in memory or on disk."""
    from benchmarks.bench_memory import resident
    from linnaeus.io import read_collection
    from linnaeus.io.text_files import Room
    from linnaeus.text import TfidfVectorizer

    before, start = resident("VmRSS"), time.process_time()
    vectorizer = TfidfVectorizer(min_df=2)
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        room = Room(ROOM, Path(folder)) if how == "disk" else None
        part = read_collection(file, room=room).part("train")
        if how == "disk":
            X = vectorizer.fit_transform_to(Path(folder, "X"), part.texts or (), ROOM)
        else:
            X = vectorizer.fit_transform(part.texts or ())
        cpu, peak = time.process_time() - start, resident("VmHWM")
        return {
            "rows": X.shape[0], "columns": X.shape[1], "nonzeros": X.nnz, "cpu": cpu,
            "before": before, "peak": peak,
        }  # fmt: skip


def main() -> None:
    from benchmarks.recording import in_fresh_process

    sizes = [int(size) for size in os.environ.get("STREAMING_MB", SIZES).split(",")]
    rows = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("STREAMING_DIR")) as folder:
        file = Path(folder, "texts.jsonl")
        for size in sizes:
            write_texts(file, size * MB)
            for how in ("memory", "disk") if size <= BOTH else ("disk",):
                r = in_fresh_process("benchmarks.bench_streaming", how, str(file))
                rows.append(
                    [f"{size} MB, {'in memory' if how == 'memory' else 'on disk'}", r["rows"],
                     r["nonzeros"], r["cpu"], r["rows"] / r["cpu"], r["before"], r["peak"],
                     (r["peak"] - r["before"]) / size]
                )  # fmt: skip
                print(f"{rows[-1][0]}: peak {r['peak']:,.0f} MB", flush=True)
            _publish(rows)


def _publish(rows: list[list[Any]]) -> None:
    """Write what there is so far: the largest file takes minutes."""
    from benchmarks.recording import publish

    publish(
        "streaming",
        "Reading texts and weighing their words: CPU seconds, and memory in MB",
        ["file", "rows", "nonzeros", "CPU s", "rows a CPU second", "before", "peak",
         "peak above, by the file"],
        rows,
        notes=f"On disk: texts and rows in files, {ROOM // MB} MB of memory for texts and for "
        f"terms. Before: the process with its imports.",
    )  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()
