"""Flat against hierarchical ranking methods, beside the figures of [Cai2008].

Synthetic data of section 7.1.1 (Table 7.5); 15 newsgroups in 5 families with t documents a group
and all of them (7.10, 7.15, 7.18 to 7.21, 7.24); ImCLEF07A and rcv1-ccat, which the thesis has not.
Looks for the folder ``shared/data`` beside the checkout, or the one that COLLECTIONS names. The
variable THESIS_PARTS, with commas, chooses among synthetic, svm, random, online, learned, others;
REPETITIONS and FOLDS shorten a trial run. What differs from the thesis: other documents and words.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import thesis_data, thesis_paper
from benchmarks.recording import publish
from linnaeus import HierarchicalPerceptron, Hieron, RankingSVM, Taxonomy, TopDown
from linnaeus.induction import learn_taxonomy
from linnaeus.protocols import (
    Study,
    compare,
    cross_validate_ranking,
    per_class_study,
    random_hierarchies,
    with_hierarchies,
)
from linnaeus.synthetic import make_hierarchical

PARTS = ("synthetic", "svm", "random", "online", "learned", "others")
REPETITIONS = int(os.environ.get("REPETITIONS", "10"))
FOLDS = int(os.environ.get("FOLDS", "10"))
FLAT = {"attributes": "flat", "loss": "zero_one", "random_state": 0}
NAMES = {
    "acc": "one_accuracy", "prec": "average_precision", "top loss": "top_loss",
    "maximal loss": "maximal_loss", "rloss": "ranking_loss", "pacc": "parent_accuracy",
}  # fmt: skip
LOSSES = ("top loss", "maximal loss")  # no shares in %


def ours(study: Study, method: str, measure: str, condition: str) -> float:
    """A mean in the unit of the thesis."""
    value = study.mean(method, NAMES[measure], condition)
    return value if measure in LOSSES else 100 * value


def rows_of(
    study: Study,
    paper: Mapping[Any, Mapping[str, Any]],
    methods: tuple[str, ...],
    pair: tuple[str, str] = ("flat", "hierarchical"),
) -> list[list[Any]]:
    """A row for every condition and measure: ours for every method, the thesis', and p.

    p : of a paired permutation test of two methods, over folds or draws
    """
    tests = {(row.condition, row.metric): row.pvalue for row in compare(study, *pair).rows}
    out: list[list[Any]] = []
    for condition, measures in paper.items():
        name = condition if condition in study.values else f"t={condition}"
        if name not in study.values:
            continue
        for measure, figures in measures.items():
            mine = [ours(study, method, measure, name) for method in methods]
            p = tests[name, NAMES[measure]]
            out.append([str(condition), measure, *mine, *figures, p])
    return out


def joined(*studies: Study) -> Study:
    """Conditions of several studies of the same methods."""
    return Study({key: value for study in studies for key, value in study.values.items()})


def over_all(estimators: Any, X: Any, y: Any, taxonomy: Taxonomy) -> Study:
    """Cross-validation over all documents, as the condition "all"."""
    study = cross_validate_ranking(estimators, X, y, taxonomy, folds=FOLDS)
    return Study({"all": next(iter(study.values.values()))})


def synthetic() -> None:
    rows: list[list[Any]] = []
    for (fan_out, depth), figures in thesis_paper.SYNTHETIC.items():
        X, Y, taxonomy = make_hierarchical(fan_out=fan_out, depth=depth, random_state=0)
        methods = {
            "flat": RankingSVM(taxonomy, C=1e4, max_iter=20_000, **FLAT),
            "hierarchical": RankingSVM(taxonomy, C=1e4, max_iter=20_000, random_state=0),
        }
        study = cross_validate_ranking(methods, X, Y, taxonomy, folds=FOLDS)
        name = f"{fan_out} x {depth}"
        rows += rows_of(
            Study({name: next(iter(study.values.values()))}), {name: figures}, tuple(methods)
        )
    publish(
        "thesis_synthetic", "Planted hierarchies, 200 examples, C = 10,000 (Table 7.5)",
        ("tree", "measure", "flat", "hierarchical", "thesis flat", "thesis hierarchical",
         "p"), rows,
        notes=f"{FOLDS}-fold cross-validation, one draw of the data.", benchmark="thesis",
    )  # fmt: skip


def svm() -> None:
    X, y, taxonomy = thesis_data.newsgroups()
    methods = {
        "flat": RankingSVM(taxonomy, **FLAT),
        "DNC": TopDown(taxonomy, local="multiclass", loss="hinge", random_state=0),
        "hierarchical": RankingSVM(taxonomy, random_state=0),
    }
    few = per_class_study(methods, X, y, taxonomy, t=(1, 5, 10, 20), repetitions=REPETITIONS)
    study = joined(few, over_all(methods, X, y, taxonomy))
    rows = []
    for row in rows_of(study, thesis_paper.NEWS_SVM, tuple(methods)):
        t = row[0] if row[0] == "all" else int(row[0])
        dnc = thesis_paper.NEWS_DNC[t].get(row[1])  # type: ignore[index]
        rows.append([*row[:-2], dnc, *row[-2:]])
    publish(
        "thesis_svm", "Newsgroups: flat, divide-and-conquer, hierarchical (Tables 7.10, 7.15)",
        ("t", "measure", *methods, *(f"thesis {m}" for m in methods), "p"), rows,
        notes=f"{REPETITIONS} draws, tested on all others; all: {FOLDS} folds. C = 1.",
        benchmark="thesis",
    )  # fmt: skip


def random() -> None:
    X, y, taxonomy = thesis_data.newsgroups()
    drawn = random_hierarchies(taxonomy, 5, random_state=0)
    rows: list[list[Any]] = []
    for kind, model, figures in (
        ("H-SVM", RankingSVM(taxonomy, random_state=0), thesis_paper.RANDOM_SVM),
        (
            "DNC-SVM",
            TopDown(taxonomy, local="multiclass", loss="hinge", random_state=0),
            thesis_paper.RANDOM_DNC,
        ),
    ):
        methods = {"true": model, **with_hierarchies(model, drawn)}
        study = per_class_study(methods, X, y, taxonomy, t=20, repetitions=REPETITIONS)
        others = [method for method in methods if method != "true"]
        for measure, figure in figures["true"].items():
            mean, deviation = study.across(others, NAMES[measure], "t=20")
            true = ours(study, "true", measure, "t=20")
            rows.append([kind, measure, true, 100 * mean, 100 * deviation, figure,
                         figures["random"][measure]])  # fmt: skip
    publish(
        "thesis_random", "Newsgroups, t = 20: the true taxonomy and random ones (7.18, 7.19)",
        ("method", "measure", "true", "random", "sd", "thesis true", "thesis random"), rows,
        notes="Five random hierarchies of the same shape, the same for both methods.",
        benchmark="thesis",
    )  # fmt: skip


def online() -> None:
    X, y, taxonomy = thesis_data.newsgroups()
    for name, title, paper, sizes, options in (
        ("thesis_averaged", "averaged, 20 epochs (Table 7.20)", thesis_paper.NEWS_ONLINE, (10, 20),
         ({"averaged": True}, {"variant": "averaged"})),
        ("thesis_online", "online, 20 epochs (Table 7.21)", thesis_paper.NEWS_NOT_AVERAGED, (),
         ({"averaged": False}, {"variant": "online"})),
    ):  # fmt: skip
        methods = {
            "flat Hieron": Hieron(taxonomy, max_iter=20, **options[0], **FLAT),
            "Hieron": Hieron(taxonomy, max_iter=20, random_state=0, **options[0]),
            "flat Perceptron": HierarchicalPerceptron(taxonomy, max_iter=20, **options[1], **FLAT),
            "Perceptron": HierarchicalPerceptron(
                taxonomy, max_iter=20, random_state=0, **options[1]
            ),
        }
        study = over_all(methods, X, y, taxonomy)
        if sizes:
            few = per_class_study(methods, X, y, taxonomy, t=sizes, repetitions=REPETITIONS)
            study = joined(few, study)
        publish(
            name, f"Newsgroups: {title}",
            ("t", "measure", *methods, *(f"thesis {m}" for m in methods), "p"),
            rows_of(study, paper, tuple(methods), ("flat Perceptron", "Perceptron")),
            benchmark="thesis",
            notes=f"{REPETITIONS} draws, tested on all others; all: {FOLDS} folds.",
        )  # fmt: skip


def learned() -> None:
    X, y, taxonomy = thesis_data.newsgroups()

    def on_learned(X_train: Any, y_train: Any) -> Any:
        found = learn_taxonomy(X_train, y_train, classes=taxonomy.leaves)
        return HierarchicalPerceptron(found, max_iter=20, random_state=0)

    methods = {
        "flat": HierarchicalPerceptron(taxonomy, max_iter=20, **FLAT),
        "learned": on_learned,
    }
    few = per_class_study(methods, X, y, taxonomy, t=(10, 20), repetitions=REPETITIONS)
    study = joined(few, over_all(methods, X, y, taxonomy))
    publish(
        "thesis_learned", "Newsgroups: averaged Perceptron on a learned taxonomy (Table 7.24)",
        ("t", "measure", *methods, *(f"thesis {m}" for m in methods), "p"),
        rows_of(study, thesis_paper.NEWS_LEARNED, tuple(methods), ("flat", "learned")),
        notes="Learned from the training part alone; losses are those of the true taxonomy.",
        benchmark="thesis",
    )  # fmt: skip


def others() -> None:
    rows: list[list[Any]] = []
    for name in ("ImCLEF07A", "rcv1-ccat"):
        X, y, X_test, y_test, taxonomy = thesis_data.parts(name)
        stacked = sp.vstack([sp.csr_array(X), sp.csr_array(X_test)], format="csr")
        labels: Any
        if isinstance(y, np.ndarray):
            labels = np.concatenate([y, y_test])
        else:
            labels = sp.vstack([y, y_test], format="csr")
        n = X.shape[0]
        fold = [(np.arange(n), np.arange(n, stacked.shape[0]))]
        methods: dict[str, Any] = {
            "flat SVM": RankingSVM(taxonomy, **FLAT),
            "SVM": RankingSVM(taxonomy, random_state=0),
            "flat Perceptron": HierarchicalPerceptron(taxonomy, max_iter=20, **FLAT),
            "Perceptron": HierarchicalPerceptron(taxonomy, max_iter=20, random_state=0),
        }
        study = cross_validate_ranking(methods, stacked, labels, taxonomy, folds=fold)
        for measure in NAMES:
            mine = [ours(study, method, measure, "") for method in methods]
            rows.append([name, measure, *mine])
    publish(
        "thesis_others", "Flat and hierarchical on collections that the thesis has not, C = 1",
        ("collection", "measure", "flat SVM", "SVM", "flat Perceptron", "Perceptron"), rows,
        notes="The given division into training and test part; averaged Perceptron, 20 epochs.",
        benchmark="thesis",
    )  # fmt: skip


def main() -> None:
    if thesis_data.folder() is None:
        print("No folder of collections (COLLECTIONS): only the synthetic part is run.")
    known: dict[str, Callable[[], None]] = {
        "synthetic": synthetic, "svm": svm, "random": random, "online": online,
        "learned": learned, "others": others,
    }  # fmt: skip
    for part in os.environ.get("THESIS_PARTS", ",".join(PARTS)).split(","):
        if part == "synthetic" or thesis_data.folder() is not None:
            known[part]()


if __name__ == "__main__":
    main()
