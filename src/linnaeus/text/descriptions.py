"""Class descriptions as attributes: classes with similar titles share weights.

With taxonomy attributes A (a row per class, `linnaeus.losses.class_attributes`) and the vectorised
descriptions T of the classes, the blocks

    [ sqrt(1 - beta) A,  sqrt(beta) T ]

have the class kernel K = (1 - beta) K_tax + beta K_text ([Cai2008], section 8). Give them to a
method that takes `attributes`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.losses import class_attributes
from linnaeus.taxonomy import Taxonomy
from linnaeus.text.tfidf import TfidfVectorizer


def class_descriptions(taxonomy: Taxonomy, ancestors: bool = False) -> list[str]:
    """The title of every class (leaf), or its name where it has none.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy, whose leaves are the classes.
    ancestors : bool, default=False
        Whether to add what lies above, from the top down; a misc leaf has the title of its node.

    Returns
    -------
    list of str

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("N1", "N2")], titles={"N1": "animals", "N2": "big cats"})
    >>> class_descriptions(tax, ancestors=True)
    ['animals big cats']
    """
    titles = [taxonomy.title(taxonomy.misc.get(v, v)) for v in taxonomy.nodes]
    if not ancestors:
        return [titles[v] for v in taxonomy.leaf_numbers.tolist()]
    above = taxonomy.ancestor_rows(taxonomy.leaf_numbers)
    above.sort_indices()
    rows = np.split(above.indices, above.indptr[1:-1])
    misc = {i for i, v in enumerate(taxonomy.nodes) if v in taxonomy.misc}
    return [" ".join(titles[v] for v in row.tolist() if v not in misc) for row in rows]


def description_attributes(
    taxonomy: Taxonomy,
    beta: float = 0.5,
    *,
    scheme: Any = None,
    vectorizer: Any = None,
    ancestors: bool = False,
) -> sp.csr_array:
    """Attributes of the classes (leaves in node order): the taxonomy's, then those of the titles.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy, whose leaves are the classes.
    beta : float, default=0.5
        Share of the descriptions in the class kernel, 0 to 1.
    scheme : str, callable, array-like or None, default=None
        As in `linnaeus.losses.class_attributes`; None takes "depth" on trees, "perclass" on DAGs.
    vectorizer : object or None, default=None
        From texts to a matrix by `fit_transform`; None for TF-IDF of words to length 1.
    ancestors : bool, default=False
        Whether the titles of the nodes above belong to the description of a class.

    Returns
    -------
    csr_array of shape (n_classes, n_attributes)

    Examples
    --------
    >>> tax = Taxonomy.from_edges([("pets", "house cat"), ("wild", "big cat"), ("wild", "wolf")])
    >>> A = description_attributes(tax, beta=0.5)
    >>> (A @ A.T).toarray().round(2)
    array([[1.  , 0.06, 0.  ],
           [0.06, 1.  , 0.25],
           [0.  , 0.25, 1.  ]])
    """
    if not 0 <= beta <= 1:
        raise UserError(f"beta is {beta}. The share of the descriptions lies between 0 and 1.")
    if scheme is None:
        scheme = "depth" if taxonomy.is_tree else "perclass"
    vectorizer = TfidfVectorizer(dtype=np.float64) if vectorizer is None else vectorizer
    T = sp.csr_array(vectorizer.fit_transform(class_descriptions(taxonomy, ancestors)))
    A = class_attributes(taxonomy, scheme)
    return sp.csr_array(sp.hstack([np.sqrt(1 - beta) * A, np.sqrt(beta) * T], format="csr"))
