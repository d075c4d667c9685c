"""Every linear estimator on real collections, C chosen by cross-validation on the training part.

Looks for the folder ``shared/data`` beside the checkout, or the one that COLLECTIONS names. Results
go to ``benchmarks/results/real.json``, one record a model and collection, with the command. The
variables COLLECTION_NAMES and MODELS, with commas, choose some of them.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

import linnaeus
from linnaeus.files import atomic_write
from linnaeus.io import read_collection
from linnaeus.metrics import evaluate
from linnaeus.text import TfidfVectorizer
from linnaeus.tuning import c_path

HERE = Path(__file__).resolve().parent
MODELS = (
    "FlatSVM", "FlatLogistic", "MulticlassSVM", "MulticlassLogistic", "TopDown", "RecursiveSVM",
    "RecursiveLogistic",
)  # fmt: skip
NAMES = ("ImCLEF07A", "news20", "rcv1-30k", "lshtc-small-val")
CS = (0.01, 0.1, 1.0, 10.0)
DENSE_CS = (0.01, 0.03, 0.1, 0.3, 1.0)  # larger ones lose, and are slow on few features


def load(folder: Path):
    """Features of both parts, and labels: names where every row has one, else indicators."""
    files = {}
    if folder.name == "ImCLEF07A":
        files = {"train": "train.csv.gz", "test": "test.csv.gz"}
    if folder.name == "lshtc-small-val":
        files = {"taxonomy": "taxonomy_collapsed.tsv"}
    data = read_collection(folder, **files)
    tax, train, test = data.taxonomy, data.part("train"), data.part("test")
    if train.texts is not None:
        words = TfidfVectorizer(min_df=2, sublinear_tf=True)
        X, X_test = words.fit_transform(train.texts), words.transform(test.texts)
    elif folder.name == "lshtc-small-val":  # raw counts of words
        weights = TfidfTransformer(sublinear_tf=True).fit(train.X)
        X, X_test = weights.transform(train.X), weights.transform(test.X)
        seen = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))  # 2 % of the numbers
        X, X_test = X[:, seen], X_test[:, seen]
    elif sp.issparse(train.X):
        X, X_test = train.X, test.X
    else:
        mean, deviation = train.X.mean(axis=0), train.X.std(axis=0, ddof=1)
        X, X_test = (train.X - mean) / deviation, (test.X - mean) / deviation
    own = [tax.decode(tax.most_specific(data.Y(part))) for part in ("train", "test")]
    if all(len(row) == 1 for row in own[0]):
        return tax, X, np.array([row[0] for row in own[0]]), X_test, own[1]
    return tax, X, data.Y("train"), X_test, own[1]


def run(name: str, folder: Path, records: dict) -> None:
    tax, X, y, X_test, truth = load(folder)
    Cs = CS if sp.issparse(X) else DENSE_CS
    for model_name in os.environ.get("MODELS", ",".join(MODELS)).split(","):
        model = getattr(linnaeus, model_name)(tax, random_state=0, n_jobs=2)
        if sp.issparse(y) and not model.__sklearn_tags__().classifier_tags.multi_label:
            continue
        start = time.process_time()
        path = c_path(model, X, y, Cs, cv=3)
        predicted = path.estimator.predict(X_test)
        sets = [[v] for v in predicted] if isinstance(y, np.ndarray) else predicted
        report = evaluate(tax, truth, sets)
        values = {key: report[key] for key in ("micro_f1", "macro_f1", "hierarchical_f1")}
        record = {"C": path.best_C, "Cs": Cs, **values, "gap": path.estimator.gap_}
        record["cpu_seconds"] = time.process_time() - start
        records[model_name] = record
        shown = " ".join(f"{value:9.4f}" for value in values.values())
        seconds = record["cpu_seconds"]
        save(records, name)
        print(f"{name:16} {model_name:20} C {path.best_C:6g} {shown} {seconds:8.1f} s", flush=True)


def save(records: dict, name: str) -> None:
    """Put the records of a collection beside what is stored already."""
    path = HERE / "results" / "real.json"
    path.parent.mkdir(exist_ok=True)
    stored = json.loads(path.read_text()) if path.exists() else {"results": {}}
    stored["command"] = "python -m benchmarks real"
    stored["results"][name] = {**stored["results"].get(name, {}), **records}
    with atomic_write(path) as handle:
        json.dump(stored, handle, indent=1)


def main() -> None:
    warnings.simplefilter("ignore")
    root = Path(os.environ.get("COLLECTIONS", HERE.parent.parent / "shared" / "data"))
    if not root.is_dir():
        print(f"There is no folder {root}: nothing to measure.", file=sys.stderr)
        return
    print(
        f"{'collection':16} {'model':20} {'':8} {'micro F1':>9} {'macro F1':>9} {'hier. F1':>9} CPU"
    )
    for name in os.environ.get("COLLECTION_NAMES", ",".join(NAMES)).split(","):
        run(name, root / name, {})


if __name__ == "__main__":
    main()
