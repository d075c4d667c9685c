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

import linnaeus
from linnaeus.experiments import c_path
from linnaeus.files import atomic_write
from linnaeus.metrics import evaluate
from linnaeus.reproduction.gopal_data import load

HERE = Path(__file__).resolve().parent
MODELS = (
    "FlatSVM", "FlatLogistic", "MulticlassSVM", "MulticlassLogistic", "TopDown", "RecursiveSVM",
    "RecursiveLogistic",
)  # fmt: skip
NAMES = ("ImCLEF07A", "news20", "rcv1-30k", "lshtc-small-val")
CS = (0.01, 0.1, 1.0, 10.0)
DENSE_CS = (0.01, 0.03, 0.1, 0.3, 1.0)  # larger ones lose, and are slow on few features


def run(root: Path, name: str, records: dict) -> None:
    tax, X, y, X_test, truth = load(root, name)
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
        run(root, name, {})


if __name__ == "__main__":
    main()
