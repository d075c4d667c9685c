"""What the front ends do, as functions of paths and numbers that return plain results."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from linnaeus.collection import Collection
from linnaeus.errors import UserError
from linnaeus.taxonomy import Taxonomy

Step = Callable[[str, int, int], None]


def load_taxonomy(path: str | Path, format: str | None = None) -> Taxonomy:
    """Read a taxonomy file, or the ``taxonomy.*`` of a collection folder."""
    path = Path(path)
    if not path.is_dir():
        return Taxonomy.read(path, format)
    found = sorted(path.glob("taxonomy.*"))
    if len(found) != 1:
        names = ", ".join(p.name for p in found) or "none"
        raise UserError(f"{path} must hold one file taxonomy.*, but it has: {names}. Name a file.")
    return Taxonomy.read(found[0], format)


def taxonomy_as_dict(taxonomy: Taxonomy, root: Any = None) -> dict[str, Any]:
    """Every node with its relatives, for machines."""
    part = taxonomy if root is None else taxonomy.subtree(root)
    nodes = [
        {
            "id": v,
            "title": part.title(v),
            "depth": int(part.depth[i]),
            "parents": part.parents(v),
            "children": part.children(v),
        }
        for i, v in enumerate(part.nodes)
    ]
    return {"nodes": nodes, "related": part.related}


def check_taxonomy(path: str | Path, format: str | None = None) -> dict[str, Any]:
    """What a maintainer would want to know, as findings with their nodes."""
    from linnaeus.taxonomy.diagnose import findings

    taxonomy = load_taxonomy(path, format)
    return {
        "summary": repr(taxonomy).strip("<>").removeprefix("Taxonomy: "),
        "findings": [finding._asdict() for finding in findings(taxonomy)],
    }


def taxonomy_stats(path: str | Path, format: str | None = None) -> dict[str, Any]:
    """The counts that describe a taxonomy."""
    from linnaeus.taxonomy.diagnose import stats

    return stats(load_taxonomy(path, format))


def convert_taxonomy(
    source: str | Path,
    target: str | Path,
    source_format: str | None = None,
    target_format: str | None = None,
    drop_root: bool = False,
) -> dict[str, Any]:
    """Read in one format, write in another; the counts of what was written."""
    taxonomy = load_taxonomy(source, source_format)
    if drop_root:
        taxonomy = taxonomy.without_top()
    taxonomy.write(target, target_format)
    return {"path": str(target), "nodes": len(taxonomy), "edges": len(taxonomy.edges)}


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
    from linnaeus.text import TfidfVectorizer

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
        TfidfVectorizer(stop_words="english", sublinear_tf=True),
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
