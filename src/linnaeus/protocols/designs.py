"""Divisions of the data: folds, a few rows per class, and hierarchies drawn at random."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from linnaeus.errors import UserError
from linnaeus.protocols.runs import Callback, Data, run, run_in_blocks
from linnaeus.protocols.study import Study
from linnaeus.splits import Split, at_most_per_class, k_folds, t_per_class
from linnaeus.taxonomy import Taxonomy


def cross_validate_ranking(
    estimators: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    *,
    folds: int | Iterable[Split] = 10,
    at_most: int | None = None,
    loss: Any = None,
    random_state: Any = 0,
    callback: Callback | None = None,
) -> Study:
    """Metrics of every fold.

    Parameters
    ----------
    estimators : a classifier, or {name: classifier}. A function (X, y) -> classifier is called
        with every training part, for example to learn a taxonomy from it. A classifier with a
        taxonomy is given one label per row, or label lists; one without, an indicator in place
        of the lists.
    X : rows of anything that the classifiers take; a kernel matrix for those that want one
    y : labels in any form (see `linnaeus.labels`)
    taxonomy : the true one, for the losses
    folds : how many, or (train, test) row numbers
    at_most : first draw a smaller corpus with at most so many rows per class
    loss : of classes, as in `linnaeus.losses.class_loss`; the half distance if not given
    callback : told how many fits are done, and how many there are

    Examples
    --------
    >>> from linnaeus import FlatSVM, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X, y = np.eye(3)[[0, 1, 2] * 4], np.array(["cat", "dog", "oak"] * 4)
    >>> study = cross_validate_ranking(FlatSVM(tax, random_state=0), X, y, tax, folds=2)
    >>> study.mean("FlatSVM", "one_accuracy")
    1.0
    """
    data = Data.of(X, y, taxonomy)
    if isinstance(folds, int | np.integer):
        rows = np.arange(data.Y.shape[0])
        if at_most is not None:
            rows = at_most_per_class(data.Y, at_most, random_state)
        parts = k_folds(data.Y[rows], int(folds), random_state)
        splits = [(rows[train], rows[test]) for train, test in parts]
    elif at_most is not None:
        raise UserError("at_most is given with folds of your own. Leave out rows in the folds.")
    else:
        splits = list(folds)
    return run({"": splits}, estimators, data, loss, callback)


def per_class_study(
    estimators: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    *,
    t: int | Iterable[int] = (1, 5, 10, 20),
    repetitions: int = 10,
    loss: Any = None,
    random_state: Any = 0,
    callback: Callback | None = None,
) -> Study:
    """Metrics with t training rows per class (or all there are), tested on all others.

    Conditions are called "t=1" and so on; the draws are the same for every method. Parameters as
    for `cross_validate_ranking`.
    """
    data = Data.of(X, y, taxonomy)
    if repetitions < 1:
        raise UserError(f"repetitions is {repetitions}. Repeat at least once.")
    sizes = [t] if isinstance(t, int | np.integer) else list(t)
    splits = {
        f"t={size}": list(t_per_class(data.Y, size, repetitions, random_state)) for size in sizes
    }
    for name, parts in splits.items():
        if any(test.size == 0 for _, test in parts):
            raise UserError(f"With {name} every row is trained on. Use a smaller t.")
    return run(splits, estimators, data, loss, callback)


def held_out_ranking(
    estimators: Any,
    X: Any,
    y: Any,
    taxonomy: Taxonomy,
    *,
    train: Any,
    test: Any,
    blocks: int = 50,
    loss: Any = None,
    random_state: Any = 0,
    callback: Callback | None = None,
) -> Study:
    """Metrics of one given division into training and test rows.

    The condition "all" has one value, of all test rows. The condition "blocks" has one for each of
    so many blocks of test rows, drawn at random since rows often come sorted: their scatter gives
    standard errors, and two methods can be compared block by block. Other parameters as for
    `cross_validate_ranking`.
    """
    rows = np.random.default_rng(random_state).permutation(np.asarray(test))
    if not 1 <= blocks <= rows.size:
        raise UserError(
            f"blocks is {blocks}, but there are {rows.size} test rows. Use 1 to that number."
        )
    data = Data.of(X, y, taxonomy)
    parts = np.array_split(rows, blocks)
    return run_in_blocks(np.asarray(train), parts, estimators, data, loss, callback)


def random_hierarchies(taxonomy: Taxonomy, n: int, random_state: Any = 0) -> list[Taxonomy]:
    """n random taxonomies with as many nodes on each level and the same leaves."""
    rng = np.random.default_rng(random_state)
    return [taxonomy.shuffled(rng) for _ in range(n)]


def with_hierarchies(estimator: Any, taxonomies: Iterable[Taxonomy]) -> dict[str, Any]:
    """The same classifier with each of some taxonomies, as {"random 1": ..., ...} for a study."""
    return {
        f"random {i}": clone(estimator).set_params(taxonomy=taxonomy)
        for i, taxonomy in enumerate(taxonomies, 1)
    }
