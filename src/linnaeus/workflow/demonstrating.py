"""The main job from end to end, on data that the program makes itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linnaeus.errors import MissingExtraError, UserError
from linnaeus.io.collection import Collection
from linnaeus.model import Model, train
from linnaeus.workflow.parts import Step
from linnaeus.workflow.taxonomies import path_of_titles

if TYPE_CHECKING:
    from linnaeus.experiments import Comparison

METHODS: dict[str, dict[str, Any]] = {"svm": {}, "topdown": {"loss": "logistic", "C": 30.0}}
FOLDER = "linnaeus-demo"


class DemoResult(NamedTuple):
    """What the demonstration made, compared and predicted, and where it wrote it."""

    collection: Collection
    comparison: Comparison
    model: Model  # of the best method
    seconds: dict[str, float]
    example: int  # a row of the test part
    predicted: list[list[Any]]  # closed label sets, one per test row
    scores: Any  # (n_test, n_nodes), the best at or below every node
    folder: Path | None  # holds data, model and, with the extra, report.html

    def to_dict(self) -> dict[str, Any]:
        """All values, for JSON."""
        test = self.collection.part("test")
        report = self.comparison.ranked[0].report
        return {
            **({} if report is None else report.to_dict()),
            "comparison": self.comparison.to_dict(),
            "best": self.model.about["method"],
            "seconds": self.seconds,
            "example": {
                "text": (test.texts or [])[self.example],
                "labels": test.labels[self.example],
                "predicted": self.predicted[self.example],
            },
            "folder": None if self.folder is None else str(self.folder),
        }


def demo(
    n_train: int = 800,
    n_test: int = 200,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
    folder: str | Path | None = FOLDER,
) -> DemoResult:
    """News stories, two methods compared on them, and the better one kept as a model.

    folder : where data, model and report go; None writes nothing
    """
    from linnaeus.experiments import compare
    from linnaeus.inference import lift
    from linnaeus.synthetic import newsroom

    step = step or (lambda *_: None)
    place = None if folder is None else _checked(Path(folder))
    start = time.perf_counter()
    step("stories", 0, 4)
    data = newsroom(n_train, n_test, random_state=seed)
    made = time.perf_counter()
    step(" and ".join(METHODS), 1, 4)
    own = {f"{method}.{k}": v for method, given in METHODS.items() for k, v in given.items()}
    comparison = compare(list(METHODS), data, parameters=own, seed=seed, jobs=jobs)
    compared = time.perf_counter()
    best = comparison.ranked[0].name
    step(f"model: {best}", 2, 4)
    taxonomy, test = data.taxonomy, data.part("test")
    model = train(data.part("train"), taxonomy, best, METHODS[best], seed=seed, jobs=jobs)
    scores = model.scores(test.texts)
    decided = taxonomy.decode(model.decide(model.transform(test.texts), scores))
    step("report", 3, 4)
    if place is not None:
        _write(data, comparison, model, place)
    end = time.perf_counter()
    seconds = {"generate": made - start, "compare": compared - made, "model": end - compared}
    lifted = lift(taxonomy, np.asarray(scores), taxonomy.numbers(model.columns))
    truth = taxonomy.decode(taxonomy.closure(data.Y("test")))
    row = _telling_row(truth, decided)
    return DemoResult(data, comparison, model, seconds, row, decided, lifted, place)


def _checked(place: Path) -> Path:
    """A folder to write into, found out before the work: a new one, or one of an earlier run."""
    if place.is_dir() and any(place.iterdir()) and not (place / "model").is_dir():
        raise UserError(f"The folder {place} is not empty. Choose another with --output.")
    if place.exists() and not place.is_dir():
        raise UserError(f"{place} is a file. Choose a folder that does not exist yet.")
    return place


def _write(data: Collection, comparison: Comparison, model: Model, place: Path) -> None:
    """The collection as files, the model, and the report where its extra is installed."""
    from linnaeus.io import write_jsonl
    from linnaeus.report import write_report

    (place / "data").mkdir(parents=True, exist_ok=True)
    data.taxonomy.write(place / "data" / "taxonomy.json")
    for name, part in data.parts():
        write_jsonl(part, place / "data" / f"{name}.jsonl")
    model.save(place / "model")
    (place / "report.html").unlink(missing_ok=True)
    with suppress(MissingExtraError):
        write_report(comparison, place / "report.html")


def demo_table(path: str | Path, rows: int = 800, seed: int = 0) -> int:
    """News stories as one table of headline, story, date and category; how many rows it has.

    A category is a path, several of them with a semicolon between. As in tables that people keep,
    some rows have no category, and some are there twice.
    """
    from linnaeus.io import Columns, Kept, format_of, open_writer
    from linnaeus.synthetic import newsroom

    data = newsroom(rows, 0, random_state=seed)
    written = list(_table_rows(data))
    for row in written[44::90]:
        row["Category"] = ""
    written += written[7::75]
    columns = Columns(written[0], Kept())
    with open_writer(path, format_of(path, None), columns, []) as write:
        write((row, {}) for row in written)
    return len(written)


def _table_rows(data: Collection) -> Iterator[dict[str, Any]]:
    part, taxonomy = data.part("train"), data.taxonomy
    for text, labels, about in zip(part.texts or (), part.labels, part.metadata or (), strict=True):
        headline, _, story = text.partition("\n\n")
        category = "; ".join(path_of_titles(taxonomy, label) for label in labels)
        yield {"Headline": headline, "Story": story, "Date": about["date"], "Category": category}


def _telling_row(truth: list[list[Any]], predicted: list[list[Any]]) -> int:
    """A row worth drawing: several labels, nearly all of them right."""

    def interest(i: int) -> tuple[float, int]:
        wrong = len(set(truth[i]) ^ set(predicted[i]))
        return (-abs(wrong - 1) if truth[i] else -99, len(truth[i]))

    return max(range(len(truth)), key=interest)


def marks(truth: set[Any], found: set[Any]) -> dict[Any, str]:
    """✓ for nodes rightly found, ✗ for wrongly found ones, ○ for missed ones."""
    return {v: "○" if v not in found else "✓" if v in truth else "✗" for v in truth | found}
