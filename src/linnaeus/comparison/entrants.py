"""Who takes part: methods by name, in variants, with the parameters that each of them has.

A variant changes the taxonomy that a method is taught with, never the one it is judged by:

    name:flat      the classes alone
    name:random    a random hierarchy with as many nodes on each level
    name:learned   a hierarchy learnt from the training rows
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.collection import Part
from linnaeus.errors import UserError, nearest, shorten
from linnaeus.methods import make
from linnaeus.taxonomy import Taxonomy

VARIANTS = ("flat", "random", "learned")


@dataclass(frozen=True)
class Entrant:
    """A method, a variant of it or none, and its parameters."""

    name: str
    method: str
    variant: str
    parameters: dict[str, Any]

    def taught(self, taxonomy: Taxonomy, part: Part, X: Any, seed: int) -> tuple[Taxonomy, Part]:
        """The taxonomy to train with, and the part with labels that it has."""
        if not self.variant:
            return taxonomy, part
        own = taxonomy.most_specific(taxonomy.encode(part.labels))
        labels = taxonomy.decode(own)
        if self.variant == "random":
            other = taxonomy.shuffled(np.random.default_rng(seed))
        elif self.variant == "flat":
            used = np.union1d(taxonomy.leaf_numbers, own.indices)
            other = Taxonomy.flat(taxonomy.names(used))
        else:
            from linnaeus.induction import learn_taxonomy

            other = learn_taxonomy(X, labels, root=None, random_state=seed)
        return other, Part(labels, part.ids, part.texts, part.X, part.feature_names)


def entrants(
    methods: Sequence[str], taxonomy: Taxonomy, parameters: Mapping[str, Any] | None = None
) -> list[Entrant]:
    """The methods, checked before anything is fitted.

    parameters : {name: value} goes to every method that has the parameter, {"method.name": value}
        to this method only
    """
    if isinstance(methods, str) or not methods:
        raise UserError("No methods are given. Give a list of names, such as ['svm', 'topdown'].")
    twice = sorted({m for m in methods if list(methods).count(m) > 1})
    if twice:
        raise UserError(f"The method {twice[0]!r} is given twice. Name every method once.")
    split = [_parsed(name) for name in methods]
    given = dict(parameters or {})
    used: set[str] = set()
    found = []
    for name, method, variant in split:
        takes = make(method, taxonomy).get_params(deep=False)
        own = _own(method, given, takes, used)
        make(method, taxonomy, own)  # a mistake shows before the first fit
        found.append(Entrant(name, method, variant, own))
    _refuse_unused(given, used, [method for _, method, _ in split])
    return found


def _parsed(name: str) -> tuple[str, str, str]:
    method, colon, variant = name.partition(":")
    if colon and variant not in VARIANTS:
        raise UserError(
            f"The variant {variant!r} of {shorten(name)} is not known{nearest(variant, VARIANTS)}. "
            f"Use one of: {', '.join(VARIANTS)}."
        )
    return name, method, variant


def _own(
    method: str, given: Mapping[str, Any], takes: Mapping[str, Any], used: set[str]
) -> dict[str, Any]:
    """The parameters of one method: those for all that it has, and those for it alone."""
    common = {key: value for key, value in given.items() if key in takes}
    alone = {key: value for key, value in given.items() if key.startswith(f"{method}.")}
    used |= common.keys() | alone.keys()
    return common | {key.split(".", 1)[1]: value for key, value in alone.items()}


def _refuse_unused(given: Mapping[str, Any], used: set[str], methods: list[str]) -> None:
    for key in given:
        if key not in used:
            known = {p for m in methods for p in make(m).get_params(deep=False)}
            raise UserError(
                f"None of the methods {', '.join(methods)} has the parameter {shorten(key)}"
                f"{nearest(key, known)}. Leave it out, or write method.parameter for one of them."
            )


def onto(taxonomy: Taxonomy, other: Taxonomy, sets: sp.csr_array) -> sp.csr_array:
    """Label sets over another taxonomy with the same classes, as closed sets over this one.

    The most specific labels count; nodes that this taxonomy lacks are passed over.
    """
    if other is taxonomy:
        return sets
    own = sp.coo_array(other.most_specific(sets))
    place = np.array([taxonomy.index(v) if v in taxonomy else -1 for v in other.nodes])
    column = place[own.col]
    known = column >= 0
    entries = (np.ones(known.sum(), np.int8), (own.row[known], column[known]))
    return taxonomy.closure(sp.csr_array(entries, shape=(sets.shape[0], len(taxonomy))))
