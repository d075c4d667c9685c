"""Which method suits the data, said in one sentence that gives the evidence."""

from __future__ import annotations

from typing import Any, NamedTuple

from linnaeus.errors import UserError
from linnaeus.io.collection import Part
from linnaeus.model.methods import INFO
from linnaeus.model.recommendations import advise, kind_of
from linnaeus.taxonomy import Taxonomy

FOR_SEVERAL: dict[str, dict[str, Any]] = {"hblr": {"link": "binary"}}  # to take several labels


class MethodChoice(NamedTuple):
    """A method, parameters of it that differ from its defaults, and why.

    Attributes
    ----------
    method : str
        Name of the method.
    parameters : dict
        What differs from its defaults.
    why : str
        A sentence.
    """

    method: str
    parameters: dict[str, Any]
    why: str


def choose_method(
    method: str | None, part: Part, taxonomy: Taxonomy, several: bool
) -> MethodChoice:
    """The method asked for, or the one that was best on collections like this.

    Parameters
    ----------
    method : str or None
        Name in `linnaeus.model.METHODS`; None picks one for the data.
    part : Part
        Examples with labels.
    taxonomy : Taxonomy
        The taxonomy.
    several : bool
        Whether rows have several labels, or none.

    Returns
    -------
    MethodChoice
    """
    if several and method in FOR_SEVERAL:
        return MethodChoice(
            method, FOR_SEVERAL[method], "because you chose it, for several labels per row"
        )
    if method is not None:
        return MethodChoice(method, {}, "because you chose it")
    own = taxonomy.most_specific(taxonomy.encode(part.labels))
    classes = taxonomy.class_numbers(own.indices).size
    advice = advise(kind_of(several, taxonomy.is_tree, len(part), classes))
    parameters = FOR_SEVERAL.get(advice.method, {}) if several else {}
    return MethodChoice(advice.method, parameters, advice.why)


def unsuited(method: str, several: bool, is_tree: bool) -> str:
    """Why a method cannot learn from such data; empty where it can.

    Parameters
    ----------
    method : str
        Name of the method.
    several : bool
        Whether rows have several labels, or none.
    is_tree : bool
        Whether no node has two parents.

    Returns
    -------
    str

    Examples
    --------
    >>> unsuited("msvm", several=True, is_tree=True)
    'rows have several labels or none, and msvm takes one a row'
    """
    if several and not INFO[method].several and method not in FOR_SEVERAL:
        return f"rows have several labels or none, and {method} takes one a row"
    if not is_tree and not INFO[method].dag:
        return f"nodes have several parents, and {method} takes trees"
    return ""


def check_suited(method: str, several: bool, taxonomy: Taxonomy) -> None:
    """Refuse a method that cannot learn from such data, and name those that can."""
    reason = unsuited(method, several, taxonomy.is_tree)
    if reason:
        able = [name for name in INFO if not unsuited(name, several, taxonomy.is_tree)]
        raise UserError(
            f"The method {method!r} does not suit the data: {reason}. Use one of: "
            f"{', '.join(able)}."
        )
