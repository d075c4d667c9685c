"""``python -m docs.compatibility``: what works with scikit-learn's meta-estimators and scorers.

Runs every estimator and decision, with a taxonomy, inside every meta-estimator and with every
scorer, on labels whose order in the taxonomy is not that of the alphabet, and writes the tables
between the two markers of docs/pages/compatibility.md. What fails says so in the words of its
error.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import linnaeus
from linnaeus import FlatLogistic, Taxonomy, decisions

PAGE = Path(__file__).resolve().parent / "pages" / "compatibility.md"
MARKS = ("<!-- tables: made by python -m docs.compatibility -->", "<!-- end of tables -->")
TREE = Taxonomy.from_edges([("z", "q"), ("z", "b"), ("y", "c"), ("y", "a")])
FEW = {"CorrelatedMNL": {"n_burn_in": 20, "n_samples": 20}}
RULES = ("Argmax", "ClosedArgmax", "InstanceCut", "RCut", "SCut", "SetSize", "Threshold",
         "TopDownConsistent")  # fmt: skip


class Rows(NamedTuple):
    """Examples of one label each, and of label sets."""

    X: np.ndarray
    one: np.ndarray
    sets: np.ndarray


def rows(n: int = 60) -> Rows:
    """Four clusters; a label set is a label and that of the row before, with all above them."""
    rng = np.random.default_rng(0)
    number = np.arange(n) % 4
    X = 2 * rng.normal(size=(4, 5))[number] + rng.normal(size=(n, 5))
    one = np.array(["a", "b", "c", "q"])[number]
    pairs = [list(pair) for pair in zip(one.tolist(), np.roll(one, 1).tolist(), strict=True)]
    return Rows(X, one, TREE.closure(TREE.encode(pairs)).toarray())


# -- who is tried with whom ----------------------------------------------------------------------


def estimators() -> dict[str, Any]:
    """Every estimator and decision by its name, with the taxonomy."""
    found: dict[str, Any] = {}
    for name in linnaeus.__all__:
        kind = getattr(linnaeus, name)
        if isinstance(kind, type) and hasattr(kind, "fit") and name != "Blend":
            found[name] = _seeded(kind(taxonomy=TREE, **FEW.get(name, {})))
    for name in RULES:
        inner = FlatLogistic(TREE, random_state=0)
        found[name] = _seeded(getattr(decisions, name)(inner, TREE))
    return found


def _seeded(estimator: Any) -> Any:
    known = "random_state" in estimator.get_params(deep=False)
    return estimator.set_params(random_state=0) if known else estimator


def _likely(model: Any) -> str:
    return "predict_proba" if hasattr(model, "predict_proba") else "decision_function"


def _grid(model: Any) -> dict[str, list[Any]]:
    """A parameter with two values."""
    known = model.get_params()
    for name in ("C", "a", "max_iter", "threshold", "estimator__C"):
        if name in known and known[name] is not None:
            return {name: [known[name], 2 * known[name] or 0.5]}
    return {}


META: dict[str, Callable[[Any, Rows], Any]] = {
    "cross_val_predict": lambda m, r: cross_val_predict(m, r.X, r.one, cv=2, method=_likely(m)),
    "GridSearchCV": lambda m, r: GridSearchCV(m, _grid(m), cv=2).fit(r.X, r.one).predict(r.X),
    "Pipeline": lambda m, r: make_pipeline(MaxAbsScaler(), m).fit(r.X, r.one).predict(r.X),
    "CalibratedClassifierCV": lambda m, r: (
        CalibratedClassifierCV(m, cv=2).fit(r.X, r.one).predict_proba(r.X)
    ),
    "VotingClassifier": lambda m, r: VotingClassifier([("m", m)]).fit(r.X, r.one).predict(r.X),
    "StackingClassifier": lambda m, r: (
        StackingClassifier([("m", m)], cv=2).fit(r.X, r.one).predict(r.X)
    ),
    "BaggingClassifier": lambda m, r: (
        BaggingClassifier(m, 2, random_state=0).fit(r.X, r.one).predict(r.X)
    ),
    "OneVsRestClassifier": lambda m, r: OneVsRestClassifier(m).fit(r.X, r.one).predict(r.X),
    "MultiOutputClassifier": lambda m, r: MultiOutputClassifier(m).fit(r.X, r.sets).predict(r.X),
    "ClassifierChain": lambda m, r: ClassifierChain(m).fit(r.X, r.sets).predict(r.X),
}


# -- trying ----------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """Whether something worked, and what was said."""

    works: bool
    said: str


def tried(run: Callable[[], Any]) -> Outcome:
    """What comes of a call: a warning of ours, or the first sentences of its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run()
        except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
            return Outcome(False, _sentence(str(error)))
    ours = [
        w for w in caught if issubclass(w.category, UserWarning) and "stand for" in str(w.message)
    ]
    return Outcome(True, _sentence(str(ours[0].message)) if ours else "")


def _sentence(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().replace("|", "/")[:300]


def scored(model: Any, X: np.ndarray, y: np.ndarray) -> list[str]:
    """The names of the scorers that give a number."""
    found = []
    for name in get_scorer_names():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if np.isfinite(get_scorer(name)(model, X, y)):
                    found.append(name)
            except (ValueError, TypeError, AttributeError):
                continue
    return found


# -- the page --------------------------------------------------------------------------------------


def meta_table(data: Rows) -> str:
    """Estimators against meta-estimators; numbers stand for what was said."""
    said: dict[str, int] = {}
    lines = [_row(["", *META]), _row(["---", *[":---:"] * len(META)])]
    for name, model in estimators().items():
        cells = []
        for run in META.values():
            found = tried(lambda run=run, model=model: run(model, data))  # type: ignore[misc]
            note = f" ({said.setdefault(found.said, len(said) + 1)})" if found.said else ""
            cells.append(("yes" if found.works else "no") + note)
        lines.append(_row([f"`{name}`", *cells]))
    notes = [f"{number}. {text}" for text, number in said.items()]
    return "\n".join([*lines, "", *notes])


def scorer_table(data: Rows) -> str:
    """How many scorers apply to each estimator, and which."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, model in estimators().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = scored(model.fit(data.X, data.one), data.X, data.one)
            takes = model.__sklearn_tags__().classifier_tags.multi_label
            sets = scored(model.fit(data.X, data.sets), data.X, data.sets) if takes else []
        for what, names in (("one label a row", one), ("an indicator", sets)):
            if names:
                groups.setdefault((what, *names), []).append(f"`{name}`")
    lines = [_row(["labels", "estimators", "scorers that apply"]), _row(["---", "---", "---"])]
    for (what, *names), members in groups.items():
        lines.append(_row([what, ", ".join(members), f"{len(names)}: {', '.join(names)}"]))
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def filled(page: str, made: str) -> str:
    """A page with a new text between the markers."""
    begin, end = map(re.escape, MARKS)
    return re.sub(
        f"({begin}\n).*?({end})", lambda match: f"{match[1]}{made}\n{match[2]}", page, flags=re.S
    )


def main() -> None:
    data = rows()
    made = f"{meta_table(data)}\n\n## Scorers\n\n{scorer_table(data)}"
    PAGE.write_text(filled(PAGE.read_text("utf-8"), made), encoding="utf-8")
    print(f"wrote the tables into {PAGE.name}")


if __name__ == "__main__":
    main()
