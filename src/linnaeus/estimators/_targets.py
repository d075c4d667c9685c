"""Labels as the solvers see them: which classes there are, and who is positive for which.

With a taxonomy the classes are its leaves, and one misc leaf for every inner node that carries
labels of its own (reported under that node's name); or, for models over all nodes, the nodes.
Without one they are the labels that occur. `linnaeus.labels` knows the forms in which labels come;
what users see has the columns of the form, see `decisions.columns`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import column_or_1d

from linnaeus.decisions.columns import Columns
from linnaeus.errors import UserError
from linnaeus.inference import repair
from linnaeus.labels import Form, moved, name_array, parse
from linnaeus.taxonomy import Taxonomy


class Targets(NamedTuple):
    """What was learned about the labels; says how to answer in the same form."""

    form: Form
    names: tuple[Any, ...]  # the classes
    taxonomy: Taxonomy | None  # with misc leaves, if classes are leaves
    nodes: Any  # (n_classes,) node numbers of the classes in `taxonomy`
    closed: bool  # whether the label sets given held all ancestors
    one: bool  # one label per sample
    shown: Any = None  # of `form.names` the classes if `one`, else the nodes; None: those so called
    taught: Any = None  # the classes that some sample has as a most specific label; None: all
    full: bool | None = None  # whether every sample had a label; None: not known

    @property
    def binary(self) -> bool:
        """One label of two, without a taxonomy: one set of weights is enough."""
        return self.one and self.taxonomy is None and len(self.names) == 2

    @property
    def over_nodes(self) -> bool:
        """Whether every node is a class."""
        return self.taxonomy is not None and self.names == self.taxonomy.nodes

    @property
    def by_path(self) -> bool:
        """Whether labels were given as paths, so that users see all nodes."""
        return self.form.layout is not None

    def labels(self) -> np.ndarray:
        """The labels of which one is answered, in the type in which they came."""
        if self.form.codes or self.by_path:
            return self.form.shown(self.form.names)
        return name_array(self.form.names, self.form.like.dtype)

    def classes(self) -> np.ndarray:
        """The labels that users see."""
        if self.one and not self.by_path:
            return self.labels()
        return name_array(self.shown_names())

    def shown_names(self) -> tuple[Any, ...]:
        """The same by their names."""
        if self.taxonomy is not None and self.by_path:
            return tuple(v for v in self.taxonomy.nodes if v not in self.taxonomy.misc)
        return self.form.names if self.one else self.form.columns

    def label_columns(self) -> Columns:
        """The columns of `labels()`, given those of the classes trained."""
        if self.taxonomy is None:
            return Columns()
        if self.shown is not None:
            return Columns(self.shown)
        number = {name: j for j, name in enumerate(self.names)}
        return Columns(np.array([number[name] for name in self.form.names]))

    def columns(self) -> Columns:
        """The columns of `classes()`, given those of the classes trained."""
        if self.one and not self.by_path:
            return self.label_columns()
        if self.taxonomy is None:
            return Columns()
        named = self.one or self.shown is None
        shown = self.taxonomy.numbers(self.shown_names()) if named else self.shown
        return Columns.of_nodes(self.taxonomy, self.nodes, shown)

    def node_columns(self, taxonomy: Taxonomy | None) -> Columns:
        """The same of all nodes of the taxonomy that was given."""
        if taxonomy is None or self.taxonomy is None:
            return Columns()
        return Columns.of_nodes(self.taxonomy, self.nodes, np.arange(len(taxonomy)))

    def restricted(self, used: np.ndarray) -> Targets:
        """With these of the classes only, in ascending order; they hold all that were taught."""
        shown = np.searchsorted(used, self.shown) if self.one else self.shown
        return self._replace(
            names=tuple(self.names[j] for j in used.tolist()), nodes=self.nodes[used], shown=shown,
            taught=np.searchsorted(used, self.taught),
        )  # fmt: skip


def learn(
    y: Any, taxonomy: Taxonomy | None, classes: str, also: Collection[Any] = ()
) -> tuple[Targets, sp.csr_array]:
    """What there is to know about `y`, and the (n, n_classes) 0/1 matrix of the classes.

    also : inner nodes that are classes even if none of these labels is theirs
    """
    if y is None:
        raise UserError("This estimator requires y to be passed, but the target y is None.")
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
        seen, full = _seen(labels.Y)
        return Targets(form, form.names, None, None, False, one, None, seen, full), labels.Y
    given = taxonomy.encode(labels)
    full = taxonomy.closure(given)
    closed = full.nnz == given.nnz
    own = taxonomy.most_specific(given)
    used, every = _seen(own)
    shown = labels.numbers
    if classes == "nodes":
        numbers = np.arange(len(taxonomy), dtype=np.int32)
        known = Targets(form, taxonomy.nodes, taxonomy, numbers, closed, one, shown, used, every)
        return known, full
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
    shown, taught = place[shown] if one else shown, np.unique(place[used])
    return Targets(form, names, grown, grown.leaf_numbers, closed, one, shown, taught, every), Y


def with_examples(targets: Targets, Y: sp.csr_array) -> tuple[Targets, sp.csr_array]:
    """In a graph of related labels without a hierarchy only nodes with examples are classes."""
    if targets.taxonomy is None or not targets.taxonomy.is_graph:
        return targets, Y
    used = np.unique(Y.indices)
    return (targets.restricted(used), Y[:, used]) if used.size else (targets, Y)


def _seen(Y: sp.csr_array) -> tuple[np.ndarray, bool]:
    """The columns that some row has, and whether every row has one."""
    return np.unique(Y.indices), bool((np.diff(Y.indptr) > 0).all())


def the_class(Y: sp.csr_array, who: str, remedy: str) -> np.ndarray:
    """The one class of every example, for estimators that know of one only."""
    count = np.diff(Y.indptr)
    if (count != 1).any():
        row = int(np.argmax(count != 1))
        raise UserError(
            f"{who} takes one label per sample, but sample {row} has {count[row]}. {remedy}"
        )
    return np.asarray(Y.indices)


def answer(
    targets: Targets, on: sp.csr_array, taxonomy: Taxonomy | None, best: np.ndarray | None = None
) -> Any:
    """Decided label sets over the classes, in the form that was taught.

    With a taxonomy the sets are consistent: over all nodes a node whose parents are not all on is
    switched off; over leaves the ancestors are added where the label sets taught had them.

    best : the class that a row gets which is left without a label; None to leave it so
    """
    names = targets.names
    if taxonomy is not None and targets.over_nodes:
        on = repair(taxonomy, on)
    if best is not None:
        on = with_best(on, best)
    if taxonomy is not None:
        on = moved(on, names, taxonomy.nodes)
        if targets.closed:
            on = taxonomy.closure(on)
        elif targets.over_nodes:
            on = taxonomy.most_specific(taxonomy.closure(on))
        names = taxonomy.nodes
    return targets.form.answer(sp.csr_array(on), names)


def with_best(on: sp.csr_array, best: np.ndarray) -> sp.csr_array:
    """Label sets in which a row without any has the one given for it."""
    empty = np.flatnonzero(np.diff(on.indptr) == 0)
    if not empty.size:
        return on
    ones = np.ones(empty.size, dtype=on.dtype)
    return sp.csr_array(on + sp.csr_array((ones, (empty, best[empty])), shape=on.shape))
