"""Made-up comparisons: label sets with known mistakes, judged as those of real methods are."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from linnaeus import Taxonomy
from linnaeus.experiments import Comparison, MethodResult, Setting
from linnaeus.experiments.cost import PEAK, Cost
from linnaeus.experiments.method_result import Answers, judge
from linnaeus.io.collection import Part
from linnaeus.metrics.baseline import Frequencies, baseline

NASTY = "<script>alert('x')</script> & \"co\""


def small_taxonomy() -> Taxonomy:
    """Two roots, six leaves, a title that would be mark-up."""
    edges = [
        ("a", "a1"),
        ("a", "a2"),
        ("a1", "x"),
        ("a1", "y"),
        ("a2", "z"),
        ("b", "u"),
        ("b", "v"),
    ]
    return Taxonomy.from_edges([*edges, ("b", "w")], titles={"x": NASTY, "y": "Why?"})


def noisy(taxonomy, Y, wrong, rng):
    """The same label sets, a share of the rows with another leaf."""
    sets = taxonomy.decode(Y)
    for i in np.flatnonzero(rng.random(len(sets)) < wrong):
        sets[i] = [taxonomy.leaves[rng.integers(len(taxonomy.leaves))]]
    return taxonomy.closure(taxonomy.encode(sets))


def answers_of(taxonomy, rows, sets, seconds=0.5, probabilities=True, gap=1e-4):
    """As if a model had given these closed sets, with scores that agree with them."""
    leaves = taxonomy.leaf_numbers
    scores = 2.0 * sets[:, leaves].toarray() - 1.0
    P = 0.1 + 0.8 * sets[:, leaves].toarray() if probabilities else None
    cost = Cost(2 * seconds, seconds, 1e6 * seconds, PEAK)
    return Answers(
        np.asarray(rows), sp.csr_array(sets), scores, taxonomy.leaves, P, False, 0.01, cost,
        "argmax", "every row has one label", gap, 12_345, 0.5 + 0.4 * (scores.argmax(axis=1) % 2),
    )  # fmt: skip


def made_up(n=120, folds=0, noise=None, seed=0, texts=True, taxonomy=None) -> Comparison:
    """A comparison between methods that get a share of the rows wrong; one has no result."""
    rng = np.random.default_rng(seed)
    tax = small_taxonomy() if taxonomy is None else taxonomy
    labels = [[tax.leaves[j]] for j in rng.integers(0, len(tax.leaves), n)]
    words = [f"row {i} about {names[0]} {NASTY}" for i, names in enumerate(labels)]
    part = Part(labels, [f"id-{i}" for i in range(n)], texts=words if texts else None)
    truth = tax.closure(tax.encode(labels))
    counts = np.bincount(truth.indices, minlength=len(tax))
    parts = np.array_split(rng.permutation(n), folds) if folds else [np.arange(n)]
    results = []
    noise = {"good": 0.1, "fair": 0.4, "poor": 0.8} if noise is None else noise
    for k, (name, wrong) in enumerate(noise.items()):
        answers = [
            answers_of(tax, rows, noisy(tax, truth[rows], wrong, rng), 0.1 * (k + 1), k != 1)
            for rows in map(np.sort, parts)
        ]
        results.append(judge(name, {"C": 1.0}, tax, part, counts, answers, seed))
    results.append(MethodResult("odd", error=f"It takes one label per row, not {NASTY}."))
    setting = Setting("made up", folds, n, n, "words", 0.3, seed, 1, "linnaeus compare made-up")
    best = baseline(labels, tax, Frequencies.of(tax, labels))
    return Comparison(tax, setting, tuple(results), truth, counts, best)
