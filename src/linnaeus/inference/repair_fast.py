# mypy: ignore-errors
"""Consistency repair: keep the labels all of whose ancestors are labels too.

keep(v) = on(v) and keep(p) for every parent p of v,       roots first [Rousu2006]
"""

from __future__ import annotations

from linnaeus.compiled import loop


@loop
def keep_closed(parent_ptr, parents, ptr, labels, mark, keep):
    """Mark the labels to keep; every row of `labels` ascends, so parents come first.

    parent_ptr, parents : CSR lists of the parents
    ptr, labels : CSR label sets;   mark : (n_nodes,) int64, work space, -1 everywhere
    keep : (n_labels,) bool, result
    """
    for i in range(ptr.size - 1):
        for j in range(ptr[i], ptr[i + 1]):
            v = labels[j]
            keep[j] = True
            for e in range(parent_ptr[v], parent_ptr[v + 1]):
                if mark[parents[e]] != i:
                    keep[j] = False
                    break
            if keep[j]:
                mark[v] = i
