"""Tables 1 to 3 and the learning curves of [Rousu2006] on rcv1-ccat and enzyme."""

from __future__ import annotations

from functools import partial
from typing import Any

from studies import figures_rousu as paper
from studies import rousu_curves as curves
from studies.paired import paired_tests
from studies.results import Cell
from studies.rousu_data import TOL
from studies.rousu_studies import BLOCKS, DRAWS, PARTS, run_method
from studies.tables import Outcomes, Table, Unit

BASELINES = ("SVM", "H-SVM", "H-RLS")
MARKOV = ("H-M3, delta", "H-M3, subtree")


def _unit(
    collection: str, method: str, row: str, columns: tuple[str, ...], published: tuple[float, ...]
) -> Unit:
    run = partial(
        run_method, collection=collection, method=method, row=row, columns=columns,
        published=published,
    )  # fmt: skip
    settings: dict[str, Any] = {"method": method, "blocks": f"{BLOCKS}, drawn", "draws": DRAWS}
    if method.startswith("H-M3"):
        settings["tol"] = TOL[collection]
    return Unit(row, (collection,), run, settings)


def level_view(outcomes: Outcomes) -> list[Cell]:
    """Table 3: precision, recall and F1 level by level."""
    found = []
    for collection, methods in paper.LEVELS.items():
        for method, published in methods.items():
            row = f"{collection}, {method}"
            if row not in outcomes:
                continue
            facts = outcomes[row].facts
            for k, figures in enumerate(published):
                for j, part in enumerate(PARTS):
                    ours, error = facts["levels"][k][j], facts["level_errors"][k][j]
                    found.append(Cell(row, f"level {k}, {part}", ours, error, figures[j]))
    return found


def loss_tests(outcomes: Outcomes) -> list[dict[str, Any]]:
    """Every other training loss against delta."""
    others = [f"H-M3, {loss}" for loss in paper.LOSSES if loss != "delta"]
    return paired_tests(outcomes, [(other, "H-M3, delta") for other in others])


def method_tests(outcomes: Outcomes) -> list[dict[str, Any]]:
    """H-M3 against the others, and with one loss against the other."""
    pairs = [(m, b) for m in MARKOV for b in BASELINES] + [(MARKOV[1], MARKOV[0])]
    return paired_tests(outcomes, pairs)


_DATA = (
    "Other documents and sequences of the same shape: rcv1-ccat has 2,500 and 5,000 stories like "
    "the paper, but others, as stems without stop words; enzyme has 6,239 training sequences that "
    "share little with each other, where the paper has 7,700."
)
_ENZYME = (
    " The paper's 0/1 and delta of ENZYME do not fit its own precision and recall: these imply a "
    "delta of 1.48, 1.47, 2.39, 1.44 and 2.92. By its recalls a protein of the paper has some 2.5 "
    "labels with the root, one of ours has 4, so the root, always found, counts for more there: "
    "the levels of Table 3 can be compared, pooled recall cannot."
)
_PROTOCOL = (
    "Train on the training part with C = 1, as in the paper, judge by the test part. H-M3 is "
    "solved to a duality gap of 1 % (enzyme: 5 %). P, R and F1 are over all nodes, enzyme with its "
    f"root. ± of losses over {BLOCKS} random blocks of test rows, of P, R and F1 by bootstrap."
)

TABLES = (
    Table(
        name="rousu-1",
        title="H-M3 trained for one loss, measured with all, on rcv1-ccat",
        source="[Rousu2006] Table 1",
        protocol=f"{_PROTOCOL} Tests against delta: paired permutation over the blocks.",
        unit_of_figures="mean losses; 0/1 in %",
        digits=3,
        units=tuple(
            _unit("rcv1-ccat", f"H-M3, {loss}", loss, paper.COLUMNS_1, figures)
            for loss, figures in paper.LOSSES.items()
        ),
        why=_DATA,
        minutes=0.1,
        tests_of=loss_tests,
    ),
    Table(
        name="rousu-2",
        title="H-M3 and other methods, pooled over all nodes",
        source="[Rousu2006] Table 2",
        protocol=f"{_PROTOCOL} Tests of H-M3 against the others: paired permutation over the "
        "blocks.",
        unit_of_figures="%; delta in labels a row",
        digits=2,
        units=tuple(
            _unit(collection, method, f"{collection}, {method}", paper.COLUMNS_2, figures)
            for collection, methods in paper.POOLED.items()
            for method, figures in methods.items()
        ),
        why=_DATA + _ENZYME,
        minutes=1.0,
        tests_of=method_tests,
    ),
    Table(
        name="rousu-3",
        title="Precision, recall and F1 by level",
        source="[Rousu2006] Table 3",
        protocol=_PROTOCOL,
        unit_of_figures="%",
        digits=1,
        units=(),
        why=_DATA,
        minutes=0.0,
        of="rousu-2",
        view=level_view,
    ),
    *curves.TABLES,
)
