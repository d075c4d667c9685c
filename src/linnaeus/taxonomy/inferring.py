"""The taxonomy of an estimator: none, as given, or made from labels that are paths."""

from __future__ import annotations

from typing import Any

from linnaeus.errors import UserError, shorten
from linnaeus.labels import parse, read_paths
from linnaeus.taxonomy.taxonomy import Taxonomy


def settled(taxonomy: Any, y: Any) -> tuple[Taxonomy | None, Any]:
    """What the parameter `taxonomy` means for labels; and these, understood where they had to be.

    taxonomy : None, a taxonomy, or "infer"
    """
    if taxonomy is None or isinstance(taxonomy, Taxonomy):
        return taxonomy, y
    if not is_inferred(taxonomy):
        raise UserError(
            f"taxonomy is {shorten(taxonomy)}, of type {type(taxonomy).__name__}. Give a "
            f"linnaeus.Taxonomy, 'infer' or None."
        )
    y = y if hasattr(y, "__len__") else list(y)
    rows = read_paths(y).content.paths
    made = Taxonomy.from_paths([path for row in rows for path in row])
    return made, parse(y, made, paths=True)


def is_inferred(taxonomy: Any) -> bool:
    """Whether a taxonomy is to be made from the labels."""
    return isinstance(taxonomy, str) and taxonomy == "infer"
