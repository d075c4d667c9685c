"""What hypothesis draws: edge lists of forests and DAGs, in any order, with any names."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def edge_lists(draw, max_nodes: int = 12, max_parents: int = 3, min_nodes: int = 1):
    """Lines (parent or None, child) of a DAG in random order; max_parents=1 gives forests."""
    n = draw(st.integers(min_nodes, max_nodes))
    names = draw(st.permutations([f"n{i}" for i in range(n)]))
    lines = []
    for v in range(n):
        above = (
            draw(st.lists(st.integers(0, v - 1), max_size=max_parents, unique=True)) if v else []
        )
        lines += [(names[p], names[v]) for p in above] or [(None, names[v])]
    return draw(st.permutations(lines))


def forests(max_nodes: int = 12, min_nodes: int = 1):
    """Edge lists in which no node has two parents."""
    return edge_lists(max_nodes, 1, min_nodes)
