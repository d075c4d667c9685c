"""Labels that come in batches: what each says about the classes, and who is positive for which.

Without a taxonomy the classes are fixed by the first batch. With one they are its leaves, the inner
nodes that carry labels of their own, in this batch or in one before, and those that were leaves
before the taxonomy grew.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.base import taught
from linnaeus.errors import UserError, shorten
from linnaeus.estimators import _targets
from linnaeus.labels import Form, by_kind, moved, name_array, parse
from linnaeus.taxonomy import Taxonomy


def labels(
    y: Any, taxonomy: Any, classes: Any, old: _targets.Targets | None, kind: str = "leaves"
) -> tuple[_targets.Targets, sp.csr_array]:
    """The classes so far with those of a batch, and the (n, n_classes) 0/1 matrix of the batch.

    kind : "leaves" or "nodes", what a class of a taxonomy is
    """
    if taxonomy is None:
        return flat_labels(y, classes, old)
    return node_labels(y, taxonomy, classes, old, kind)


def flat_labels(
    y: Any, classes: Any, old: _targets.Targets | None
) -> tuple[_targets.Targets, sp.csr_array]:
    """A batch without a taxonomy: the classes are those of the first one."""
    form, Y, *_ = taught(y, None)
    targets = old
    if targets is None:
        if form.kind == "one" and classes is None:
            raise UserError("classes must be passed on the first call to partial_fit.")
        targets = _targets.learn(classes if form.kind == "one" else y, None, "leaves")[0]
    elif classes is not None and set(parse(classes).form.names) != set(targets.names):
        raise UserError(
            f"classes is {shorten(classes)}, but was {shorten(list(targets.names))} on the "
            f"first call to partial_fit. Leave it out, or start over with a clone."
        )
    _check_form(form, targets)
    known = set(targets.names)
    for name in form.names:
        if name not in known:
            raise UserError(
                f"{shorten(name)} is not among the classes {shorten(list(targets.names))}. Give "
                f"all classes on the first call to partial_fit, or a taxonomy that has them."
            )
    return targets, moved(Y, form.names, targets.names)


def node_labels(
    y: Any, taxonomy: Taxonomy, classes: Any, old: _targets.Targets | None, kind: str = "leaves"
) -> tuple[_targets.Targets, sp.csr_array]:
    """A batch over a taxonomy; inner nodes that were classes once remain classes."""
    names = [] if classes is None else np.asarray(classes, dtype=object).ravel().tolist()
    if old is not None:
        if old.taxonomy is None:
            raise UserError(
                "The model started without a taxonomy. Start over with a clone to use one."
            )
        _check_larger(old.taxonomy, taxonomy)
        names += old.names
    numbers = taxonomy.numbers(dict.fromkeys(names))
    inner = taxonomy.names(numbers[taxonomy.n_children[numbers] > 0].tolist())
    targets, Y = _targets.learn(y, taxonomy, kind, also=inner)
    if old is not None:
        _check_form(targets.form, old)
        targets = targets._replace(closed=old.closed and targets.closed)
    return targets, Y


def _check_form(form: Form, old: _targets.Targets) -> None:
    if (form.kind == "one") != old.one:
        forms = ["label sets", "one label per sample"]
        raise UserError(
            f"This batch has {forms[form.kind == 'one']}, but the first one had "
            f"{forms[old.one]}. Give all batches in one form."
        )
    if old.taxonomy is None and not old.one and len(form.names) != len(old.names):
        raise UserError(
            f"The label indicator has {len(form.names)} columns, but the first batch had "
            f"{len(old.names)}. Give the same columns."
        )


def _check_larger(old: Taxonomy, new: Taxonomy) -> None:
    for v in old.nodes:
        if v not in new and v not in old.misc:
            raise UserError(
                f"The new taxonomy lacks the node {shorten(v)}. Give one with all old nodes."
            )


def joined(
    old: _targets.Targets | None, new: _targets.Targets, Y: sp.csr_array, classes: Any
) -> _targets.Targets:
    """What is known after a batch: the labels of this one and of those before, and `classes`."""
    taught, full = set(Y.indices.tolist()), bool((np.diff(Y.indptr) > 0).all())
    number = {name: j for j, name in enumerate(new.names)}
    place = _places(new)
    if old is not None:
        before = range(len(old.names)) if old.taught is None else old.taught.tolist()
        taught |= {number[old.names[j]] for j in before}
        full = full and old.full is not False
        place |= {name: number[old.names[j]] for name, j in _places(old).items()}
    new = new._replace(taught=np.array(sorted(taught), dtype=np.int64), full=full)
    if not new.one or new.taxonomy is None:
        return new
    given = [] if classes is None else np.asarray(classes, dtype=object).ravel().tolist()
    place |= {name: number[name] for name in given if name in number}
    names = tuple(by_kind(place))
    like = new.form.like
    if like.dtype != object and not new.form.codes:
        like = name_array(names)[:0]  # as wide as the longest
    form = new.form._replace(names=names, like=like)
    return new._replace(form=form, shown=np.array([place[name] for name in names]))


def _places(targets: _targets.Targets) -> dict[Any, int]:
    """The class of every label that users see, where there is one per sample."""
    if not targets.one or targets.taxonomy is None:
        return {}
    return dict(zip(targets.form.names, targets.label_columns().place.tolist(), strict=True))


def changed(old: _targets.Targets, new: _targets.Targets) -> bool:
    return old.names != new.names or old.taxonomy != new.taxonomy


def node_keys(taxonomy: Any) -> list[Any]:
    """What each node is called, whatever its misc leaves are called."""
    return [("misc leaf", taxonomy.misc[v]) if v in taxonomy.misc else v for v in taxonomy.nodes]
