"""Tables VI and VII of [GopalYang2015]: HBLR by partial MAP, variationally and flat.

Both are views of the same runs, a model on a collection each.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

from linnaeus.model import make
from studies import gopal_views as views
from studies.figures_gopal import BAYES, NAMES
from studies.gopal_data import intercept_of
from studies.gopal_runs import FOLDS, WHY, measured, problem_of
from studies.gopal_tests import pairs_of
from studies.results import Outcome
from studies.tables import Context, Outcomes, Table, Unit

MODELS = ("M1", "M2", "M3")
DRAWS = 200  # kept draws of each chain of CorrelatedMNL: a short run, some 10 CPU minutes
ONE_LABEL = ("ImCLEF07A", "news20", "lshtc-small-val")


def _bayes(context: Context, collection: str, kind: str, row: str) -> Outcome:
    """One of the Bayesian models with its plain prior."""
    problem = problem_of(context, collection)
    paper = BAYES[NAMES[collection]].get(kind)
    model = make(*_made(collection, kind), seed=context.seed, jobs=context.jobs)
    model.set_params(taxonomy=problem.taxonomy)
    return measured(model, problem, context, FOLDS, paper, row)


def _made(collection: str, kind: str) -> tuple[str, None, dict[str, Any]]:
    """Method and parameters by the paper's name: M1-var, say."""
    intercept = intercept_of(collection)
    if kind == "corrMNL":
        return "corrmnl", None, {"n_burn_in": DRAWS // 2, "n_samples": DRAWS} | intercept
    model, _, how = kind.partition("-")
    inference = "variational" if how == "var" else how
    tol = 1e-2 if how == "var" else 1e-4
    return "hblr", None, {"model": model, "inference": inference, "tol": tol} | intercept


def _bayes_unit(collection: str, kind: str) -> Unit:
    name = views.unit_name(collection, kind)
    run = partial(_bayes, collection=collection, kind=kind, row=name)
    return Unit(name, (collection,), run, {"parameters": _made(collection, kind)[2]})


_KINDS = [(c, f"{m}-map") for c in ONE_LABEL for m in MODELS]
_CLEF = [("ImCLEF07A", f"{m}-{how}") for how, m in product(("flat", "var"), MODELS)]
HIERARCHICAL = [(f"{m}-{how}", f"{m}-flat") for how, m in product(("map", "var"), MODELS)]


def _bayes_tests(outcomes: Outcomes) -> list[dict[str, Any]]:
    """M3 against M1 and M2, M1 against M2; hierarchical priors against flat ones."""
    found = []
    for collection, (a, b) in product(ONE_LABEL, (("M3", "M1"), ("M3", "M2"), ("M1", "M2"))):
        name = partial(views.unit_name, collection)
        found += pairs_of(outcomes, [(name(f"{a}-map"), name(f"{b}-map"))], "gopal-6")
    name = partial(views.unit_name, "ImCLEF07A")
    return found + pairs_of(outcomes, [(name(a), name(b)) for a, b in HIERARCHICAL], "gopal-7")


_PRIORS = (
    "Hyper-parameters by Fisher information from the training part, nothing is tuned. Features and "
    "intercepts as for Table II. Tests: sign test (micro F1), Wilcoxon's test over classes (macro "
    "F1). ± by bootstrap over test rows."
)

TABLE_6 = Table(
    name="gopal-6",
    title="HBLR: the three models by partial MAP",
    source="[GopalYang2015] Table VI",
    protocol=_PRIORS,
    unit_of_figures="F1 in %",
    digits=2,
    units=tuple(_bayes_unit(c, kind) for c, kind in [*_KINDS, *_CLEF, ("ImCLEF07A", "corrMNL")]),
    why=WHY,
    minutes=20.0,
    tests_of=_bayes_tests,
    view=partial(
        views.figures, collections=ONE_LABEL, methods=tuple(f"{m}-map" for m in MODELS), paper=BAYES
    ),
)

TABLE_7 = Table(
    name="gopal-7",
    title="HBLR on CLEF: hierarchical priors against flat ones, variational against MAP",
    source="[GopalYang2015] Table VII",
    protocol=f"{_PRIORS} Variational inference to a relative change of the bound of 1 %. corrMNL: "
    f"{DRAWS // 2} draws of every chain dropped and {DRAWS} kept; the paper made 2,500.",
    unit_of_figures="F1 in %",
    digits=2,
    units=(),
    why="The same rows as the paper's. Variational M1 and M3 fall short of partial MAP and of the "
    "paper because the bound of the softmax lies several nats an example below the likelihood for "
    "63 classes; docs/maths/hblr.md has the measurements, with more sweeps and a tighter bound.",
    minutes=0.0,
    of="gopal-6",
    view=partial(
        views.figures,
        collections=("ImCLEF07A",),
        methods=("corrMNL", *(f"{m}-{how}" for how in ("var", "map", "flat") for m in MODELS)),
        paper=BAYES,
    ),
)

TABLES = (TABLE_6, TABLE_7)
