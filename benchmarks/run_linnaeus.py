"""Our models among the peers: ``run_linnaeus.py S|M [variant]``, like their ``run_<peer>.py``.

PEERS names the folder of the peers' scripts: loading, clock, common cut and report are those of its
``common.py``. Variants: flat (the default), flat-c3 (a larger C), pruned, logistic, topdown,
recursive and, for one label a row, crammer and softmax. The loops are compiled on a few rows before
the clock starts, as those of the peers were when they were installed.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

sys.path.insert(0, os.environ.get("PEERS", "."))

import numpy as np
import scipy.sparse as sp
from common import data, evaluate, report, timed

import linnaeus

TOP = 20
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "flat": ("FlatSVM", {"n_jobs": 2}),
    "flat-c3": ("FlatSVM", {"n_jobs": 2, "C": 3.0}),
    "pruned": ("FlatSVM", {"n_jobs": 2, "prune": 0.01}),
    "logistic": ("FlatLogistic", {"n_jobs": 2}),
    "topdown": ("TopDown", {"n_jobs": 2, "C": 10.0, "decode": "beam", "tol": 3e-2}),
    "recursive": ("RecursiveSVM", {"n_jobs": 2, "loss": "squared_hinge", "tol": 1e-2}),
    "crammer": ("MulticlassSVM", {}),
    "softmax": ("MulticlassLogistic", {}),
}


def labels(Y: sp.csr_matrix, leaves: np.ndarray, taxonomy: linnaeus.Taxonomy) -> Any:
    """Names where every row has one label, else an indicator over the nodes."""
    if (np.diff(Y.indptr) == 1).all():
        return leaves[Y.indices]
    column = taxonomy.numbers(leaves.tolist())[Y.indices]
    shape = (Y.shape[0], len(taxonomy))
    return sp.csr_array((np.ones(column.size, np.int8), column, Y.indptr), shape=shape)


def main(name: str, variant: str = "flat") -> None:
    warnings.simplefilter("ignore")
    z = data(name)
    X, X_test = (sp.csr_array(z[part], dtype=np.float32) for part in ("Xtr", "Xte"))
    above = z["parents"].tolist()  # node 0 is an artificial top
    taxonomy = linnaeus.Taxonomy.from_edges([(above[v] or None, v) for v in range(1, len(above))])
    y = labels(z["Ytr"], z["leaves"], taxonomy)
    kind, options = VARIANTS[variant]
    model = getattr(linnaeus, kind)(taxonomy, dtype="float32", random_state=0, **options)
    model.fit(X[:300], y[:300]).top_k(X_test[:10], TOP)  # compile
    with timed() as fit:
        model.fit(X, y)
    with timed() as predict:
        best, scores = model.top_k(X_test, TOP)
    column = np.full(len(above), -1)  # by node, as the peers number their labels
    column[z["leaves"]] = np.arange(z["leaves"].size)
    found = column[np.asarray(model.classes_, dtype=int)[best]]
    quality = evaluate(z, None, (found, scores))
    report("linnaeus", name, variant, fit, predict, quality, gap=model.gap_)


if __name__ == "__main__":
    main(*sys.argv[1:])
