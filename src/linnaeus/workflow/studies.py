"""Methods side by side by the protocols of the publications: rankings, and label sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from linnaeus.collection import Part
from linnaeus.errors import UserError
from linnaeus.search import CS, label_set_methods
from linnaeus.taxonomy import Taxonomy
from linnaeus.workflow.parts import Step, train_and_test, word_vectorizer

FOR_SETS = ("svm", "logistic", "msvm", "mlr", "topdown", "rr-svm", "rr-lr", "hblr")


def protocol(
    data: str | Path,
    methods: list[str],
    *,
    folds: int = 10,
    t: list[int] | None = None,
    repetitions: int = 10,
    hierarchies: int = 5,
    parameters: dict[str, Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> Any:
    """Run methods through the protocols of `linnaeus.protocols` on a training part: a `Study`.

    methods : names of methods; "name:flat" is without the taxonomy, "name:learned" learns one from
        every training part, "name:random" takes `hierarchies` random ones
    t : rows per class, in place of folds
    """
    from linnaeus import protocols
    from linnaeus.io import read_collection

    collection = read_collection(data, parts=["train"])
    part = collection.part("train")
    entries: dict[str, Any] = {}
    for method in methods:
        entries |= _entries(method, collection.taxonomy, part, hierarchies, parameters, seed, jobs)
    X = part.X if part.texts is None else part.texts
    common: dict[str, Any] = {"random_state": seed}
    if step is not None:
        common["callback"] = lambda done, total: step("fit", done, total)
    if t:
        common |= {"t": t, "repetitions": repetitions}
        return protocols.per_class_study(entries, X, part.labels, collection.taxonomy, **common)
    return protocols.cross_validate_ranking(
        entries, X, part.labels, collection.taxonomy, folds=folds, **common
    )


def _entries(
    method: str, taxonomy: Taxonomy, part: Part, hierarchies: int,
    parameters: dict[str, Any] | None, seed: int, jobs: int,
) -> dict[str, Any]:  # fmt: skip
    """What a method and its variant stand for: {name: classifier, or a function that makes one}."""
    from sklearn.pipeline import make_pipeline

    from linnaeus.induction import learn_taxonomy as learn
    from linnaeus.methods import make
    from linnaeus.protocols import random_hierarchies

    name, _, variant = method.partition(":")
    texts = part.texts is not None

    def build(taxonomy: Taxonomy | None) -> Any:
        model = make(name, taxonomy, parameters, seed, jobs)
        return make_pipeline(word_vectorizer(), model) if texts else model

    def learned(rows: Any, labels: Any) -> Any:
        return build(learn(word_vectorizer().fit_transform(rows) if texts else rows, labels))

    if variant == "":
        return {method: build(taxonomy)}
    if variant == "flat":
        return {method: build(None)}
    if variant == "learned":
        make(name, None, parameters)  # a mistake shows before the first fold
        return {method: learned}
    if variant == "random":
        drawn = random_hierarchies(taxonomy, hierarchies, seed)
        return {f"{method} {i}": build(other) for i, other in enumerate(drawn, 1)}
    raise UserError(
        f"The variant {variant!r} of {method!r} is not known. Use flat, learned or random."
    )


def label_set_protocol(
    data: str | Path,
    methods: Sequence[str] | None = None,
    *,
    Cs: Sequence[float] = CS,
    folds: int = 5,
    cut: str | None = "instance",
    against: str | None = None,
    parameters: dict[str, Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> Any:
    """Train on a collection, predict the label sets of its test part: a `LabelSetStudy`.

    methods : by their names; if not given, the linear ones (`FOR_SETS`)
    Cs : the values of C to choose from, by cross-validation on the training part
    folds : for C, and for the thresholds of rows with several labels
    against : the baseline of all methods; if not given, the first of them
    Without a test part a quarter of the training part is held out.
    """
    from linnaeus import protocols
    from linnaeus.io import read_collection

    collection = read_collection(data)
    train, test = train_and_test(collection, seed)
    entries = label_set_methods(
        methods or FOR_SETS, collection.taxonomy, Cs, folds, parameters, seed, jobs, step
    )
    X, X_test = train.X, test.X
    if train.texts is not None:
        words = word_vectorizer()
        X, X_test = words.fit_transform(train.texts), words.transform(test.texts)
    return protocols.label_set_study(
        entries, X, train.labels, X_test, test.labels, collection.taxonomy, cut=cut, cv=folds,
        against=None if against is None else _all_against(against, entries), random_state=seed,
    )  # fmt: skip


def _all_against(baseline: str, methods: Iterable[str]) -> dict[str, str]:
    return {method: baseline for method in methods if method != baseline}
