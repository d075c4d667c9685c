"""Methods by name, in variants, with the parameters that each of them has.

A variant changes the taxonomy that a method is taught with, never the one it is judged by:

    name:flat      the classes alone
    name:random    a random hierarchy with as many nodes on each level, or several of them
    name:learned   a hierarchy learnt from the training rows
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.io.collection import Part
from linnaeus.model.choice import FOR_SEVERAL, unsuited
from linnaeus.model.methods import make
from linnaeus.taxonomy import Taxonomy

VARIANTS = ("flat", "random", "learned")


class NotApplicable(UserError):
    """A method is not for such data; a study shows it as NA, with this reason.

    Parameters
    ----------
    message : str, default=""
        The reason.
    shell : str or None, default=None
        The same in the words of the command line; None where they are the same.
    """


@dataclass(frozen=True)
class NamedMethod:
    """A method, a variant of it or none, and its parameters.

    Attributes
    ----------
    name : str
        What it is called.
    method : str
        Name in `linnaeus.model.METHODS`.
    variant : {'', 'flat', 'random', 'learned'}
        Which taxonomy it is taught with.
    parameters : dict
        Its parameters.
    draw : int
        Which of the random hierarchies.
    """

    name: str
    method: str
    variant: str
    parameters: dict[str, Any]
    draw: int = 0

    def taught(self, taxonomy: Taxonomy, part: Part, X: Any, seed: int) -> tuple[Taxonomy, Part]:
        """The taxonomy to train with, and the part with labels that it has.

        Parameters
        ----------
        taxonomy : Taxonomy
            The true taxonomy.
        part : Part
            Examples with labels.
        X : array-like or sparse matrix
            Features of the part.
        seed : int
            Seed of everything that is drawn.

        Returns
        -------
        taxonomy : Taxonomy
            The taxonomy to train with.
        part : Part
            The part with labels that it has.
        """
        if not self.variant:
            return taxonomy, part
        own = taxonomy.most_specific(taxonomy.encode(part.labels))
        labels = taxonomy.decode(own)
        other = self._other(taxonomy, own, X, seed)
        return other, Part(labels, part.ids, part.texts, part.X, part.feature_names)

    def classifier(self, taxonomy: Taxonomy, X: Any, y: Any, seed: int = 0, jobs: int = 1) -> Any:
        """The estimator for training rows and their labels, before it is fitted.

        Parameters
        ----------
        taxonomy : Taxonomy
            The true taxonomy.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        y : array-like, sparse matrix or list of lists
            An array with one label per row, else label lists or an indicator over the nodes.
        seed : int, default=0
            Seed of everything that is drawn.
        jobs : int, default=1
            Threads; -1 for all cores. The result does not depend on it.

        Returns
        -------
        object
            The estimator.
        """
        several = not (isinstance(y, np.ndarray) and y.ndim == 1)
        other: Taxonomy | None = None if self.variant == "flat" else taxonomy
        if self.variant in ("random", "learned"):
            own = taxonomy.most_specific(taxonomy.encode(y))
            other = self._other(taxonomy, own, X, seed)
        why_not = unsuited(self.method, several, other is None or other.is_tree)
        if several and sp.issparse(y) and other not in (None, taxonomy):
            why_not = f"rows have several labels or none, and {self.name} takes one a row here"
        if why_not:
            raise NotApplicable(f"The method {self.name!r} does not suit the data: {why_not}.")
        parameters = (FOR_SEVERAL.get(self.method, {}) if several else {}) | self.parameters
        return make(self.method, other, parameters, seed, jobs)

    def _other(self, taxonomy: Taxonomy, own: sp.csr_array, X: Any, seed: int) -> Taxonomy:
        """The taxonomy of the variant; `own` are the most specific labels of the rows of X."""
        if self.variant == "random":
            return random_hierarchies(taxonomy, self.draw + 1, seed)[-1]
        if self.variant == "flat":
            used = taxonomy.class_numbers(own.indices)
            return Taxonomy.flat(taxonomy.names(used.tolist()))
        from linnaeus.induction import learn_taxonomy

        return learn_taxonomy(X, taxonomy.decode(own), root=None, random_state=seed)


def random_hierarchies(taxonomy: Taxonomy, n: int, random_state: Any = 0) -> list[Taxonomy]:
    """Random taxonomies with as many nodes on each level and the same leaves.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy whose shape they have.
    n : int
        How many.
    random_state : int, RandomState instance or None, default=0
        Seed.

    Returns
    -------
    list of Taxonomy
    """
    rng = np.random.default_rng(random_state)
    return [taxonomy.shuffled(rng) for _ in range(n)]


def parse_methods(
    methods: Sequence[str],
    taxonomy: Taxonomy,
    parameters: Mapping[str, Any] | None = None,
    hierarchies: int = 1,
) -> list[NamedMethod]:
    """The methods, checked before anything is fitted.

    Parameters
    ----------
    methods : sequence of str
        Names, also of variants as "name:flat".
    taxonomy : Taxonomy
        The taxonomy.
    parameters : dict or None, default=None
        {name: value} goes to every method that has the parameter, {"method.name": value} to this
        method only.
    hierarchies : int, default=1
        How many random ones "name:random" stands for.

    Returns
    -------
    list of NamedMethod
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
        one = NamedMethod(name, method, variant, own)
        found += _draws(one, hierarchies) if variant == "random" and hierarchies > 1 else [one]
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


def _draws(method: NamedMethod, n: int) -> list[NamedMethod]:
    return [
        NamedMethod(f"{method.name} {i + 1}", method.method, method.variant, method.parameters, i)
        for i in range(n)
    ]


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
