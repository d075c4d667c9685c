"""Tables 7.5, 7.10, 7.13, 7.15, 7.18 to 7.21 and 7.24 of [Cai2008], and ImCLEF07A in their layout.

A unit is a method under a condition. Tests between methods are paired permutation tests over
folds, draws, or blocks of test rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from studies import figures_cai as paper
from studies.cai_studies import (
    BLOCKS,
    DRAWS,
    EPOCHS,
    FEW_DRAWS,
    FOLDS,
    RANDOM,
    REPETITIONS,
)
from studies.cai_units import (
    HALF,
    only,
    ratio_suffix,
    synthetic_units,
    tests,
    units_of,
    view,
)
from studies.figures_cai import Figures
from studies.tables import Table, Unit

SHUFFLED = ", shuffled"
IN_ORDER = {"shuffle": False}  # posts group by group
BY_FAMILY = ", by family"
FEWER = {f", {n} epoch{'s' * (n > 1)}": {**IN_ORDER, "max_iter": n} for n in (1, 2, 5, 10)}
RATIOS = (HALF, 0.25, 0.7)  # the others show what hangs on it
WAYS: dict[str, dict[str, Any]] = {"": IN_ORDER, SHUFFLED: {}}  # of showing posts to a Perceptron
NEWS = (
    "The posts are those of the 20 newsgroups divided by date, 13,893 in these 15 groups where the "
    "thesis has 15,000 with cross-posts; words and stop words are our own. Header lines are left "
    "out: that comes nearest to the 158 words a post of the thesis; with them the accuracies of "
    "SVMs are one to three points higher, further from the thesis."
)
PASSES = (
    f"{EPOCHS} epochs; posts in the order of their groups, as the thesis says nothing of "
    "shuffling, and, for comparison, shuffled in every epoch."
)
ORDER = (
    " The thesis is far lower with all posts, above all online, and does not say in which order "
    "posts come; cai-orders looks into that."
)
SEARCH = (
    "Made to look for the reason after cai-7.20 and cai-7.21 had been seen: it can suggest one, "
    "and confirms nothing; no claim is judged by it. The thesis has 20 epochs and gives no order. "
    "Figures move by tens of points with the number of epochs, and whether a hierarchy helps "
    "changes with it; online it also depends on the order of the groups. Of these settings 5 "
    "epochs come nearest to the thesis, but none gives all of its figures."
)
DRAWN = (
    f"t = 1, 5, ...: so many training posts per group, tested on all others, {REPETITIONS} draws; "
    f"all: {FOLDS} folds. ± is the standard error over draws or folds. Tests: paired permutation "
    "over draws or folds."
)
COST = "C = 1, as in the thesis."
BLOCKED = (
    f"± is the standard error over {BLOCKS} random blocks of test rows. Tests: paired permutation "
    "over these blocks."
)
PERCENT = "%, losses in edges"
SVM = [("H-SVM", "F-SVM")]
DNC = [*SVM, ("H-SVM", "DNC-SVM"), ("F-SVM", "DNC-SVM")]
RAND_SVM = [*SVM, *(("H-SVM", f"H-SVM rand{k}") for k in range(1, RANDOM + 1))]
RAND_DNC = [DNC[-1], *(("DNC-SVM", f"DNC-SVM rand{k}") for k in range(1, RANDOM + 1))]
AVERAGED = [("HaPERC", "FaPERC"), ("HaHieron", "FaHieron"), ("HaPERC", "HaHieron")]
ONLINE = [("HoPERC", "FoPERC"), ("HoHieron", "FoHieron"), ("HoPERC", "HoHieron")]
LEARNT = [("HaPERCa", "FaPERC")]
EVERY_POST: Figures = {"all": paper.NEWS_AVERAGED["all"] | paper.NEWS_ONLINE["all"]}
IMAGES: Figures = {"ImCLEF07A": {m: {} for m in ("F-SVM", "H-SVM", "DNC-SVM", "FaPERC", "HaPERC")}}


def news_units(figures: Figures, ways: Mapping[str, dict[str, Any]]) -> tuple[Unit, ...]:
    """All methods and conditions of a table on newsgroups, in each of some ways."""
    return tuple(
        unit
        for suffix, options in ways.items()
        for unit in units_of(figures, "newsgroups", "news20", options, suffix)
    )


TABLES = (
    Table(
        name="cai-7.5",
        title="Flat and hierarchical SVM on synthetic data",
        source="[Cai2008] Table 7.5",
        protocol=f"{DRAWS} draws of 200 examples in 20 features ({FEW_DRAWS} with other ratios); "
        f"{FOLDS}-fold cross-validation of each, C = 10,000. ± is the deviation between draws, as "
        "the thesis has one. Tests: paired permutation over draws.",
        unit_of_figures=PERCENT,
        digits=2,
        units=tuple(u for ratio in RATIOS for u in synthetic_units(paper.SYNTHETIC, ratio)),
        why="The thesis has one draw, and does not say how fast the variance of the weights falls "
        "from level to level; we halve it. 3 x 3 then agrees. In 6 x 2 accuracy and precision "
        "fall short of the thesis, while the maximal loss is smaller: more labels a row would do "
        "both. A variance that falls more slowly (ratio 0.7) moves every accuracy, precision and "
        "maximal loss towards the thesis, the last not all the way. So the unknown variances are "
        "a likely cause, not a proven one.",
        minutes=18.0,
        tests_of=partial(tests, pairs=SVM),
        view=partial(view, figures=paper.SYNTHETIC, suffixes=tuple(map(ratio_suffix, RATIOS))),
    ),
    Table(
        name="cai-7.10",
        title="Flat and hierarchical SVM on newsgroups",
        source="[Cai2008] Table 7.10",
        protocol=f"{DRAWN} {COST}",
        unit_of_figures=PERCENT,
        digits=3,
        units=news_units(paper.NEWS_SVM, {"": {}})
        + news_units(only(paper.NEWS_DNC, ["DNC-SVM"]), {"": {}}),
        why=NEWS,
        minutes=1.3,
        tests_of=partial(tests, pairs=DNC),
        view=partial(view, figures=paper.NEWS_SVM),
    ),
    Table(
        name="cai-7.15",
        title="Flat, divide-and-conquer and hierarchical SVM on newsgroups",
        source="[Cai2008] Table 7.15",
        protocol=f"{DRAWN} {COST}",
        unit_of_figures="%",
        digits=2,
        units=(),
        why=NEWS,
        minutes=0.0,
        of="cai-7.10",
        view=partial(view, figures=paper.NEWS_DNC),
    ),
    Table(
        name="cai-7.13",
        title="Flat and hierarchical SVM on enzymes",
        source="[Cai2008] Table 7.13",
        protocol="The given division; normalised counts of substrings of length 4, duality gap of "
        f"1 %. {COST} {BLOCKED}",
        unit_of_figures=PERCENT,
        digits=2,
        units=tuple(units_of(paper.ENZYME, "enzyme", "enzyme", {})),
        why="Other proteins: 6,239 sequences that share little with each other, in 170 classes, "
        "where the thesis has 7,700 in 172; some have several classes here. Substrings are "
        "contiguous; the thesis speaks of subsequences and does not say with which gaps.",
        minutes=0.5,
        tests_of=partial(tests, pairs=SVM),
        view=partial(view, figures=paper.ENZYME),
    ),
    Table(
        name="cai-7.18",
        title="Hierarchical SVM with random hierarchies on newsgroups",
        source="[Cai2008] Table 7.18",
        protocol=f"{RANDOM} random hierarchies of the same shape; losses are those of the true "
        f"one. {DRAWN} {COST}",
        unit_of_figures="%",
        digits=2,
        units=news_units(paper.RANDOM_SVM, {"": {}}),
        why=f"{NEWS} The random hierarchies are others.",
        minutes=2.0,
        tests_of=partial(tests, pairs=RAND_SVM),
        view=partial(view, figures=paper.RANDOM_SVM),
    ),
    Table(
        name="cai-7.19",
        title="Divide-and-conquer SVM with random hierarchies on newsgroups",
        source="[Cai2008] Table 7.19",
        protocol=f"The same {RANDOM} random hierarchies as for cai-7.18. {DRAWN} {COST}",
        unit_of_figures="%",
        digits=2,
        units=news_units(paper.RANDOM_DNC, {"": {}}),
        why=f"{NEWS} The random hierarchies are others.",
        minutes=0.3,
        tests_of=partial(tests, pairs=RAND_DNC),
        view=partial(view, figures=paper.RANDOM_DNC),
    ),
    Table(
        name="cai-7.20",
        title="Averaged Hieron and Perceptron on newsgroups",
        source="[Cai2008] Table 7.20",
        protocol=f"{DRAWN} {PASSES}",
        unit_of_figures=PERCENT,
        digits=2,
        units=news_units(paper.NEWS_AVERAGED, WAYS),
        why=NEWS + ORDER,
        minutes=1.7,
        tests_of=partial(tests, pairs=AVERAGED),
        view=partial(view, figures=paper.NEWS_AVERAGED, suffixes=tuple(WAYS)),
    ),
    Table(
        name="cai-7.21",
        title="Online Hieron and Perceptron on newsgroups",
        source="[Cai2008] Table 7.21",
        protocol=f"{DRAWN} {PASSES}",
        unit_of_figures=PERCENT,
        digits=2,
        units=news_units(paper.NEWS_ONLINE, WAYS),
        why=NEWS + ORDER,
        minutes=1.4,
        tests_of=partial(tests, pairs=ONLINE),
        view=partial(view, figures=paper.NEWS_ONLINE, suffixes=tuple(WAYS)),
    ),
    Table(
        name="cai-orders",
        title="Hieron and Perceptron by number of epochs and order of posts",
        source="[Cai2008] Tables 7.20 and 7.21, all posts",
        protocol=f"{FOLDS} folds. Posts in the order of their groups with 1, 2, 5 and 10 epochs; "
        f"{EPOCHS} epochs with the groups of one family after the other. Tests: paired permutation "
        "over folds.",
        unit_of_figures=PERCENT,
        digits=2,
        units=(
            *news_units(EVERY_POST, FEWER),
            *units_of(EVERY_POST, "newsgroups_by_family", "news20", IN_ORDER, BY_FAMILY),
        ),
        why=SEARCH,
        minutes=3.0,
        tests_of=partial(tests, pairs=[*AVERAGED[:2], *ONLINE[:2]]),
        view=partial(view, figures=EVERY_POST, suffixes=(*FEWER, BY_FAMILY)),
    ),
    Table(
        name="cai-7.24",
        title="Averaged Perceptron with a learnt hierarchy on newsgroups",
        source="[Cai2008] Table 7.24",
        protocol="The hierarchy is learnt from each training part alone; losses are those of the "
        f"true one. {DRAWN} {PASSES}",
        unit_of_figures=PERCENT,
        digits=2,
        units=news_units(paper.NEWS_LEARNED, WAYS),
        why=NEWS,
        minutes=1.0,
        tests_of=partial(tests, pairs=LEARNT),
        view=partial(view, figures=paper.NEWS_LEARNED, suffixes=tuple(WAYS)),
    ),
    Table(
        name="cai-images",
        title="Flat and hierarchical ranking on ImCLEF07A",
        source="[Cai2008] section 7.4, in the layout of Table 7.13",
        protocol=f"The given division; features standardised. {COST} The averaged Perceptron has "
        f"{EPOCHS} epochs. {BLOCKED}",
        unit_of_figures=PERCENT,
        digits=2,
        units=tuple(units_of(IMAGES, "images", "ImCLEF07A", {})),
        why="The thesis does not have this collection.",
        minutes=0.8,
        tests_of=partial(tests, pairs=[*DNC, AVERAGED[0]]),
        view=partial(view, figures=IMAGES),
    ),
)
