"""Choosing the setting of a method by cross-validation, and training a model with it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus import __version__
from linnaeus.decisions.rules import WORDS
from linnaeus.errors import UserError, nearest
from linnaeus.execution import one_blas_thread
from linnaeus.experiments import strategy
from linnaeus.experiments.grid import PREFIX, Space, make_space
from linnaeus.experiments.journal import Journal
from linnaeus.experiments.search import FeatureRows, Search, Step
from linnaeus.experiments.tuned import SettingsTable, Tuned
from linnaeus.io.collection import Part
from linnaeus.metrics.counts import METRICS, VALUES
from linnaeus.model import MethodChoice, choose_method, inputs_of, train
from linnaeus.model.candidates import BUDGET
from linnaeus.model.features import choose_features
from linnaeus.model.judging import quiet_convergence
from linnaeus.model.search import Trial, best_method
from linnaeus.model.training import TrainingLabels, check_budget, is_standard
from linnaeus.splits import Copies
from linnaeus.splits.held_out import splits_of
from linnaeus.taxonomy import Taxonomy

Note = Callable[[str], None]


def tune(
    part: Part,
    taxonomy: Taxonomy,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    features: str = "auto",
    feature_parameters: Mapping[str, Any] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    exhaustive: bool = False,
    metric: str = "micro_f1",
    folds: int = 3,
    valid: Part | None = None,
    budget: float = BUDGET,
    seed: int = 0,
    jobs: int = 1,
    journal: str | Path | None = None,
    fresh: bool = False,
    with_model: bool = True,
    step: Step | None = None,
    note: Note | None = None,
) -> Tuned:
    """Find the best setting of a method by cross-validation, and train a model with it.

    Parameters
    ----------
    part : Part
        Examples with labels.
    taxonomy : Taxonomy
        The taxonomy.
    method : str or None, default=None
        Name in `linnaeus.model.METHODS`; None takes the best of those that `train` tries.
    parameters : dict or None, default=None
        Fixed ones, which are not searched.
    features : str, default='auto'
        'auto' or a kind of `linnaeus.model.KINDS`.
    feature_parameters : dict or None, default=None
        Fixed ones of the features.
    grid : dict or None, default=None
        {name: values} to search only these; names are parameters of the method, options of the
        features as "features.name", and "rule"; None searches what usually matters.
    exhaustive : bool, default=False
        Whether to try every combination, not block after block (`linnaeus.experiments.strategy`).
    metric : {'micro_f1', 'macro_f1', 'hierarchical_f1', 'answered_f1'}, default='micro_f1'
        Its mean over the folds decides.
    folds : int, default=3
        Folds of the cross-validation; 1 holds out a fifth once.
    valid : Part or None, default=None
        Rows to judge by in place of folds; the model learns from them too.
    budget : float, default=60.0
        About how many seconds to spend on choosing a method, where none is given; 0 takes the one
        that was best on collections like this.
    seed : int, default=0
        Seed of everything that is drawn.
    jobs : int, default=1
        Units of work side by side; results are the same for any number.
    journal : str, Path or None, default=None
        A file that keeps finished work; a search that was stopped goes on from there.
    fresh : bool, default=False
        Whether to start over in spite of such a file.
    with_model : bool, default=True
        Whether to train on all rows with the best setting.
    step : callable or None, default=None
        Told what is best so far, how many units are done and how many there are.
    note : callable or None, default=None
        Told what is going to happen, in sentences.

    Returns
    -------
    Tuned

    Examples
    --------
    >>> from linnaeus.synthetic import newsroom
    >>> news = newsroom(150, 20)
    >>> grid = {"C": [1, 10], "rule": ["zero", "instance"]}
    >>> found = tune(news.train, news.taxonomy, "svm", grid=grid, with_model=False)
    >>> found.fits, len(found.table)
    (6, 4)
    """
    _check_metric(metric)
    start = time.perf_counter()
    step, note = step or (lambda *_: None), note or (lambda _: None)
    check_budget(budget)
    parts, part = (part, valid), part if valid is None else part.joined(valid)
    labels = TrainingLabels.of(part, taxonomy)
    y, several, own = labels.y, labels.several, dict(feature_parameters or {})
    splits = splits_of(labels.sets, len(parts[0]), folds, seed, Copies.of(inputs_of(part)).groups)
    chosen = choose_method(method, part, taxonomy, several)
    if method is None:
        rows = _Rows(part, features, own)
        trial = Trial(rows.X, y, taxonomy, splits, several, "auto", seed, jobs)
        chosen = _tried(trial, chosen, parameters or {}, grid or {}, rows.standard, budget, step)
    fixed = chosen.parameters | dict(parameters or {})
    kind, space = _space(part, chosen.method, several, features, grid, fixed, own)
    about = _about(part, taxonomy, chosen.method, fixed, kind, own, space, len(splits), seed)
    kept = Journal(journal, about, fresh)
    older = set(kept.done)
    search = Search(
        chosen.method, fixed, taxonomy, y, splits, space, FeatureRows(part, kind, own), kept,
        SettingsTable(len(splits), metric), strategy.size(space, len(splits), exhaustive),
        seed, jobs, step,
    )  # fmt: skip
    note(search.announcement())
    table = _searched(search, space, exhaustive)
    found = Tuned(
        chosen.method, chosen.why, kind, fixed, own, metric, len(splits), seed,
        fits=sum(len(unit.path.Cs) for unit in search.done),
        resumed=sum(unit.key in older for unit in search.done),
        seconds=time.perf_counter() - start, table=table, default=_default(table, space),
    )  # fmt: skip
    return _trained(found, *parts, taxonomy, jobs, step) if with_model else found


class _Rows:
    """The rows that features as `train` makes them give."""

    def __init__(self, part: Part, features: str, own: Mapping[str, Any]) -> None:
        made = choose_features(part, features, own).features
        self.X = made.fit_transform(inputs_of(part))
        self.standard = is_standard(made)


def _tried(
    trial: Trial, recommended: MethodChoice, parameters: Mapping[str, Any],
    grid: Mapping[str, Sequence[Any]], standard: bool, budget: float, step: Step,
) -> MethodChoice:  # fmt: skip
    """The best of the methods that `train` tries, with what the grid names left to the search."""
    searched = {name: values[0] for name, values in grid.items() if _is_of_method(name) and values}
    choice = best_method(trial, recommended, {**searched, **parameters}, standard, budget, step)[0]
    left = {name: v for name, v in choice.parameters.items() if name not in {"C", *searched}}
    return choice._replace(parameters=left)


def _is_of_method(name: str) -> bool:
    return name != "rule" and not name.startswith(PREFIX)


def _space(
    part: Part, method: str, several: bool, features: str,
    grid: Mapping[str, Sequence[Any]] | None, fixed: dict[str, Any], own: dict[str, Any],
) -> tuple[str, Space]:  # fmt: skip
    """The kind of features, and what there is to search."""
    kind = choose_features(part, features, own).kind
    given = {"grid": grid, "parameters": fixed, "feature_parameters": own}
    return kind, make_space(method, part, kind, several, **given)


def _searched(search: Search, space: Space, exhaustive: bool) -> list[dict[str, Any]]:
    """All settings that were tried, with what they reached."""
    with quiet_convergence(), one_blas_thread():
        (strategy.exhaustive if exhaustive else strategy.greedy)(space, search.run)
    return search.table.rows()


def _check_metric(metric: str) -> None:
    if metric not in METRICS:
        raise UserError(
            f"The metric {metric!r} is not known{nearest(metric, METRICS)}. "
            f"Use one of: {', '.join(METRICS)}."
        )


def _trained(
    found: Tuned, part: Part, valid: Part | None, taxonomy: Taxonomy, jobs: int, step: Step
) -> Tuned:
    """With a model of the best setting, which keeps the whole table."""
    model = train(
        part, taxonomy, found.method, found.best_parameters, features=found.kind,
        feature_parameters=found.best_feature_parameters, rule=found.best["rule"],
        valid=valid, seed=found.seed, jobs=jobs, step=step,
    )  # fmt: skip
    settings = f"the best of {len(found.table)} settings by {WORDS[found.metric]} on held-out rows"
    why = f"{found.why}; {settings}"
    reached = {name: found.best[name] for name in VALUES}
    about = {**model.about, "why": why, "metrics": reached, "tuning": found.to_dict()}
    return replace(found, model=replace(model, about=about))


def _default(table: Sequence[dict[str, Any]], space: Space) -> dict[str, Any] | None:
    """The best row with what `train` takes by itself."""
    own = {name: space.defaults[name] for name in space.parameters}
    wanted = {"features": {}, "parameters": own, "C": space.defaults.get("C")}
    return next((row for row in table if wanted.items() <= row.items()), None)


def _about(
    part: Part, taxonomy: Taxonomy, method: str, parameters: Mapping[str, Any], kind: str,
    features: Mapping[str, Any], space: Space, folds: int, seed: int,
) -> dict[str, Any]:  # fmt: skip
    """All that results depend on."""
    return {
        "data": _digest(part),
        "taxonomy": taxonomy.digest(),
        "method": method,
        "parameters": dict(parameters),
        "features": {"kind": kind, **features},
        "grid": space.to_dict(),
        "folds": folds,
        "seed": seed,
        "version": __version__,
    }


def _digest(part: Part) -> str:
    """A fingerprint of examples and labels."""
    h = hashlib.sha256(repr(part.labels).encode())
    inputs = inputs_of(part)
    if part.texts is not None:
        for text in inputs:
            h.update(repr(text).encode())
        return h.hexdigest()
    parts = (inputs.data, inputs.indices, inputs.indptr) if sp.issparse(inputs) else (inputs,)
    for array in parts:
        h.update(repr((array.dtype, array.shape)).encode())
        h.update(np.ascontiguousarray(array).tobytes())
    return h.hexdigest()
