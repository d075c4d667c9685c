"""What HBLR says of its uncertainty, beside long chains and beside a bootstrap.

Chains: problems of up to 20 classes and 50 features; `CorrelatedMNL` samples the posterior of M1 at
the same, fixed precisions, and its mean probabilities are the truth. Bootstrap: HBLR with default
settings on a part of a collection; deviations are compared with those of fits to rows drawn again.
Looks for the folder ``shared/data`` beside the checkout, or the one that COLLECTIONS names.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import spearmanr

from benchmarks.recording import collections, publish
from linnaeus import HBLR, CorrelatedMNL, Taxonomy
from linnaeus.inference import predictive
from linnaeus.metrics import calibration
from studies.gopal_data import INTERCEPTS, load

PROBLEMS = ((4, 3, 40, 1.0), (8, 10, 150, 0.5), (12, 50, 200, 3.0), (20, 20, 300, 1.0))
PARTS = {"ImCLEF07A": (2000, 10), "clinc150": (2000, 10), "news20": (1500, 10)}  # rows, refits
TESTS = 600
LEAST = 0.01  # probability from which a deviation counts
METHODS = ("plugin", "probit", "joint", "monte_carlo")


def problem(K: int, d: int, n: int, seed: int) -> Any:
    """Families of classes around common centres, some of them rare."""
    rng = np.random.default_rng(seed)
    F = max(2, K // 4)
    names = np.array([f"c{k:02d}" for k in range(K)])
    tax = Taxonomy.from_edges(
        [("r", f"F{f}") for f in range(F)] + [(f"F{k % F}", v) for k, v in enumerate(names)]
    )
    centre = 3 * (rng.normal(size=(F, d))[np.arange(K) % F] + rng.normal(size=(K, d))) / np.sqrt(d)
    share = rng.dirichlet(np.full(K, 2.0))
    t = rng.choice(K, n + 300, p=share)
    t[:K] = np.arange(K)
    X = centre[t] + rng.normal(size=(n + 300, d))
    return tax, X[:n], names[t[:n]], X[n:]


def chains(K: int, d: int, n: int, precision: float) -> list[Any]:
    """Distances of probabilities from those of chains, and of deviations."""
    tax, X, y, X_test = problem(K, d, n, K)
    sure = 1e6
    sampler = CorrelatedMNL(
        tax, a=sure * precision, b=sure, n_samples=3000, n_burn_in=1000, random_state=0
    ).fit(X, y)
    truth, error = sampler.predict_proba(X_test, return_error=True)
    model = HBLR(tax, "M1", prior=(sure**2 * precision, sure**2), random_state=0).fit(X, y)
    away = [
        0.5 * np.abs(model.predict_proba(X_test, method=m) - truth).sum(axis=1).mean()
        for m in METHODS
    ]
    # what "probit" was: every score for itself, by the curvature at the mode
    mean, wide = (part[:, tax.leaf_numbers] for part in model.score_moments(X_test))
    old = predictive.probabilities(mean, wide, "softmax", "probit")[0]
    rhat = max(
        float(np.nanmax(v)) for v in (sampler.rhat_["coef"], sampler.rhat_["log_likelihood"])
    )
    literal = 0.5 * np.abs(old - truth).sum(axis=1).mean()
    return [f"{K} classes x {d}, {n} rows, precision {precision:g}", rhat, float(error.max()),
            literal, *map(float, away)]  # fmt: skip


def bootstrap(name: str, n: int, refits: int) -> list[list[Any]]:
    """Quality of every method, and deviations beside those of fits to rows drawn again."""
    given = load(collections(), name)
    rows = np.random.default_rng(0).permutation(len(given.y))[:n]
    X, y = sp.csr_array(given.X)[rows], given.y[rows]
    truth = np.array([row[0] for row in given.truth])
    known = np.flatnonzero(np.isin(truth, y))
    kept = np.random.default_rng(1).permutation(known)[:TESTS]
    X_test, truth = sp.csr_array(given.X_test)[kept], truth[kept]
    out = []
    for link in ("softmax", "binary"):
        model = HBLR(given.taxonomy, link=link, random_state=0, **INTERCEPTS.get(name, {}))
        model.fit(X, y)
        found = {
            m: model.predict_proba(X_test, method=m, return_std=True, n_draws=300) for m in METHODS
        }
        spread, mean = _drawn_again(model, X, y, X_test, refits)
        counts = np.maximum(found["plugin"][0], mean) > LEAST
        for m, (p, deviation) in found.items():
            top = calibration(truth, p, classes=model.classes_, top=True)
            hits = np.mean(model.classes_[p.argmax(axis=1)] == truth)
            ratio = float(np.median(deviation[counts] / np.maximum(spread[counts], 1e-12)))
            rank = float(spearmanr(deviation[counts], spread[counts])[0])
            out.append([f"{name}, {link}, {m}", float(hits), top.log_loss,
                        top.top_calibration_error, ratio, rank])  # fmt: skip
            print(out[-1], flush=True)
    return out


def _drawn_again(model: Any, X: Any, y: Any, X_test: Any, refits: int) -> tuple[Any, Any]:
    """Deviation and mean of the probabilities of fits to rows drawn with replacement."""
    place = {v: j for j, v in enumerate(model.classes_)}
    P = np.zeros((refits, X_test.shape[0], len(place)))
    for k in range(refits):
        r = np.random.default_rng(100 + k).integers(0, len(y), len(y))
        fit = type(model)(**model.get_params()).fit(X[r], y[r])
        known = [(j, place[v]) for j, v in enumerate(fit.classes_) if v in place]
        own, at = map(list, zip(*known, strict=True))
        P[k][:, at] = fit.predict_proba(X_test)[:, own]
    return P.std(axis=0, ddof=1), P.mean(axis=0)


def main() -> None:
    warnings.simplefilter("ignore")
    publish(
        "hblr_chains",
        "Probabilities of HBLR beside those of long Hamiltonian chains",
        ["problem", "R-hat", "Monte Carlo error", "score by score", *METHODS],
        [chains(*p) for p in PROBLEMS],
        benchmark="hblr_uncertainty",
        notes="Half the sum of the absolute differences of probabilities, a mean over 300 rows; at "
        "fixed precisions. 'score by score': every score scaled for itself by the curvature at "
        "the mode, what 'probit' is where that curvature can be trusted.",
    )
    root = collections()
    names = [name for name in PARTS if root is not None and (root / name).is_dir()]
    if names:
        publish(
            "hblr_bootstrap",
            "Uncertainty of HBLR beside a bootstrap",
            ["collection, link, method", "accuracy", "log loss", "top-label calibration error",
             "deviation / bootstrap's", "rank correlation"],
            [row for name in names for row in bootstrap(name, *PARTS[name])],
            benchmark="hblr_uncertainty",
            notes="Parts of the collections: "
            + ", ".join(f"{v} {PARTS[v][0]:,} rows and {PARTS[v][1]} refits" for v in names)
            + f"; {TESTS} random test rows at most. Ratios are medians over classes with a "
            f"probability above {LEAST}.",
        )  # fmt: skip


if __name__ == "__main__":
    main()
