"""Make label sets closed under "parent of", by switching labels off or on.

down: breadth-first from the roots, a label with a parent that is off after repair goes off
      ([Rousu2006]; on a DAG all parents must be on, so that the result is closed);
up:   every ancestor of a label goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.inference import repair_fast
from linnaeus.taxonomy import Taxonomy


def repair(taxonomy: Taxonomy, Y: Any, mode: str = "down") -> sp.csr_array:
    """The label sets `Y` made closed.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    Y : array-like, sparse matrix or list of lists
        Label sets in any form.
    mode : {'down', 'up'}, default='down'
        'down' switches off labels with a parent that is off; 'up' switches on the ancestors of
        every label.

    Returns
    -------
    csr_array of shape (n_rows, n_nodes)
        Indicator of int8 over the nodes.
    """
    if mode not in ("down", "up"):
        raise UserError(
            f"mode={mode!r} is not known. Use 'down' (switch orphans off) or 'up' "
            f"(switch their ancestors on)."
        )
    given = taxonomy.encode(Y)
    if mode == "up":
        return taxonomy.closure(given)
    given.sort_indices()
    ptr, labels = given.indptr.astype(np.int64), given.indices.astype(np.int32)
    keep = np.empty(labels.size, dtype=bool)
    mark = np.full(len(taxonomy), -1, dtype=np.int64)
    dag = taxonomy.dag
    repair_fast.keep_closed(dag.parent_ptr, dag.parents, ptr, labels, mark, keep)
    kept = np.concatenate([[0], np.cumsum(keep)])[ptr]
    ones = np.ones(int(kept[-1]), dtype=np.int8)
    return sp.csr_array((ones, labels[keep], kept), shape=given.shape)
