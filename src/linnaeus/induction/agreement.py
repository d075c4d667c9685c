"""How far two taxonomies of the same classes agree.

Two classes are siblings when they have the same (first) parent. With n_11 pairs that are siblings
in both taxonomies, a and b pairs in the one and the other, and N pairs in all, the adjusted Rand
index is

    (n_11 - a b / N) / ((a + b) / 2 - a b / N):

1 for the same families, about 0 for families drawn at random.
"""

from __future__ import annotations

import numpy as np

from linnaeus.errors import UserError
from linnaeus.taxonomy import Taxonomy


def sibling_agreement(first: Taxonomy, second: Taxonomy) -> float:
    """The adjusted Rand index of the families of the classes (leaves of the first) in both.

    A class that is an inner node of the second taxonomy belongs to the family below that node.

    Parameters
    ----------
    first : Taxonomy
        Its leaves are the classes.
    second : Taxonomy
        A taxonomy with the same classes.

    Returns
    -------
    float
        At most 1, the same families; near 0 for families by chance.

    Examples
    --------
    >>> a = Taxonomy.from_edges([("x", 1), ("x", 2), ("y", 3), ("y", 4)])
    >>> b = Taxonomy.from_edges([("p", 1), ("p", 2), ("q", 3), ("r", 4)])
    >>> round(sibling_agreement(a, b), 3)
    0.571
    """
    classes = [name for name in first.leaves if name in second]
    if len(classes) < 2:
        raise UserError(
            f"The taxonomies have {len(classes)} classes in common, which leaves nothing to "
            f"compare. Give taxonomies of the same classes."
        )
    a, b = (_families(taxonomy, classes) for taxonomy in (first, second))
    both = a * np.int64(b.max() + 1) + b
    n_both, n_a, n_b = (_pairs(np.unique(f, return_counts=True)[1]) for f in (both, a, b))
    chance = n_a * n_b / _pairs(np.array([len(classes)]))
    most = (n_a + n_b) / 2
    return (n_both - chance) / (most - chance) if most > chance else 1.0


def _families(taxonomy: Taxonomy, classes: list[object]) -> np.ndarray:
    """The number of the family of each class."""
    nodes = taxonomy.numbers(classes)
    ptr, parents = taxonomy.dag.parent_ptr, taxonomy.dag.parents
    if not parents.size:
        return np.zeros(nodes.size, dtype=np.int64)
    top = taxonomy.n_parents[nodes] == 0
    above = np.where(top, len(taxonomy), parents[np.where(top, 0, ptr[nodes])])
    return np.where(taxonomy.n_children[nodes] > 0, nodes, above).astype(np.int64)


def _pairs(sizes: np.ndarray) -> float:
    return float((sizes.astype(float) * (sizes - 1) / 2).sum())
