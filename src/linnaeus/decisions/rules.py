"""Which decision rule suits held-out scores best, judged fairly.

A rule that learns much (a threshold per label) looks good on the rows that it has learned from. So
each candidate is fitted on one half of the rows and decides on the other, and the other way round;
the label sets of all rows, decided by rules that have not seen them, are then compared with the
truth. The best candidate is fitted again on all rows. Of rules that are as good (to a thousandth)
the simplest is taken, in the order of `RULES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.base import Decision, checked_columns
from linnaeus.decisions.named import (
    RULES,
    RuleInfo,
    affordable_rows,
    closed_steps,
    fit_rule,
    make_rule,
    node_sets,
)
from linnaeus.errors import UserError, nearest, shorten
from linnaeus.inference.rows import FloatArray, as_matrix
from linnaeus.metrics import counts
from linnaeus.taxonomy import Taxonomy

__all__ = [
    "RULES", "RuleChoice", "RuleInfo", "choose_rule", "fit_rule", "make_rule", "node_sets",
    "pool_rules", "score_rules",
]  # fmt: skip

TIE = 1e-3  # relative
MOST_SCORES = 20_000_000  # scores that the candidates are judged by
DECIDE_STEPS = 1_000_000_000  # visits of nodes at most to decide on closed sets of all rows
WORDS = {
    "micro_f1": "micro-F1", "macro_f1": "macro-F1", "hierarchical_f1": "hierarchical F1",
    "answered_f1": "hierarchical F1 (empty rows count as wrong)",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class RuleChoice:
    """The rule that was chosen.

    Attributes
    ----------
    name : str
        Name of the rule, or of one of the `extra` label sets.
    rule : Decision or None
        Fitted on all rows; None for one of the `extra`.
    table : list of dict
        A dict per candidate: rule, micro_f1, macro_f1, hierarchical_f1, answered_f1, precision,
        recall, labels_per_row, chosen, note.
    why : str
        A sentence.
    """

    name: str
    rule: Decision | None
    table: list[dict[str, Any]]
    why: str


class _Problem(NamedTuple):
    """What the candidates are judged on."""

    scores: FloatArray
    Y: sp.csr_array
    taxonomy: Taxonomy
    columns: tuple[Any, ...]
    closed: bool
    seed: int

    def take(self, rows: Any) -> _Problem:
        return self._replace(scores=self.scores[rows], Y=self.Y[rows])

    def fit(self, name: str) -> Decision:
        return fit_rule(
            name, self.scores, self.Y, self.taxonomy, self.columns,
            closed=self.closed, seed=self.seed,
        )  # fmt: skip


def choose_rule(
    scores: Any,
    Y: Any,
    taxonomy: Taxonomy,
    columns: Iterable[Any],
    *,
    closed: bool = False,
    candidates: Iterable[str] | None = None,
    extra: Mapping[str, Any] | None = None,
    metric: str = "micro_f1",
    seed: int = 0,
) -> RuleChoice:
    """The best of some rules on held-out scores, fitted on all of them.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_columns)
        Held-out scores.
    Y : array-like, sparse matrix or list of lists
        Label sets of the same rows, in any form.
    taxonomy : Taxonomy
        The taxonomy.
    columns : iterable
        The node that each column of the scores stands for.
    closed : bool, default=False
        Whether all nodes are scored, by a model that was taught closed label sets.
    candidates : iterable of str or None, default=None
        Names in `RULES`; None for all that suit.
    extra : dict or None, default=None
        {name: label sets}, decided already on the same rows without having seen their labels.
    metric : {'micro_f1', 'macro_f1', 'hierarchical_f1', 'answered_f1'}, default='micro_f1'
        What decides; the first is of the most specific labels, the last the hierarchical F1 with
        rows left empty counted as wrong answers (see `linnaeus.metrics.counts`).
    seed : int, default=0
        Seed of the halves.

    Returns
    -------
    RuleChoice

    Examples
    --------
    >>> tax = Taxonomy.flat(["cat", "dog", "oak"])
    >>> Y = [["cat", "dog"], ["oak"], ["cat"], ["dog", "oak"]] * 10
    >>> scores = 0.5 * tax.encode(Y).toarray() + 0.2
    >>> choice = choose_rule(scores, Y, tax, tax.nodes, candidates=["argmax", "rcut", "zero"])
    >>> choice.why
    'zero: best micro-F1 1.000 on held-out scores (rcut .857, argmax .800)'
    """
    if metric not in counts.METRICS:
        raise UserError(
            f"metric={metric!r} is not known{nearest(metric, counts.METRICS)}. "
            f"Use one of: {', '.join(counts.METRICS)}."
        )
    problem = _problem(scores, Y, taxonomy, columns, closed, seed)
    names, left_out = _candidates(problem, candidates)
    rows = _judged_rows(problem)
    judged = problem if rows is None else problem.take(rows)
    records = [*_given(judged, extra or {}, problem.Y.shape[0], rows), *_scored(judged, names)]
    if not records:
        raise UserError("There is no rule to choose from. Name at least one candidate.")
    table = [_line(taxonomy, record) for record in records]
    best = max(line[metric] for line in table)
    chosen = next(line for line in table if line[metric] >= (1 - TIE) * best)
    chosen["chosen"] = True
    name = chosen["rule"]
    rule = None if name in (extra or {}) else problem.fit(name)
    return RuleChoice(name, rule, table + left_out, _why(table, chosen, metric))


def score_rules(
    scores: Any,
    Y: Any,
    taxonomy: Taxonomy,
    columns: Iterable[Any],
    closed: bool = False,
    candidates: Iterable[str] | None = None,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Counts for each rule, decided half by half as in `choose_rule`; see `metrics.counts`.

    A dict per rule: rule, note, rows, tp, fp, fn (arrays over the nodes, of most specific labels),
    closed_tp, closed_fp, closed_fn (numbers). `pool_rules` makes values of those of several folds.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_columns)
        Held-out scores.
    Y : array-like, sparse matrix or list of lists
        True label sets, in any form of `linnaeus.labels`.
    taxonomy : Taxonomy
        The taxonomy.
    columns : iterable
        The node that each column of the scores stands for.
    closed : bool, default=False
        Whether all nodes are scored, by a model that was taught closed label sets.
    candidates : iterable of str or None, default=None
        Names in `RULES`; None for all that suit.
    seed : int, default=0
        Seed of the halves.

    Returns
    -------
    list of dict
    """
    problem = _problem(scores, Y, taxonomy, columns, closed, seed)
    rows = _judged_rows(problem)
    names, _ = _candidates(problem, candidates)
    return _scored(problem if rows is None else problem.take(rows), names)


def pool_rules(
    taxonomy: Taxonomy, folds: Sequence[Sequence[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """The table of `choose_rule` (nothing chosen) from what `score_rules` gave for each fold.

    A rule that some fold lacks is left out.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    folds : sequence of list of dict
        What `score_rules` gave for each fold.

    Returns
    -------
    list of dict
    """
    by_name = [{record["rule"]: record for record in fold} for fold in folds]
    common = [name for name in by_name[0] if all(name in fold for fold in by_name)]
    return [_line(taxonomy, counts.add([fold[name] for fold in by_name])) for name in common]


def _problem(
    scores: Any, Y: Any, taxonomy: Taxonomy, columns: Iterable[Any], closed: bool, seed: int
) -> _Problem:
    matrix, given = as_matrix(scores), taxonomy.encode(Y)
    if matrix.shape[0] != given.shape[0]:
        raise UserError(
            f"There are {matrix.shape[0]} rows of scores and {given.shape[0]} label sets. "
            f"Give one label set per row."
        )
    if matrix.shape[0] < 2:
        raise UserError(
            f"Rules learn from one half of the rows and are judged on the other, but there is "
            f"{matrix.shape[0]} row. Give at least 2, or name a rule."
        )
    names = checked_columns(columns, matrix.shape[1], taxonomy)
    return _Problem(matrix, given, taxonomy, names, closed, seed)


def _candidates(
    problem: _Problem, asked: Iterable[str] | None
) -> tuple[list[str], list[dict[str, Any]]]:
    """The rules to try, in the order of `RULES`, and lines about those that cost too much."""
    if asked is not None:
        wanted = set(asked)
        for name in wanted:
            make_rule(name, problem.taxonomy)  # an unknown one is an error that names it
        return [name for name in RULES if name in wanted], []
    names = [name for name in RULES if name != "consistent" or problem.closed]
    n = min(problem.scores.shape[0], _most_rows(problem))
    if n * closed_steps(problem.taxonomy) <= DECIDE_STEPS:
        return names, []
    values = dict.fromkeys(counts.VALUES)
    note = f"left out: the best closed sets of {n:,} rows would take long"
    names.remove("closed")
    return names, [{"rule": "closed", **values, "chosen": False, "note": note}]


def _most_rows(problem: _Problem) -> int:
    return max(2, MOST_SCORES // max(1, len(problem.columns)))


def _judged_rows(problem: _Problem) -> Any:
    """A random part of the rows where there are very many; else None."""
    n, most = problem.scores.shape[0], _most_rows(problem)
    if n <= most:
        return None
    return np.sort(np.random.default_rng(problem.seed).choice(n, most, replace=False))


def _scored(problem: _Problem, names: Sequence[str]) -> list[dict[str, Any]]:
    truth = counts.Truth.of(problem.taxonomy, problem.Y)
    halves = _halves(problem)
    return [
        {"rule": name, "note": _note(problem, name), **truth.counts(_cross_fitted(halves, name))}
        for name in names
    ]


def _given(problem: _Problem, extra: Mapping[str, Any], n: int, rows: Any) -> list[dict[str, Any]]:
    """The counts of label sets that were decided elsewhere."""
    truth, out = counts.Truth.of(problem.taxonomy, problem.Y), []
    for name, decided in extra.items():
        sets = problem.taxonomy.encode(decided)
        if sets.shape[0] != n:
            raise UserError(
                f"The label sets {shorten(name)} have {sets.shape[0]} rows, but there are {n} rows "
                f"of scores. Give label sets of the same rows."
            )
        closed = problem.taxonomy.closure(sets if rows is None else sets[rows])
        out.append({"rule": name, "note": "", **truth.counts(closed)})
    return out


def _halves(problem: _Problem) -> list[tuple[Any, _Problem]]:
    """The row numbers and the rows of each half."""
    n = problem.scores.shape[0]
    order = np.random.default_rng(problem.seed).permutation(n)
    parts = [np.sort(part) for part in (order[: n // 2], order[n // 2 :])]
    return [(part, problem.take(part)) for part in parts]


def _cross_fitted(halves: list[tuple[Any, _Problem]], name: str) -> sp.csr_array:
    """The label sets of all rows, each half decided by the rule that learned from the other."""
    (first, one), (second, two) = halves
    sets = [
        node_sets(learned.fit(name), judged.scores, judged.taxonomy)
        for learned, judged in ((two, one), (one, two))
    ]
    back = np.argsort(np.concatenate([first, second]))
    return sp.vstack(sets, format="csr")[back]


def _note(problem: _Problem, name: str) -> str:
    half = problem.scores.shape[0] // 2
    kept = affordable_rows(name, problem.taxonomy, half, problem.seed)
    return "" if kept is None else f"learned from {kept.size:,} of {half:,} rows"


def _line(taxonomy: Taxonomy, record: dict[str, Any]) -> dict[str, Any]:
    values = counts.measure(taxonomy, record)
    return {"rule": record["rule"], **values, "chosen": False, "note": record["note"]}


def _why(table: list[dict[str, Any]], chosen: dict[str, Any], metric: str) -> str:
    """A sentence that names the choice, its value, and the next best."""
    name, word = chosen["rule"], WORDS[metric]
    others = sorted((x for x in table if x is not chosen), key=lambda line: -line[metric])
    shown = ", ".join(f"{line['rule']} {_short(line[metric])}" for line in others[:3])
    beaten = f" ({shown})" if shown else ""
    if others and others[0][metric] > chosen[metric]:
        return (
            f"{name}: {word} {_short(chosen[metric])} on held-out scores, as good as the best "
            f"and simpler{beaten}"
        )
    return f"{name}: best {word} {_short(chosen[metric])} on held-out scores{beaten}"


def _short(value: float) -> str:
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text
