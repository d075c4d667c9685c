"""The best of some candidates on held-out rows of the data itself.

All are fitted along C on the first split, and judged with every rule that suits. Where there are
more splits the best three, of two kinds at least, go through these too. What counts is the
hierarchical F1 over all held-out rows, a row left empty being counted as a wrong answer
(`answered_f1`); of settings as good, to a thousandth, the one that comes first is taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.rules import TIE
from linnaeus.errors import UserError
from linnaeus.metrics.counts import add, measure
from linnaeus.model.candidates import Candidate, Plan, Size, candidates, plan, variants
from linnaeus.model.choice import MethodChoice
from linnaeus.model.judging import RulesToJudge, judged_path, quiet_convergence
from linnaeus.model.methods import INFO, OWN, make, setting_text
from linnaeus.splits import Split
from linnaeus.taxonomy import Taxonomy

METRIC = "answered_f1"
RULES = ("argmax", "zero", "rcut", "common", "scut", "instance", "consistent")  # quick to judge
FEWEST = 30  # rows from which on methods are tried on some of them
FINALISTS = 3
OVERRUN, GRACE = 4.0, 120.0  # times the budget, and seconds that compiling may take
LEAST_SAID = 0.0005  # a margin that rounds to more than 0
KEPT = ("hierarchical_f1", "answered_f1", "micro_f1", "labels_per_row")


class MethodSetting(NamedTuple):
    """A method with all its parameters."""

    method: str
    parameters: dict[str, Any]

    def __str__(self) -> str:
        return setting_text(self.method, self.parameters)


class Found(NamedTuple):
    """What was chosen and why, and all that was tried."""

    choice: MethodChoice
    told: dict[str, Any]  # for `Model.about`; nothing where nothing was to be tried


class Trial(NamedTuple):
    """What all candidates are tried on."""

    X: Any
    y: Any
    taxonomy: Taxonomy
    splits: Sequence[Split]
    several: bool
    rule: str
    seed: int
    jobs: int

    def size(self) -> Size:
        """The counts that work depends on."""
        n, d = self.X.shape
        values = self.X.nnz if sp.issparse(self.X) else n * d
        tax, own = self.taxonomy, self.taxonomy.most_specific(self.taxonomy.encode(self.y))
        classes = tax.class_numbers(own.indices).size
        return Size(n, values, d, classes, len(tax), self.several, tax.is_tree)

    def rules(self, method: str, parameters: dict[str, Any]) -> RulesToJudge:
        """The rules that a method is judged with."""
        if not self.several or self.rule == OWN:
            return RulesToJudge((), True, self.seed)
        if self.rule != "auto":
            return RulesToJudge((self.rule,), False, self.seed)
        closed = parameters.get("classes") == "nodes" or method == "hrls"
        names = tuple(name for name in RULES if closed or name != "consistent")
        return RulesToJudge(names, INFO[method].decides, self.seed)

    def run(
        self, method: str, parameters: dict[str, Any], Cs: Sequence[float | None], fold: int
    ) -> list[tuple[MethodSetting, dict[str, Any]]]:
        """Every setting of a path with its counts by rule, on one split."""
        estimator = make(method, self.taxonomy, parameters, self.seed, self.jobs)
        rules = self.rules(method, parameters)
        path = judged_path(estimator, self.X, self.y, self.taxonomy, self.splits[fold], Cs, rules)
        return [
            (
                MethodSetting(method, parameters if f.C is None else {**parameters, "C": f.C}),
                f.counts,
            )
            for f in path
        ]


class _Tried:
    """The counts of settings, split by split."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        self._counts: list[tuple[MethodSetting, list[dict[str, Any]]]] = []

    def add(self, setting: MethodSetting, counts: dict[str, Any]) -> None:
        for known, folds in self._counts:
            if known == setting:
                folds.append(counts)
                return
        self._counts.append((setting, [counts]))

    def rows(self) -> list[dict[str, Any]]:
        """A row per setting with its best rule: those on all splits first, the best first."""
        rows = [self._row(setting, folds) for setting, folds in self._counts]
        return sorted(rows, key=lambda row: (-row["splits"], -row[METRIC]))

    def _row(self, setting: MethodSetting, folds: list[dict[str, Any]]) -> dict[str, Any]:
        common = [name for name in folds[0] if all(name in fold for fold in folds)]
        sums = {name: add([fold[name] for fold in folds]) for name in common}
        values = {name: measure(self.taxonomy, record) for name, record in sums.items()}
        best = max(values, key=lambda name: values[name][METRIC])
        return {
            **setting._asdict(), "rule": best, "splits": len(folds),
            **{key: values[best][key] for key in KEPT}, "empty_rows": sums[best]["empty"],
        }  # fmt: skip


def best_method(
    trial: Trial, recommended: MethodChoice, fixed: Mapping[str, Any], standard: bool,
    budget: float, step: Callable[[str, int, int], None],
) -> Found:  # fmt: skip
    """The method that is best on held-out rows, as far as the budget goes; else the recommended."""
    first = Candidate(recommended.method, recommended.parameters, (None,))
    return _found(
        trial, recommended, candidates(trial.size(), first, fixed, standard), budget, step
    )


def best_variant(
    trial: Trial, found: Found, fixed: Mapping[str, Any], budget: float,
    step: Callable[[str, int, int], None],
) -> Found:  # fmt: skip
    """The same method with the one of its priors that is best on held-out rows.

    What is told of how the method was found stays the story of the search.
    """
    chosen, before = found
    wanted = variants(Candidate(chosen.method, chosen.parameters, (None,)), fixed)
    if not wanted:
        return found
    left = max(0.0, budget - before.get("planned_seconds", 0.0))
    choice, told = _found(trial, chosen, wanted, left, step)
    if choice is not chosen and told.get("tried"):
        choice = choice._replace(why=f"{chosen.why}; its prior is the {choice.why}")
    return Found(choice, before or told)


def _found(
    trial: Trial, recommended: MethodChoice, wanted: list[Candidate], budget: float,
    step: Callable[[str, int, int], None],
) -> Found:  # fmt: skip
    """The best of what is wanted, as far as the budget goes; else the recommended."""
    size = trial.size()
    if not budget or size.rows < FEWEST:
        return Found(recommended, {})
    todo = plan(wanted, size, budget, len(trial.splits))
    left_out = {str(c): "over the budget" for c in wanted[len(todo.candidates) :]}
    told: dict[str, Any] = {
        "budget": budget, "planned_seconds": round(todo.seconds, 3), "splits": todo.folds,
        "share_of_rows": todo.share, "left_out": left_out, "cut": False, "tried": [],
        "runner_up": None, "margin": None,
    }  # fmt: skip
    trial = trial._replace(splits=thinned(trial.splits[: todo.folds], todo.share, trial.seed))
    table, told["cut"] = _search(todo, trial, budget, step, left_out)
    if not table:
        none = "none could be fitted" if todo.candidates else f"{budget:g} s are too few for that"
        why = f"{recommended.why}; nothing was tried on your data: {none}"
        return Found(recommended._replace(why=why), told)
    best = _best(table, [c._asdict() for c in todo.candidates])
    other = next((row for row in table if not _alike(row, best)), None)
    if other is not None:
        told["runner_up"] = str(MethodSetting(other["method"], other["parameters"]))
        told["margin"] = best[METRIC] - other[METRIC]
    told["tried"] = table
    return Found(MethodChoice(best["method"], best["parameters"], _why(best, told)), told)


def _search(
    todo: Plan, trial: Trial, budget: float, step: Callable[[str, int, int], None],
    left_out: dict[str, str],
) -> tuple[list[dict[str, Any]], bool]:  # fmt: skip
    """All settings that were tried, the best first; and whether it took so long that it was cut."""
    limit = time.process_time() + OVERRUN * budget + GRACE
    tried, cut, n = _Tried(trial.taxonomy), False, len(todo.candidates)
    total = n + FINALISTS * (len(trial.splits) - 1)
    with quiet_convergence():
        for done, candidate in enumerate(todo.candidates):
            if cut := done > 0 and time.process_time() > limit:
                left_out |= {str(c): "the search took too long" for c in todo.candidates[done:]}
                break
            step(f"try {candidate.method}", done, total)
            try:
                for setting, counts in trial.run(*candidate, 0):
                    tried.add(setting, counts)
            except (UserError, ValueError) as error:  # what cannot learn from so few rows
                left_out[str(candidate)] = str(error)
        if not cut:
            cut = _finals(trial, tried, limit, lambda what, k: step(what, n + k, total))
    return tried.rows(), cut


def _finals(trial: Trial, tried: _Tried, limit: float, step: Callable[[str, int], None]) -> bool:
    """The best settings on the other splits; whether this was cut short."""
    rest = range(1, len(trial.splits))
    for place, row in enumerate(_finalists(tried.rows()) if rest else []):
        for fold in rest:
            if time.process_time() > limit:
                return True
            setting = MethodSetting(row["method"], row["parameters"])
            step(f"try {row['method']} again", place * len(rest) + fold - 1)
            for _, counts in trial.run(*setting, (None,), fold):
                tried.add(setting, counts)
    return False


def _finalists(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best settings, one of them of another kind than the first."""
    chosen = rows[: FINALISTS - 1]
    rest = [row for row in rows if row not in chosen]
    if all(_alike(row, chosen[0]) for row in chosen):
        rest.sort(key=lambda row: _alike(row, chosen[0]))  # stable: others first
    return chosen + rest[:1]


def _best(table: list[dict[str, Any]], order: list[dict[str, Any]]) -> dict[str, Any]:
    """The best of the settings on all splits; of equals the one whose candidate comes first."""
    finals = [row for row in table if row["splits"] == table[0]["splits"]]
    near = [row for row in finals if row[METRIC] >= (1 - TIE) * finals[0][METRIC]]

    return min(near, key=lambda row: [_alike(row, c) for c in order].index(True))


def _why(best: dict[str, Any], told: dict[str, Any]) -> str:
    """A sentence that names the figures, the runner-up and the margin."""
    f1 = _short(best["hierarchical_f1"])
    said = (
        f"best of {len(told['tried'])} settings on held-out rows of your data: hierarchical F1 {f1}"
    )
    if best["empty_rows"]:
        said += f", {best['empty_rows']:,} rows left empty"
    if told["runner_up"] is not None:
        ahead = f"{_short(told['margin'])} behind" if told["margin"] >= LEAST_SAID else "as good"
        said += f"; next {told['runner_up']}, {ahead}"
    return said + ("; the search took too long and was cut short" if told["cut"] else "")


def _alike(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two settings differ in C at most."""
    a, b = ({k: v for k, v in r["parameters"].items() if k != "C"} for r in (row, other))
    return bool(row["method"] == other["method"] and a == b)


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def thinned(splits: Sequence[Split], share: float, seed: int) -> list[Split]:
    """The same share of the rows on both sides of every split."""
    if share >= 1:
        return list(splits)
    rng = np.random.default_rng(seed)

    def some(rows: np.ndarray) -> np.ndarray:
        n = max(1, int(share * rows.size))
        return np.sort(rng.choice(rows, n, replace=False))

    return [(some(train), some(test)) for train, test in splits]
