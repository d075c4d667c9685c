"""Variational inference of HBLR beside a plain transcription of its updates.

The transcription is what one writes down from the paper: leaf by leaf `X' diag X`, `inv` and
`(X Psi * X).sum`, whole arrays for everything else. Both make the same sweeps (model M3, softmax,
full covariances) on ImCLEF07A and must end at the same bounds. Each runs in a process of its own
for every number of threads; for ours that is two threads over blocks with one thread of linear
algebra each, for the transcription two threads of linear algebra.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, psi

SWEEPS, REPEATS = 10, 2


def problem() -> tuple[Any, ...]:
    """Examples with a constant, the leaf of each, parents below a root, leaves."""
    from benchmarks.recording import collections
    from studies import gopal_data

    found = gopal_data.load(collections(), "ImCLEF07A")
    taxonomy, Y = found.taxonomy, found.taxonomy.encode([[own] for own in found.y])
    X = np.hstack([found.X, np.ones((found.X.shape[0], 1))])
    above = taxonomy.tree[0]
    parent = np.append(np.where(above < 0, above.size, above), -1)
    leaves = taxonomy.leaf_numbers
    return X, sp.csr_array(Y[:, leaves], dtype=np.float64), parent, leaves


def ours(data: tuple[Any, ...], n_threads: int) -> list[float]:
    from linnaeus.execution import executor
    from linnaeus.solvers.bayes import hblr_model, hblr_variational

    X, Y, parent, leaves = data
    model = hblr_model.model_of(hblr_model.tree_of(parent, leaves), "M3")
    ones = np.ones((model.owners.size, 1))
    return hblr_variational.solve(
        X, Y, model, hblr_model.Gamma(ones, ones), tol=-1.0, max_iter=SWEEPS,
        executor=executor(n_threads),
    ).bounds  # fmt: skip


def transcription(data: tuple[Any, ...], n_threads: int) -> list[float]:
    X, Y, parent, leaves = data
    Y = Y.toarray()
    n, d = X.shape
    K, n_nodes, root = leaves.size, parent.size, parent.size - 1
    inner = [v for v in range(n_nodes) if v not in set(leaves)]
    children = {v: np.flatnonzero(parent == v) for v in inner}
    depth = np.array([_depth(parent, v) for v in range(n_nodes)])
    edges = np.arange(n_nodes) != root
    a = b = 1.0
    mu, variance = np.zeros((n_nodes, d)), np.ones((n_nodes, d))
    Psi, logdet = [np.eye(d)] * K, np.zeros(K)
    tau, nu = a, np.full(n_nodes, b)
    beta, bounds = np.zeros(n), []
    for sweep in range(SWEEPS + 1):
        if sweep:
            A = np.where(edges, tau / nu, 1.0)
            for k, v in enumerate(leaves):
                H = 2.0 * X.T @ (lam[:, k, None] * X) + A[v] * np.eye(d)  # noqa: F821
                Psi[k] = np.linalg.inv(H)
                pull = X.T @ (Y[:, k] - 0.5 + 2.0 * lam[:, k] * beta)  # noqa: F821
                mu[v] = Psi[k] @ (pull + A[v] * mu[parent[v]])
                variance[v] = np.diag(Psi[k])
                logdet[k] = np.linalg.slogdet(Psi[k])[1]
            for v in sorted(inner, key=lambda v: -depth[v]):
                precision = A[v] + A[children[v]].sum()
                above = A[v] * mu[parent[v]] if v != root else 0.0
                mu[v] = (above + A[children[v]] @ mu[children[v]]) / precision
                variance[v] = 1.0 / precision
            Q = (variance + variance[parent] + (mu - mu[parent]) ** 2).sum(axis=1)
            tau, nu = a + 0.5 * d, np.where(edges, b + 0.5 * Q, b)
        m = X @ mu[leaves].T
        s = np.stack([((X @ P) * X).sum(axis=1) for P in Psi], axis=1)
        xi = np.sqrt((m - beta[:, None]) ** 2 + s)
        lam = np.tanh(xi / 2) / (4 * xi)
        beta = (0.5 * (K / 2 - 1) + (lam * m).sum(axis=1)) / lam.sum(axis=1)
        xi = np.sqrt((m - beta[:, None]) ** 2 + s)
        lam = np.tanh(xi / 2) / (4 * xi)
        z = m - beta[:, None]
        B = (z - xi) / 2 + lam * (z**2 + s - xi**2) + np.logaddexp(0.0, xi)
        value = (Y * m).sum() - B.sum() - beta.sum()
        Q = (variance + variance[parent] + (mu - mu[parent]) ** 2).sum(axis=1)
        mean_log = psi(tau) - np.log(nu)
        value += 0.5 * (d * mean_log - tau / nu * Q)[edges].sum()
        value -= 0.5 * (variance[root].sum() + mu[root] @ mu[root])
        value += 0.5 * (n_nodes * d + logdet.sum() + np.log(variance[inner]).sum())
        gamma = a * np.log(b) - gammaln(a) + (a - 1) * mean_log - b * tau / nu
        gamma += tau - np.log(nu) + gammaln(tau) + (1 - tau) * psi(tau)
        bounds.append(float(value + gamma[edges].sum()))
    return bounds


def _depth(parent: Any, v: int) -> int:
    return 0 if parent[v] < 0 else 1 + _depth(parent, parent[v])


def measure(what: str, n_threads: int) -> dict[str, Any]:
    """The least seconds of several runs, and the bounds."""
    run = {"ours": ours, "transcription": transcription}[what]
    data = problem()
    cpu = wall = np.inf
    bounds: list[float] = []
    for _ in range(REPEATS):
        start = time.process_time(), time.perf_counter()
        bounds = run(data, n_threads)
        cpu = min(cpu, time.process_time() - start[0])
        wall = min(wall, time.perf_counter() - start[1])
    return {"cpu": cpu, "wall": wall, "bounds": bounds}


def main() -> None:
    from benchmarks.recording import collections, in_fresh_process, publish

    where = collections()
    if where is None or not (where / "ImCLEF07A").is_dir():
        print("skipped: there is no collection ImCLEF07A; set COLLECTIONS to the folder of it")
        return
    rows = []
    for n_threads in (1, 2):
        count = str(n_threads)
        r = {
            what: in_fresh_process(
                "benchmarks.bench_hblr_variational", what, count, OPENBLAS_NUM_THREADS=count
            )
            for what in ("transcription", "ours")
        }
        plain, mine = r["transcription"], r["ours"]
        np.testing.assert_allclose(mine["bounds"], plain["bounds"], rtol=1e-8)
        for what, times in r.items():
            rows.append([f"{what}, {count} thread(s)", times["cpu"] / SWEEPS,
                         times["wall"] / SWEEPS, plain["cpu"] / times["cpu"],
                         plain["wall"] / times["wall"], times["bounds"][-1]])  # fmt: skip
    publish(
        "variational",
        "Variational HBLR beside a plain transcription: ImCLEF07A, M3, softmax, full covariances",
        ["what", "CPU s a sweep", "wall s a sweep", "CPU ratio", "wall ratio", "bound"],
        rows,
        notes=f"{SWEEPS} sweeps and the start, the least of {REPEATS} runs; ratios are to the "
        "transcription with as many threads. All bounds agree to 1e-8 of their size.",
    )


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
    else:
        main()
