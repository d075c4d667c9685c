"""Labels as the solvers see them: which classes there are, and who is positive for which.

With a taxonomy the classes are its leaves, and one misc leaf for every inner node that carries
labels of its own (reported under that node's name); or, for models over all nodes, the nodes.
Without one they are the labels that occur. `linnaeus.labels` knows the forms in which labels come.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import column_or_1d

from linnaeus.errors import UserError
from linnaeus.inference import repair
from linnaeus.labels import Form, moved, parse
from linnaeus.taxonomy import Taxonomy


class Targets(NamedTuple):
    """What was learned about the labels; says how to answer in the same form."""

    form: Form
    names: tuple[Any, ...]  # the classes
    taxonomy: Taxonomy | None  # with misc leaves, if classes are leaves
    nodes: Any  # (n_classes,) node numbers of the classes in `taxonomy`
    closed: bool  # whether the label sets given held all ancestors
    one: bool  # one label per sample

    @property
    def binary(self) -> bool:
        """One label of two, without a taxonomy: one set of weights is enough."""
        return self.one and self.taxonomy is None and len(self.names) == 2

    def classes(self) -> np.ndarray:
        """The classes as an array, in the type in which the labels came."""
        if self.one and self.taxonomy is None:
            return np.array(self.names, dtype=self.form.like.dtype)
        return self.form.shown(self.names)


def learn(
    y: Any, taxonomy: Taxonomy | None, classes: str, also: Collection[Any] = ()
) -> tuple[Targets, sp.csr_array]:
    """What there is to know about `y`, and the (n, n_classes) 0/1 matrix of the classes.

    also : inner nodes that are classes even if none of these labels is theirs
    """
    if y is None:
        raise UserError("This estimator requires y to be passed, but the target y is None.")
    if classes not in ("leaves", "nodes"):
        raise UserError(f"classes={classes!r} is not known. Use 'leaves' or 'nodes'.")
    labels = parse(y, taxonomy)
    if labels.column:
        column_or_1d(y, warn=True)  # scikit-learn's own warning
    form, one = labels.form, labels.form.kind == "one"
    if taxonomy is None:
        if one and len(form.names) < 2:
            raise UserError(
                f"There is only one class, {form.names[0]!r}. Give examples of at least two, "
                f"or a taxonomy that has the others."
            )
        return Targets(form, form.names, None, None, False, one), labels.Y
    given = taxonomy.encode(labels)
    full = taxonomy.closure(given)
    closed = full.nnz == given.nnz
    if classes == "nodes":
        numbers = np.arange(len(taxonomy), dtype=np.int32)
        return Targets(form, taxonomy.nodes, taxonomy, numbers, closed, one), full
    own = taxonomy.most_specific(given)
    used = np.unique(own.indices)
    grown = taxonomy
    if also or taxonomy.n_children[used].any():  # inner nodes with labels of their own
        grown = taxonomy.with_misc(sp.vstack([own, taxonomy.encode([[v] for v in also])]))
    carried = {v: k for k, v in grown.misc.items()}
    leaves = [grown.nodes[v] for v in grown.leaf_numbers.tolist()]
    names = tuple(grown.misc.get(leaf, leaf) for leaf in leaves)
    place = np.full(len(taxonomy), -1)  # the column of each node that is a class
    column = {leaf: j for j, leaf in enumerate(leaves)}
    for v in used.tolist():
        place[v] = column[carried.get(taxonomy.nodes[v], taxonomy.nodes[v])]
    Y = sp.csr_array((own.data, place[own.indices], own.indptr), (own.shape[0], len(names)))
    Y.sort_indices()
    return Targets(form, names, grown, grown.leaf_numbers, closed, one), Y


def the_class(Y: sp.csr_array, who: str, remedy: str) -> np.ndarray:
    """The one class of every example, for estimators that know of one only."""
    count = np.diff(Y.indptr)
    if (count != 1).any():
        row = int(np.argmax(count != 1))
        raise UserError(
            f"{who} takes one label per sample, but sample {row} has {count[row]}. {remedy}"
        )
    return np.asarray(Y.indices)


def answer(targets: Targets, on: sp.csr_array, taxonomy: Taxonomy | None) -> Any:
    """Decided label sets over the classes, in the form that was taught.

    With a taxonomy the sets are consistent: over all nodes a node whose parents are not all on is
    switched off; over leaves the ancestors are added where the label sets taught had them.
    """
    names = targets.names
    if taxonomy is not None:
        on = moved(on, names, taxonomy.nodes)
        if len(names) == len(taxonomy) and names == taxonomy.nodes:
            on = repair(taxonomy, on)
            on = on if targets.closed else taxonomy.most_specific(on)
        elif targets.closed:
            on = taxonomy.closure(on)
        names = taxonomy.nodes
    return targets.form.answer(sp.csr_array(on), names)
