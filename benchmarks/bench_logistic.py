"""Logistic regression, one against the rest: CPU seconds against scikit-learn's liblinear.

The data are problem S (8,000 texts, 30,000 words, 298 classes): a folder with Xtr.npz and Ytr.npz,
named by the environment variable PEERS_DATA. Constant feature of size one, regularised, in both.
Ours stops at a relative duality gap of 1e-3. liblinear solves 30 classes in the same run, and its
time is extrapolated to all; its gap is that of its gradient, ||g||^2 / 2. The softmax problem
over the same rows is timed for comparison.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from linnaeus.solvers.linear import logistic, mlr

N_CLASSES = 30  # that liblinear solves


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    answer = function()
    return answer, time.process_time() - start


def liblinear(X: sp.csr_array, y: np.ndarray, C: float, tol: float) -> tuple[float, float]:
    """Objective and duality gap of one class."""
    model = LogisticRegression(C=C, solver="liblinear", tol=tol, max_iter=1000).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    z = X @ w + b
    residual = C * (expit(z) - y)
    value = 0.5 * (w @ w + b * b) + C * (np.logaddexp(0, z) - y * z).sum()
    return value, 0.5 * (((w + X.T @ residual) ** 2).sum() + (b + residual.sum()) ** 2)


def main() -> None:
    folder = os.environ.get("PEERS_DATA")
    if not folder:
        print("skipped: set PEERS_DATA to the folder of problem S (Xtr.npz, Ytr.npz)")
        return
    X, Y = (sp.csr_array(sp.load_npz(Path(folder) / f"{n}.npz")) for n in ("Xtr", "Ytr"))
    K = Y.shape[1]
    chosen = np.linspace(0, K - 1, N_CLASSES).astype(int)
    for solve, target in ((logistic.solve, (Y[:50],)), (mlr.solve, (Y.indices[:50], K))):
        solve(X[:50], *target, bias=1.0)  # compile before the clock starts
    print(f"{X.shape[0]:,} x {X.shape[1]:,}, {K} classes; CPU seconds for all classes, gap")
    for C in (1.0, 10.0):
        ours, seconds = timed(lambda C=C: logistic.solve(X, Y, C=C, bias=1.0))
        print(f"C={C:<4} ours {seconds:17.2f} s {ours.gap:8.1e}  {ours.n_iter} passes", flush=True)
        for tol in (1e-1, 1e-2):
            results, theirs = timed(
                lambda C=C, tol=tol: [
                    liblinear(X, Y[:, [k]].toarray().ravel(), C, tol) for k in chosen
                ]
            )
            P, gap = np.sum(results, axis=0)
            all_classes = theirs * K / N_CLASSES
            print(
                f"       liblinear {tol:6.0e} {all_classes:5.1f} s {gap / P:8.1e}  "
                f"{all_classes / seconds:.0f} times ours", flush=True,
            )  # fmt: skip
        joint, seconds = timed(lambda C=C: mlr.solve(X, Y.indices, K, C=C, bias=1.0))
        print(f"       softmax {seconds:14.2f} s {joint.gap:8.1e}  {joint.n_iter} passes")


if __name__ == "__main__":
    main()
