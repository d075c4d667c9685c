"""Predictions for rows without end: read, classified and written block by block, in order.

What a model says about a block is a task of its own (`linnaeus.model.answers.look`), which runs in
threads, or on a cluster. Rows are read and results written here, one after the other.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from linnaeus.errors import UserError
from linnaeus.workflow.parts import check_arguments

if TYPE_CHECKING:
    from linnaeus.execution import Checkpoint
    from linnaeus.io import Part, ReadOptions
    from linnaeus.model.answers import Looked

Told = Callable[[int, float], None]  # rows done, seconds since the first


class Predicted(NamedTuple):
    """What was written."""

    path: str
    rows: int
    seconds: float
    skipped: tuple[str, ...]
    review: int | None = None  # rows that a person should see, where asked for
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        rate = self.rows / self.seconds if self.seconds > 0 else 0.0
        lists = {"skipped": list(self.skipped), "notes": list(self.notes)}
        found = {**self._asdict(), **lists, "rows_per_second": rate}
        return {key: value for key, value in found.items() if value is not None}


class PredictedFiles(NamedTuple):
    """What was written into a folder: a file for every file that was read."""

    path: str
    files: tuple[Predicted, ...]
    resumed: int  # of them, what an earlier run had written already

    def whole(self) -> Predicted:
        """All of it as if it were one file."""
        reviews = [file.review for file in self.files if file.review is not None]
        return Predicted(
            self.path,
            sum(file.rows for file in self.files),
            sum(file.seconds for file in self.files),
            tuple(chain.from_iterable(file.skipped for file in self.files)),
            sum(reviews) if reviews else None,
            tuple(dict.fromkeys(chain.from_iterable(file.notes for file in self.files))),
        )

    def to_dict(self) -> dict[str, Any]:
        files = [file.to_dict() for file in self.files]
        return {**self.whole().to_dict(), "files": files, "resumed": self.resumed}


def predict(
    path: str | Path,
    data: str | Path,
    target: str | Path,
    *,
    part: str = "test",
    format: str | None = None,
    told: Told | None = None,
    checkpoint: str | Path | None = None,
    backend: str | None = None,
    address: str | None = None,
    jobs: int = 1,
    **asked: Any,
) -> Predicted:
    """Label sets for every row of a part or a file, written in its order with all its columns.

    What was typed wrong is refused before anything heavy is loaded. The file has the same bytes
    wherever the work is done, and appears when it is complete.

    options : how a table is read, where that is not to be guessed
    top : how many of the highest-ranked labels to list as well
    rule : another decision rule than the model's own
    min_confidence : also say how sure the model is of each row, and mark those below for review
    by_level : also list the titles of every level of the taxonomy
    skip_bad : leave out rows that cannot be read
    told : about every block of rows
    checkpoint : a folder that keeps finished blocks: after a kill the same call goes on from there
    backend, address, jobs : where the work is done; see `linnaeus.execution.engine`
    """
    check_arguments(data, rule=asked.get("rule"), model=path, options=asked.get("options"))
    from linnaeus import io
    from linnaeus.execution.placing import placed

    source = Source(io.find_rows(data, part), Path(target), io.format_of(target, format))
    with placed(backend, address, checkpoint, jobs) as kept:
        found, _ = _Predictor(path, jobs, kept, **asked)(source, told)
    return found


def predict_files(
    path: str | Path,
    data: str | Path | Sequence[str | Path],
    folder: str | Path,
    *,
    part: str = "test",
    format: str | None = None,
    told: Told | None = None,
    checkpoint: str | Path | None = None,
    backend: str | None = None,
    address: str | None = None,
    jobs: int = 1,
    **asked: Any,
) -> PredictedFiles:
    """Label sets for the rows of many files: for each a file of the same name in a folder.

    data : files, patterns such as ``*.csv``, folders of files, or collections, of which a part is
        read
    format : of all that is written; None for that of the file read, JSON lines where that cannot be
        written

    Everything else is as in `predict`. With a checkpoint a file that an earlier run has finished is
    not read again, unless one of the two has changed since.
    """
    check_arguments(rule=asked.get("rule"), model=path, options=asked.get("options"))
    from linnaeus.execution.placing import placed
    from linnaeus.workflow.many_files import sources_of

    sources, done, resumed, before = sources_of(data, Path(folder), part, format), [], 0, 0
    Path(folder).mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    with placed(backend, address, checkpoint, jobs) as kept:
        predictor = _Predictor(path, jobs, kept, **asked)
        for source in sources:

            def of_all(rows: int, seconds: float, before: int = before) -> None:
                if told is not None:
                    told(before + rows, time.perf_counter() - began)

            found, was_there = predictor(source, of_all)
            done.append(found)
            resumed += was_there
            before += found.rows
    return PredictedFiles(str(folder), tuple(done), resumed)


class Source(NamedTuple):
    """A file to read, the one to write, and its format."""

    file: Path
    target: Path
    format: str


class _Predictor:
    """A model and all that was asked of it."""

    def __init__(
        self,
        path: str | Path,
        jobs: int,
        kept: Checkpoint | None,
        top: int = 0,
        rule: str | None = None,
        min_confidence: float | None = None,
        by_level: bool = False,
        skip_bad: bool = False,
        options: ReadOptions | Mapping[str, Any] | None = None,
    ) -> None:
        from linnaeus import storage
        from linnaeus.execution import executor
        from linnaeus.io import ReadOptions
        from linnaeus.model import Answers, Model
        from linnaeus.workflow.evaluating import no_model

        self.folder = storage.folder_of(path)
        model = storage.load(path)
        if not isinstance(model, Model):
            raise no_model(path, model)
        if top < 0:
            raise UserError(f"top is {top}. Use a positive number, or 0 for no ranking.")
        self.answers = Answers(model, top, min_confidence, by_level, rule)
        self.answers.opened_at(self.folder)
        self.columns = model.about.get("columns")
        self.options, self.skip_bad = options, skip_bad
        given = repr(sorted(ReadOptions.of(options).given().items()))
        self.reviews = min_confidence is not None
        self.executor, self.kept = executor(jobs), kept
        self.about = self.answers.asked, min_confidence, by_level, skip_bad, given

    def __call__(self, source: Source, told: Told | None) -> tuple[Predicted, bool]:
        """Write the predictions of a file, unless they were; and whether they were."""
        if self.kept is None:
            return self._written(source, told), False
        from linnaeus.workflow.many_files import Finished

        finished = Finished(self.kept, (self.folder.digest, self.about), source)
        found = finished.load()
        if found is not None:
            return Predicted(*found), True
        written = self._written(source, told)
        finished.save(tuple(written))
        return written, False

    def _written(self, source: Source, told: Told | None) -> Predicted:
        from linnaeus import io

        answers, notes = self.answers, list[str]()
        reading = io.open_reading(
            source.file, feature_names=answers.feature_names,
            skipped=[] if self.skip_bad else None, options=self.options, before=self.columns,
            keeps=True,
        )  # fmt: skip
        found = io.blocks(reading, answers.kind)
        first = list(islice(found, 1))  # which tells what the columns are
        kept = io.Kept() if source.format == "jsonl" else io.kept_columns(reading)
        columns = io.Columns(answers.fields, kept)
        rows, reviewed, start = 0, answers.reviewed, time.perf_counter()
        with io.open_writer(source.target, source.format, columns, notes) as write:
            for block, looked in self._looked(chain(first, found)):
                records = answers.records(block.ids, looked)
                write(zip(records, block.metadata or repeat({}), strict=False))
                rows += len(block)
                if told is not None:
                    told(rows, time.perf_counter() - start)
            if reading.skipped:
                reading.check_share()
        seconds, skipped = time.perf_counter() - start, tuple(reading.skipped or ())
        review = answers.reviewed - reviewed if self.reviews else None
        said = (*reading.say(), *notes)
        return Predicted(str(source.target), rows, seconds, skipped, review, said)

    def _looked(self, blocks: Iterator[Part]) -> Iterator[tuple[Part, Looked]]:
        """Every block with what the model says about it, in order."""
        from linnaeus.execution import over_blocks
        from linnaeus.model.answers import look
        from linnaeus.model.model import inputs_of

        waiting: deque[Part] = deque()  # those that are under way

        def inputs() -> Iterator[Any]:
            for block in blocks:
                waiting.append(block)
                yield inputs_of(block)

        shared = self.folder, self.answers.asked
        results = over_blocks(look, shared, inputs(), self.executor)
        for looked in results:
            yield waiting.popleft(), looked
