"""The label-set protocol of [GopalYang2015] beside its Tables II to IV, a record per collection.

C is chosen from 0.001 to 1,000 by cross-validation on the training part; where rows have several
labels, each has a threshold of its own, learnt from out-of-fold scores.
`linnaeus.reproduction.gopal_data` tells what ``rcv1-30k`` and ``rcv1-30k-closed`` are.

Looks for the folder ``shared/data`` beside the checkout, or the one that COLLECTIONS names. With
commas, COLLECTION_NAMES and PROTOCOL_METHODS choose some, and PROTOCOL_CS other values of C; FOLDS
shortens a trial run. Results go to ``results/protocol_<collection>.json`` after every method; those
of methods that are not run again are kept.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import recording
from linnaeus.experiments import BaselineTest, LabelSetResult, LabelSetStudy, label_set_study
from linnaeus.methods import table_methods
from linnaeus.metrics.display import daggers
from linnaeus.reproduction import figures_gopal as gopal_paper
from linnaeus.reproduction.choosing import BASELINES, CS, label_set_methods
from linnaeus.reproduction.gopal_data import load

COLUMNS = (
    "method", "micro F1", "±", "macro F1", "± ", "hier. F1", "hier. macro", "paper micro",
    "paper macro", "C", "CPU s, C", "CPU s, fit", "paper min", "against: micro/macro", "note",
)  # fmt: skip
VARIABLES = ("PROTOCOL_METHODS", "PROTOCOL_CS", "FOLDS")


def run(root: Path, name: str) -> None:
    tax, X, y, X_test, truth = load(root, name)
    methods = os.environ.get("PROTOCOL_METHODS", ",".join(table_methods())).split(",")
    given = os.environ.get("PROTOCOL_CS", "")
    Cs = tuple(map(float, given.split(","))) if given else CS
    folds = int(os.environ.get("FOLDS", "5"))
    outcomes: dict[str, LabelSetResult] = {}
    for method, entry in label_set_methods(methods, tax, Cs, folds).items():
        study = label_set_study({method: entry}, X, y, X_test, truth, tax, cv=folds)
        outcomes |= study.results
        publish(name, LabelSetStudy(outcomes, BASELINES), Cs, folds)


def publish(name: str, study: LabelSetStudy, Cs: tuple[float, ...], folds: int) -> None:
    """The rows of a study beside those that are stored already."""
    paper = gopal_paper.FIGURES[gopal_paper.NAMES[name]]
    rows = stored(name) | {
        method: row(method, outcome, paper, [t for t in study.tests if t.method == method])
        for method, outcome in study.results.items()
    }
    given = " ".join(f"{key}={os.environ[key]}" for key in VARIABLES if key in os.environ)
    recording.publish(
        f"protocol_{name}", f"{name} beside {gopal_paper.NAMES[name]} of [GopalYang2015], in %",
        COLUMNS, [rows[m] for m in table_methods() if m in rows],
        needs=f"COLLECTION_NAMES={name} {given}".strip(), benchmark="protocol",
        notes=f"C of {', '.join(f'{C:g}' for C in Cs)} by {folds} folds. ± is the bootstrap "
        "standard error. † p < 5 %, †† p < 1 % (sign test, Wilcoxon's test). CPU s, fit: the "
        "classifier and, for several labels, its threshold. Other documents than the paper's.",
    )  # fmt: skip


def stored(name: str) -> dict[str, list[Any]]:
    """{method: row} of an earlier run."""
    path = recording.RESULTS / f"protocol_{name}.json"
    if not path.exists():
        return {}
    record = json.loads(path.read_text(encoding="utf-8"))
    return {row[0]: row for row in record["rows"]} if record["columns"] == list(COLUMNS) else {}


def row(
    method: str,
    out: LabelSetResult,
    paper: Mapping[str, tuple[float, ...]],
    tests: list[BaselineTest],
) -> list[Any]:
    """One method: ours and the paper's figures in %."""
    micro, macro, minutes = paper.get(method, (None, None, None))
    if out.report is None:
        note = out.error or f"NA: {out.not_applicable}"
        return [method, *[None] * 6, micro, macro, *[None] * 3, minutes, "", note]
    value = {key: 100 * figure for key, figure in out.figures.items()}
    spread = (None, None) if out.spread is None else tuple(100 * s for s in out.spread)
    return [
        method, value["micro_f1"], spread[0], value["macro_f1"], spread[1],
        value["hierarchical_f1"], value["hierarchical_macro_f1"], micro, macro, out.C,
        out.choose_seconds, out.fit_seconds, minutes, "; ".join(map(marks, tests)), "",
    ]  # fmt: skip


def marks(test: BaselineTest) -> str:
    """The baseline, and for micro and macro F1 the direction with daggers; 0 for chance."""
    cells = [
        f"{'+' if difference > 0 else '-'}{daggers(p).strip()}" if p < 0.05 else "0"
        for difference, p in (
            (test.micro_difference, test.micro.pvalue),
            (test.macro_difference, test.macro.pvalue),
        )
    ]
    return f"{test.baseline} {'/'.join(cells)}"


def main() -> None:
    warnings.simplefilter("ignore")
    here = Path(__file__).resolve().parent
    root = Path(os.environ.get("COLLECTIONS", here.parent.parent / "shared" / "data"))
    if not root.is_dir():
        print(f"There is no folder {root}: nothing to measure.", file=sys.stderr)
        return
    for name in os.environ.get("COLLECTION_NAMES", ",".join(gopal_paper.NAMES)).split(","):
        run(root, name)


if __name__ == "__main__":
    main()
