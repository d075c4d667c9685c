# mypy: ignore-errors
"""Orders, depths and ancestor sets of a directed acyclic graph, in one pass each.

Give each loop first about how many steps it takes (`whole`). Nodes are numbers; a graph
is two CSR lists, the children and the parents of every node. Once nodes are numbered parents first,
depth and ancestors of v follow from those of its parents:

    depth(v) = 1 + max_p depth(p),      anc(v) = {v} + union_p anc(p),      p parent of v.
"""

from __future__ import annotations

from linnaeus.compiled import loop

SMALL = 10_000  # steps that the interpreter makes in less time than the compiler needs


class whole:
    """Mark a loop over whole numbers, which calls no other: small work is left to the interpreter.

    Its first argument is about how many steps there are; the result is the same. So Numba, which
    takes most of a second to import, is loaded for large work only.
    """

    def __init__(self, function):
        self.function, self.made = function, None

    def __call__(self, n_steps, *arguments):
        if self.made is None and n_steps <= SMALL:
            return self.function(*arguments)
        self.made = self.made or loop(self.function)
        return self.made(*arguments)


@whole
def group(rows, values, next_slot, out):
    """Put each value into the list of its row.

    rows, values : (n_entries,) int32
    next_slot    : (n_rows,) int64  start of each list; moved to its end
    out          : (n_entries,) int32  result
    """
    for e in range(rows.size):
        out[next_slot[rows[e]]] = values[e]
        next_slot[rows[e]] += 1


@whole
def transpose(ptr, values, next_slot, out):
    """From the lists ``row -> values`` to the lists ``value -> rows``, each ascending.

    ptr, values : CSR lists
    next_slot   : (n_values,) int64  start of each new list; moved to its end
    out         : (n_entries,) int32  result
    """
    for r in range(ptr.size - 1):
        for e in range(ptr[r], ptr[r + 1]):
            v = values[e]
            out[next_slot[v]] = r
            next_slot[v] += 1


@whole
def topological_order(child_ptr, children, n_waiting, heap, order):
    """Place parents first; among the nodes that may come next, the lowest number first.

    child_ptr, children : CSR lists of the children of each node
    n_waiting : (n,) int32  number of parents of each node; used up
    heap      : (n,) int32  work space, a binary heap of the nodes that may come next
    order     : (n,) int32  result: the nodes in their new order
    Returns how many nodes were placed: less than n when there is a cycle.
    """
    size = 0
    for v in range(n_waiting.size):
        if n_waiting[v] == 0:
            heap[size] = v  # numbers ascend, so this is a heap already
            size += 1
    placed = 0
    while size > 0:
        v = heap[0]
        size -= 1
        last = heap[size]
        i = 0  # sift the last entry down from the top
        while 2 * i + 1 < size:
            j = 2 * i + 1
            if j + 1 < size and heap[j + 1] < heap[j]:
                j += 1
            if heap[j] >= last:
                break
            heap[i] = heap[j]
            i = j
        heap[i] = last
        order[placed] = v
        placed += 1
        for e in range(child_ptr[v], child_ptr[v + 1]):
            c = children[e]
            n_waiting[c] -= 1
            if n_waiting[c] == 0:
                i = size  # sift the new entry up from the end
                size += 1
                while i > 0 and heap[(i - 1) // 2] > c:
                    heap[i] = heap[(i - 1) // 2]
                    i = (i - 1) // 2
                heap[i] = c
    return placed


@whole
def longest_depth(parent_ptr, parents, depth):
    """Write the number of edges on the longest way down to each node into `depth`.

    parent_ptr, parents : CSR lists of the parents, every parent numbered before its child
    depth : (n,) int32  result
    """
    for v in range(depth.size):
        deepest = -1
        for e in range(parent_ptr[v], parent_ptr[v + 1]):
            if depth[parents[e]] > deepest:
                deepest = depth[parents[e]]
        depth[v] = deepest + 1


@whole
def list_ancestors(starts, parent_ptr, parents, seen, found, ptr, ancestors):
    """Count the ancestors of each node of `starts`, itself included, and list them ascending.

    starts : (m,) int32  the nodes to climb from, each once
    seen   : (n,) int32  work space, -1 everywhere
    found  : (n,) int32  work space
    ptr    : (m + 1,) int64  result: where each list starts
    ancestors : (ptr[m],) int32  result; if it is empty, they are counted only
    """
    ptr[0] = 0
    for s in range(starts.size):
        v = found[0] = starts[s]
        seen[v] = v
        n, i = 1, 0
        while i < n:
            for e in range(parent_ptr[found[i]], parent_ptr[found[i] + 1]):
                p = parents[e]
                if seen[p] != v:
                    seen[p] = v
                    found[n] = p
                    n += 1
            i += 1
        first = ptr[s]
        ptr[s + 1] = first + n
        for i in range(n if ancestors.size > 0 else 0):
            u = found[n - 1 - i]  # those above a tree's node come in descending order: none moves
            at = first + i
            while at > first and ancestors[at - 1] > u:
                ancestors[at] = ancestors[at - 1]
                at -= 1
            ancestors[at] = u
