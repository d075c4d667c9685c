"""HBLR's priors from the data on texts, beside logistic regressions of single classes (BLR).

On parts of collections; BLR at several C, of which the best on the test rows is shown: what the
others have to reach without tuning. Looks for the folder ``shared/data`` beside the checkout, or
the one that COLLECTIONS names.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.recording import collections, publish
from linnaeus import HBLR, FlatLogistic
from linnaeus.metrics import evaluate
from studies.gopal_data import load

PARTS = {"clinc150": 2000, "news20": 3000, "rcv1-30k-closed": 2000, "lshtc-small-val": 1860}
CS = (1.0, 10.0, 100.0, 1000.0)
WAYS = [(prior, pool) for prior in ("fisher", "blr") for pool in ("sum", "information")]
TESTS = 2000


def rows_of(name: str) -> list[list[Any]]:
    """F1 of BLR and of HBLR with every prior, and the precisions that it learns."""
    given = load(collections(), name)
    tests = np.random.default_rng(1).permutation(len(given.truth))[:TESTS]
    rows = np.random.default_rng(0).permutation(given.X.shape[0])[: PARTS[name]]
    one = isinstance(given.y, np.ndarray)
    y = given.y[rows] if one else [given.y[i] for i in rows]
    X, X_test = sp.csr_array(given.X)[rows], sp.csr_array(given.X_test)[tests]

    def f1(model: Any) -> tuple[float, float]:
        answers = [[v] for v in model.predict(X_test)] if one else model.predict(X_test)
        found = evaluate([given.truth[i] for i in tests], answers, given.taxonomy)
        return found["micro_f1"], found["macro_f1"]

    scores = {C: f1(FlatLogistic(given.taxonomy, C=C, fit_intercept=False, random_state=0)
                    .fit(X, y)) for C in CS}  # fmt: skip
    best = max(CS, key=lambda C: scores[C])
    out: list[list[Any]] = [[f"{name}, BLR, best C = {best:g}", *scores[best], None, None]]
    for prior, pool in WAYS:
        link = "softmax" if one else "binary"
        model = HBLR(
            given.taxonomy, link=link, prior=prior, pool=pool, fit_intercept=False, random_state=0
        ).fit(X, y)
        learned = np.array(list(model.precision_.values()))
        span = float(np.median(learned)), float(learned.max())
        out.append([f"{name}, HBLR, {prior}, {pool}", *f1(model), *span])
        print(out[-1], flush=True)
    return out


def main() -> None:
    warnings.simplefilter("ignore")
    root = collections()
    names = [v for v in PARTS if root is not None and (root / v.removesuffix("-closed")).is_dir()]
    if not names:
        print(f"skipped: needs {', '.join(PARTS)}")
        return
    publish(
        "hblr_priors",
        "HBLR's priors from the data, beside logistic regressions of single classes",
        ["fit", "micro F1", "macro F1", "median precision", "largest"],
        [row for name in names for row in rows_of(name)],
        notes="Training rows: " + ", ".join(f"{v} {PARTS[v]:,}" for v in names)
        + f"; {TESTS:,} random test rows at most; no intercepts. The C of BLR is the best on the "
        "test rows; HBLR has nothing that was tuned.",
    )  # fmt: skip


if __name__ == "__main__":
    main()
