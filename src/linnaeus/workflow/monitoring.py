"""Whether new rows are like those that a model was trained on: words, labels, confidence, columns.

A difference counts if chance alone makes one so large in fewer than one of 1,000 cases, and if it
is large enough to matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linnaeus.errors import UserError
from linnaeus.files import atomic_write
from linnaeus.io import blocks
from linnaeus.io.collection import Part
from linnaeus.io.options import ReadOptions
from linnaeus.model import Model, inputs_of
from linnaeus.model.confidence import right_rows
from linnaeus.model.shift import Share, distance, share_p
from linnaeus.text.languages import NAMES
from linnaeus.workflow.evaluating import load_model
from linnaeus.workflow.new_rows import ALPHA, Column, NewRows
from linnaeus.workflow.rows import open_rows, read_examples

FEWEST = 20  # rows that are needed to tell anything
RARE = 0.01  # share of the training texts below which a language counts as new
SHIFT = 0.1  # distance of labels, beyond that of chance, that matters
SHOWN = 10  # labels and words that are listed
# The differences that matter, by figure; and the direction that is worse
LEAST = {"quality": -0.05, "unknown": 0.02, "languages": 0.05, "confidence": -0.05, "unsure": 0.1,
         "empty": 0.02}  # fmt: skip


class Figure(NamedTuple):
    """A figure of the new rows beside that of the training rows."""

    name: str
    training: float | None
    new: float
    p: float | None
    changed: bool
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return self._asdict()


class Monitored(NamedTuple):
    """How new rows differ from those of training."""

    verdict: str
    rows: int
    figures: tuple[Figure, ...]
    labels: tuple[dict[str, Any], ...]  # those that grew or shrank most
    words: tuple[tuple[str, int], ...]  # unknown ones, with the rows that hold them
    columns: tuple[Column, ...]
    languages: dict[str, float]
    quality: dict[str, Any] | None
    skipped: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            **self._asdict(),
            "changed": any(figure.changed for figure in self.figures),
            "figures": [figure.to_dict() for figure in self.figures],
            "labels": list(self.labels),
            "words": [{"word": word, "rows": rows} for word, rows in self.words],
            "columns": [column.to_dict() for column in self.columns],
            "skipped": list(self.skipped),
            "notes": list(self.notes),
        }


def monitor(
    path: str | Path,
    data: str | Path,
    *,
    part: str = "test",
    min_confidence: float = 0.5,
    skip_bad: bool = False,
    options: ReadOptions | Mapping[str, Any] | None = None,
    html: str | Path | None = None,
) -> Monitored:
    """Compare the rows of a part or a file, which need no labels, with those of training.

    min_confidence : the confidence below which a row counts as unsure
    html : where to write a page that says the same
    """
    model = load_model(path)
    if model.profile is None:
        raise UserError(
            f"The model {path} does not know what its training rows were like: it was written by "
            f"an older version. Train it again."
        )
    reading = open_rows(data, part, model, skip_bad, options)
    new = NewRows(model)
    for block in blocks(reading, model.kind):
        new.add(block)
    reading.check_share()
    if not new.rows:
        raise reading.error("there are no rows. Check the file.")
    labelled = _labelled(model, data, part, options) if new.labelled else None
    found = _monitored(model, new, labelled, min_confidence)
    told = (*reading.say(), *found.notes, *_said_of(model, new))
    found = found._replace(skipped=tuple(reading.skipped or ()), notes=told)
    if html is not None:
        from linnaeus.report.monitor_page import monitor_page

        with atomic_write(html) as handle:
            handle.write(monitor_page(found.to_dict(), str(path), str(data)))
    return found


def _monitored(model: Model, new: NewRows, labelled: Part | str | None, least: float) -> Monitored:
    quality, figures = None, []
    notes = (f"the labels of the new rows are not used: {labelled}",) * isinstance(labelled, str)
    if isinstance(labelled, Part):
        quality, right = _quality(model, labelled)
        figures += _shares("quality", _held_out(model), right)
    figures += _of_texts(model, new)
    columns, labels = tuple(new.columns()), _label_counts(model, new)
    figures += _of_columns(columns)
    figures += _of_confidence(model, new, least)
    figures += [_of_labels(model, name, *pair) for name, pair in labels.items()]
    if new.rows < FEWEST:
        figures = [figure._replace(changed=False) for figure in figures]
    grown = tuple(line for pair in labels.values() for line in _grown(model, *pair)[:SHOWN])
    words = sorted(new.unknown_words.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
    return Monitored(
        _verdict(figures, new.rows), new.rows, tuple(figures), grown,
        tuple((str(word), n) for word, n in words), columns, _shared(new.languages), quality,
        (), notes,
    )  # fmt: skip


def _verdict(figures: list[Figure], rows: int) -> str:
    """The first thing to know, in a sentence or two."""
    if rows < FEWEST:
        some = "1 row is" if rows == 1 else f"{rows} rows are"
        return f"{some} too few to tell whether new rows differ; {FEWEST} are needed."
    names = {figure.name for figure in figures if figure.changed}
    same = {"labels": "top_labels", "unsure": "confidence"}  # said already by the other
    told = [f for f in figures if f.changed and same.get(f.name) not in names]
    if not told:
        return "The new rows look like the training rows."
    said, rest = "; ".join(figure.message for figure in told[:3]), len(told) - 3
    more = f"; and {rest} more difference{'s' * (rest > 1)}" if rest > 0 else ""
    return f"{said[0].upper()}{said[1:]}{more}: {_advice(figures, told[0].name)}."


def _advice(figures: list[Figure], first: str) -> str:
    if first == "empty":
        return "check the file"
    quality = next((f for f in figures if f.name == "quality" and f.p is not None), None)
    if quality is not None and not quality.changed:
        return "keep an eye on it; the best label is right as often as at training"
    return "retrain soon"


def _said_of(model: Model, new: NewRows) -> Iterator[str]:
    """What was not compared, and rows that are not new."""
    if _held_out(model) is None:
        yield (
            "labels and confidence are not compared, since the model was trained without held-out "
            "rows: by an older version, with the rule 'own', or on very few rows"
        )
    if new.seen:
        yield f"{new.seen:,} of {new.rows:,} rows were in the training data"


# -- figures --------------------------------------------------------------------------------------

SAID = {
    "quality": "the best label is right in {new} of the rows ({training} of held-out ones)",
    "unknown": "{new} of the {unit} are unknown ({training} in training)",
    "languages": "{new} of the texts are in languages that training lacked ({training} there)",
    "confidence": "the model is {new} sure on average ({training} on held-out training rows)",
    "unsure": "the model is less than {least:g} sure of {new} of the rows ({training} of held-out "
    "training rows)",
    "empty": "{new} of the texts are empty ({training} in training)",
}


def _shares(name: str, before: Share | None, now: Share, **words: Any) -> list[Figure]:
    """A share of the new rows beside that of training, tested."""
    if not now.whole:
        return []
    p = None if before is None else share_p(before, now)
    gap, least = 0.0 if before is None else now.value - before.value, LEAST[name]
    changed = p is not None and p < ALPHA and (gap >= least if least > 0 else gap <= least)
    was = "unknown" if before is None else percent(before.value)
    message = SAID[name].format(new=percent(now.value), training=was, **words)
    return [Figure(name, None if before is None else before.value, now.value, p, changed, message)]


def percent(value: float) -> str:
    """A share for people; small ones with a decimal.

    >>> percent(0.137), percent(0.004), percent(0)
    ('14%', '0.4%', '0%')
    """
    return f"{value:.1%}" if 0 < value < 0.01 else f"{value:.0%}"


def _of_texts(model: Model, new: NewRows) -> list[Figure]:
    kept = model.profile or {}
    figures = []
    if "unknown" in kept:
        before, now = Share(*kept["unknown"]), Share.of(new.unknown, new.words)
        figures += _shares("unknown", before, now, unit=new.unit)
    if "languages" in kept:
        figures += _of_languages(Counter(kept["languages"]), new.languages)
    if "empty" in kept:
        figures += _shares("empty", Share(*kept["empty"]), Share.of_count(new.empty, new.rows))
    return figures


def _of_languages(before: Counter[str], now: Counter[str]) -> list[Figure]:
    """The share of texts in languages that training lacked."""
    old, all_ = before.total(), now.total()
    if not old:
        return []
    usual = {code for code, n in before.items() if n >= RARE * old}
    rest = [sum(n for code, n in c.items() if code not in usual) for c in (before, now)]
    found = _shares("languages", Share.of_count(rest[0], old), Share.of_count(rest[1], all_))
    names = [NAMES.get(code, code) for code, _ in now.most_common() if code not in usual]
    said = f", most of them {names[0]}" if names else ""
    return [figure._replace(message=figure.message + said) for figure in found]


def _held_out(model: Model) -> Share | None:
    """How sure the model was of held-out rows; the share whose best label was right is the same."""
    known = model.confidence_map
    if known is None or known.best is None:
        return None
    shares, n = np.asarray(known.shares), float(known.best.sum())
    return Share(float(shares.mean()) * n, n, float(shares.var()) * n)


def _of_confidence(model: Model, new: NewRows, least: float) -> list[Figure]:
    before = _held_out(model)
    if before is None:
        return []
    sure = np.concatenate(new.sure)
    low = float((np.asarray(model.confidence_map.shares) < least).mean())  # type: ignore[union-attr]
    was = Share.of_count(low * before.whole, before.whole)
    return [
        *_shares("confidence", before, Share.of(sure)),
        *_shares("unsure", was, Share.of(sure < least), least=least),
    ]


def _of_columns(columns: tuple[Column, ...]) -> list[Figure]:
    if not columns:
        return []
    changed = [column for column in columns if column.message]
    said = "; ".join(column.message for column in changed[:3])
    message = f"{len(changed)} of {len(columns)} columns changed" + (f" ({said})" if said else "")
    return [Figure("columns", 0.0, len(changed) / len(columns), None, bool(changed), message)]


# -- labels ---------------------------------------------------------------------------------------


def _label_counts(model: Model, new: NewRows) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Rows by their best label, in training and now, over all nodes: the tops, and the labels."""
    known, tax = model.confidence_map, model.taxonomy
    if known is None or known.best is None:
        return {}
    numbers = tax.numbers(model.columns)[known.columns]
    counts = np.zeros((2, len(tax)), dtype=np.int64)
    counts[0, numbers], counts[1, numbers] = known.best, new.best
    tops = np.zeros_like(counts)
    for v in np.flatnonzero(counts.sum(axis=0)).tolist():
        tops[:, tax.ancestors(v)[0]] += counts[:, v]
    both = {"top_labels": (tops[0], tops[1]), "labels": (counts[0], counts[1])}
    return (
        both
        if (tops != counts).any() and np.count_nonzero(tops.sum(axis=0)) > 1
        else {"labels": both["labels"]}
    )


def _of_labels(model: Model, name: str, before: np.ndarray, now: np.ndarray) -> Figure:
    found = distance(before, now, int(model.about.get("seed", 0)))
    changed = found.p < ALPHA and found.value - found.chance >= SHIFT
    what = "top-level labels" if name == "top_labels" else "labels"
    message = (
        f"the {what} are shifted by {percent(found.value)} ({percent(found.chance)} by chance)"
    )
    first = _grown(model, before, now)[:1]
    if changed and first:
        line = first[0]
        message += f", above all {line['title']} from {percent(line['training'])} to " + percent(
            line["new"]
        )
    return Figure(name, found.chance, found.value, found.p, changed, message)


def _grown(model: Model, before: np.ndarray, now: np.ndarray) -> list[dict[str, Any]]:
    """The labels that grew or shrank more than by chance, the largest difference first."""
    tax, n, m, lines = model.taxonomy, int(before.sum()), int(now.sum()), []
    for v in np.flatnonzero(before + now).tolist():
        was, is_ = Share.of_count(int(before[v]), n), Share.of_count(int(now[v]), m)
        if share_p(was, is_) < ALPHA:
            name = tax.nodes[v]
            line = {"label": name, "title": tax.title(name), "training": was.value}
            lines.append(line | {"new": is_.value})
    return sorted(lines, key=lambda line: -abs(line["new"] - line["training"]))


def _shared(languages: Counter[str]) -> dict[str, float]:
    return {code: n / languages.total() for code, n in languages.most_common()}


# -- quality --------------------------------------------------------------------------------------


def _labelled(
    model: Model, data: str | Path, part: str, options: ReadOptions | Mapping[str, Any] | None
) -> Part | str:
    """The rows with labels that the taxonomy has; or why there are none."""
    try:
        return read_examples(data, model, part, True, options)
    except UserError as error:
        return error.shell.rstrip(".")


def _quality(model: Model, part: Part) -> tuple[dict[str, Any], Share]:
    """How good the answers are, and the share of rows whose best label is right."""
    X = model.transform(inputs_of(part))
    scores = np.asarray(model.estimator.class_scores(X))
    report = model.report(part.labels, model.decide(X, scores), scores)
    tax, known = model.taxonomy, model.confidence_map
    used = np.arange(len(model.columns)) if known is None else known.columns
    right = Share.of(right_rows(tax, model.columns, used, scores, tax.encode(part.labels)))
    names = ("micro_f1", "macro_f1", "hierarchical_f1", "zero_one_loss")
    training = {name: model.about["metrics"][name] for name in names
                if name in model.about.get("metrics", {})}  # fmt: skip
    now = {name: float(report[name]) for name in names}
    return {"rows": len(part), **now, "training": training}, right
