"""Small collections that are learnt in no time: texts and tables over a tree and a DAG."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from linnaeus import Taxonomy
from linnaeus.io.collection import Part

TREE = Taxonomy.from_edges(
    [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "rose")]
)
DAG = Taxonomy.from_edges(
    [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "rose"), ("pet", "cat")]
)
WORDS = {
    "cat": ["purr", "mew", "whisker"],
    "dog": ["bark", "wag", "fetch"],
    "oak": ["acorn", "timber", "bough"],
    "rose": ["thorn", "petal", "scent"],
}
COLUMNS = sorted(word for words in WORDS.values() for word in words)


def stories(n=60, several=True, seed=0, labels=None):
    """A part of n texts: each label brings its words; with `several` 0 to 2 labels a row."""
    rng = np.random.default_rng(seed)
    drawn, texts = [], []
    for _ in range(n):
        k = rng.choice([0, 1, 1, 2]) if several else 1
        drawn.append(sorted(rng.choice(sorted(WORDS), k, replace=False).tolist()))
        words = [word for label in drawn[-1] for word in WORDS[label]] + ["the"]
        texts.append(" ".join(rng.choice(words, 8)))
    names = drawn if labels is None else [labels(row) for row in drawn]
    return Part(names, [f"r{i}" for i in range(n)], texts=texts)


def table(part: Part, seed=0) -> Part:
    """The same rows as counts of words, a little blurred."""
    rng = np.random.default_rng(seed)
    counts = [[text.split().count(word) for word in COLUMNS] for text in part.texts]
    X = np.array(counts) + 0.1 * rng.random((len(part), len(COLUMNS)))
    return Part(part.labels, part.ids, X=X, feature_names=COLUMNS)


def write_jsonl(part: Part, path: Path) -> None:
    rows = zip(part.ids, part.texts, part.labels, strict=True)
    lines = [json.dumps({"id": i, "text": text, "labels": labels}) for i, text, labels in rows]
    path.write_text("".join(f"{line}\n" for line in lines))


def write_csv(part: Part, path: Path, label_column: str = "labels") -> None:
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", *part.feature_names, label_column])
        for name, x, labels in zip(part.ids, part.X.tolist(), part.labels, strict=True):
            writer.writerow([name, *x, "|".join(labels)])


def write_folder(path: Path, several=True, kind="texts", taxonomy=TREE) -> Path:
    """A folder with a taxonomy, 60 training rows and 20 test rows."""
    path.mkdir()
    taxonomy.write(path / "taxonomy.tsv")
    for name, n, seed in (("train", 60, 0), ("test", 20, 1)):
        part = stories(n, several, seed)
        if kind == "texts":
            write_jsonl(part, path / f"{name}.jsonl")
        else:
            write_csv(table(part), path / f"{name}.csv")
    return path
