"""What a stream costs: CPU milliseconds of one row per `partial_fit`, and the share of learning.

Learning is the same visits in one call of the loop. Beside them stands a calibration loop of plain
Python, by which runs on other machines can be compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import recording
from linnaeus import HierarchicalPerceptron, Hieron, Taxonomy
from linnaeus.solvers.online import perceptron

CLASSES, FEATURES, BEFORE, ROWS, REPEATS = 25, 50, 200, 1000, 3


def data(seed: int = 0) -> tuple[Taxonomy, np.ndarray, np.ndarray]:
    """A taxonomy of two levels, and rows around a mean for each leaf."""
    rng = np.random.default_rng(seed)
    names = np.array([f"c{i}" for i in range(CLASSES)])
    taxonomy = Taxonomy.from_edges([(f"group {i // 5}", v) for i, v in enumerate(names.tolist())])
    label = rng.integers(0, CLASSES, BEFORE + ROWS)
    X = rng.normal(size=(label.size, FEATURES)) + 2 * np.eye(CLASSES, FEATURES)[label]
    return taxonomy, np.where(np.abs(X) > 0.5, X, 0.0), names[label]


def least(run: Callable[[], Any]) -> float:
    """The least CPU seconds of several runs."""
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return min(seconds)


def stream(model: Any, rows: list[Any], labels: list[Any]) -> None:
    for row, label in zip(rows, labels, strict=True):
        model.partial_fit(row, label)


def learning(model: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """One pass of the loop over all rows, from the weights of the model."""
    number = {name: j for j, name in enumerate(model.targets_.names)}
    at = np.arange(len(y)), np.array([number[v] for v in y.tolist()])
    Y = sp.csr_array((np.ones(len(y), np.int8), at), shape=(len(y), len(number)))
    problem = perceptron.build(sp.csr_array(X), None, Y, model.shared_)
    W = model.weights_.last.copy()
    return lambda: perceptron.run(problem, W, model._rule())


def calibration() -> int:
    total = 0
    for i in range(1_000_000):
        total += i % 7
    return total


def main() -> None:
    taxonomy, X, y = data()
    labels, unit, rows = [y[i : i + 1] for i in range(BEFORE, len(y))], least(calibration), []
    for method in (HierarchicalPerceptron, Hieron):
        for kind, form in (("dense", np.asarray), ("sparse", sp.csr_array)):
            model = method(taxonomy).partial_fit(form(X[:BEFORE]), y[:BEFORE])
            single = [form(X[i : i + 1]) for i in range(BEFORE, len(y))]
            each = 1e3 * least(lambda m=model, r=single: stream(m, r, labels)) / ROWS  # type: ignore[misc]
            learnt = 1e3 * least(learning(model, X[BEFORE:], y[BEFORE:])) / ROWS
            rows.append([method.__name__, kind, each, learnt / each, each / (1e3 * unit)])
    recording.publish(
        "streams",
        f"One row per partial_fit: {CLASSES} classes, {FEATURES} features",
        ["method", "rows", "CPU ms a call", "share of learning", "by the calibration loop"],
        rows,
        notes=f"The calibration loop, a million steps of plain Python, took {1e3 * unit:.1f} ms.",
    )


if __name__ == "__main__":
    main()
