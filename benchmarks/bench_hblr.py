"""Hierarchical Bayesian logistic regression beside Tables VI and VII of [GopalYang2015].

ImCLEF07A (its CLEF): M1, M2 and M3 by partial MAP, variationally and flat, and CorrelatedMNL;
news20 and lshtc-small-val: by partial MAP. Hyper-parameters are Fisher information's, from the
training part. Features are standardised by the training part, or TF-IDF. Standard errors are of a
bootstrap over test rows. COLLECTIONS names the folder of collections; COLLECTION_NAMES, KINDS (map,
variational, flat, corrmnl) and DRAWS (kept draws of each chain of CorrelatedMNL) choose.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.bench_real import HERE
from benchmarks.recording import publish
from linnaeus import HBLR, CorrelatedMNL
from linnaeus.experiments import f1_spread
from linnaeus.metrics import calibration, evaluate
from linnaeus.metrics.inputs import label_pair
from linnaeus.reproduction.figures_gopal import BAYES, NAMES
from linnaeus.reproduction.gopal_data import load

MODELS = ("M1", "M2", "M3")
COLUMNS = ("model", "micro F1", "+-", "paper", "macro F1", "+-", "paper", "calibration", "rounds",
           "CPU s")  # fmt: skip


def methods(name: str, taxonomy: Any) -> dict[str, Any]:
    """The models to fit on a collection, by the paper's names."""
    kinds = "map" if name != "ImCLEF07A" else "map,flat,variational,corrmnl"
    out: dict[str, Any] = {}
    for kind in os.environ.get("KINDS", kinds).split(","):
        if kind == "corrmnl":
            draws = int(os.environ.get("DRAWS", "1500"))
            out["corrMNL"] = CorrelatedMNL(
                taxonomy, n_burn_in=max(draws // 2, 150), n_samples=draws, n_jobs=2, random_state=0
            )
            continue
        tol = 1e-2 if kind == "variational" else 1e-4
        for model in MODELS:
            short = "var" if kind == "variational" else kind
            out[f"{model}-{short}"] = HBLR(taxonomy, model, kind, tol=tol, n_jobs=2, random_state=0)
    return out


def measure(root: Path, name: str) -> None:
    taxonomy, X, y, X_test, truth = load(root, name)
    rows: list[list[Any]] = []
    for kind, model in methods(name, taxonomy).items():
        began = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - began
        predicted = [[label] for label in model.predict(X_test)]
        report = evaluate(taxonomy, truth, predicted)
        spread = f1_spread(label_pair(truth, predicted, taxonomy))
        sure = calibration(truth, model.predict_proba(X_test), taxonomy, classes=model.classes_)
        paper = BAYES.get(NAMES.get(name, ""), {}).get(kind, ("", ""))
        rounds = getattr(model, "n_iter_", getattr(model, "n_samples", None))
        rows.append([
            kind, 100 * report["micro_f1"], 100 * spread.micro_f1, paper[0],
            100 * report["macro_f1"], 100 * spread.macro_f1, paper[1],
            sure.expected_calibration_error, rounds, seconds,
        ])  # fmt: skip
        publish(
            f"hblr_{name}",
            f"Hierarchical Bayesian logistic regression on {name}",
            COLUMNS,
            rows,
            notes="F1 in %, +- one standard error of a bootstrap over test rows; calibration: the "
            "expected error of plug-in probabilities.",
            needs=f"COLLECTION_NAMES={name}",
            benchmark="hblr",
        )


def main() -> None:
    warnings.simplefilter("ignore")
    root = Path(os.environ.get("COLLECTIONS", HERE.parent.parent / "shared" / "data"))
    if not root.is_dir():
        print(f"There is no folder {root}: nothing to measure.", file=sys.stderr)
        return
    for name in os.environ.get("COLLECTION_NAMES", "ImCLEF07A,news20,lshtc-small-val").split(","):
        measure(root, name)


if __name__ == "__main__":
    main()
