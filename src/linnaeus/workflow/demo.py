"""The main job, on data that the program makes itself."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from linnaeus.collection import Collection
from linnaeus.taxonomy import Taxonomy
from linnaeus.workflow.parts import Step, word_vectorizer


class DemoResult(NamedTuple):
    """What the demonstration made, measured and predicted."""

    collection: Collection
    report: Any
    seconds: dict[str, float]
    example: int  # a row of the test part
    predicted: list[list[Any]]  # closed label sets, one per test row
    scores: Any  # (n_test, n_nodes)


def demo(
    n_train: int = 800, n_test: int = 200, seed: int = 0, n_jobs: int = 1, step: Step | None = None
) -> DemoResult:
    """Newsroom documents, one linear model per node, the best closed label set for each text."""
    from joblib import parallel_config
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    from linnaeus.decisions import ClosedArgmax
    from linnaeus.metrics import evaluate
    from linnaeus.synthetic import newsroom

    seconds: dict[str, float] = {}
    step = step or (lambda *_: None)

    def timed(what: str, done: int, work: Callable[[], Any]) -> Any:
        step(what, done, 4)
        start = time.perf_counter()
        result = work()
        seconds[what] = time.perf_counter() - start
        return result

    data = timed("generate", 0, lambda: newsroom(n_train, n_test, random_state=seed))
    taxonomy = data.taxonomy
    Y_train, Y_test = (taxonomy.closure(data.Y(part)) for part in ("train", "test"))
    model = make_pipeline(
        word_vectorizer(),
        ClosedArgmax(
            OneVsRestClassifier(LinearSVC(random_state=seed), n_jobs=n_jobs),
            taxonomy,
            shift="fit",
            random_state=seed,
        ),
    )
    with warnings.catch_warnings(), parallel_config(backend="threading"):
        # with few stories some nodes have none in a fold
        warnings.filterwarnings("ignore", "Label not .* is present in all training examples")
        timed("fit", 1, lambda: model.fit(data.part("train").texts, Y_train))
    scores = timed("score", 2, lambda: model.decision_function(data.part("test").texts))
    predicted = timed("decide", 3, lambda: model.predict(data.part("test").texts))
    report = timed("evaluate", 4, lambda: evaluate(taxonomy, Y_test, predicted, scores))
    sets = taxonomy.decode(predicted)
    return DemoResult(data, report, seconds, _telling_row(taxonomy, Y_test, sets), sets, scores)


def _telling_row(taxonomy: Taxonomy, Y_test: Any, predicted: list[list[Any]]) -> int:
    """A row worth drawing: several labels, nearly all of them right."""
    truth = taxonomy.decode(Y_test)

    def interest(i: int) -> tuple[float, int]:
        wrong = len(set(truth[i]) ^ set(predicted[i]))
        return (-abs(wrong - 1) if truth[i] else -99, len(truth[i]))

    return max(range(len(truth)), key=interest)
