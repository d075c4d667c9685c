"""Building a taxonomy of 500,000 nodes: time against a sort of its edges, and bytes a node.

The yardstick is what NumPy needs to sort the same edge array as strings, in the same run. Three
orders of the lines: grouped by parent as taxonomies are usually written, a random recursive tree
in order of birth (parents scattered), and that one with its lines shuffled in the file.
"""

from __future__ import annotations

import gc
import resource
import sys
import time

import numpy as np

from linnaeus import Taxonomy

N_NODES = 500_000


def grouped_edges(n: int, rng: np.random.Generator) -> np.ndarray:
    """Children of a node stand together: sizes of families are geometric."""
    sizes = rng.geometric(0.1, size=n)
    parent = np.repeat(np.arange(n), sizes)[: n - 1]
    return _named(parent)


def scattered_edges(n: int, rng: np.random.Generator) -> np.ndarray:
    """A random recursive tree: every node draws its parent among the earlier ones."""
    return _named((rng.random(n - 1) * np.arange(1, n)).astype(np.int64))


def _named(parent: np.ndarray) -> np.ndarray:
    child = np.arange(1, parent.size + 1)
    return np.char.add("node", np.column_stack([parent, child]).astype(str))


def best_of(run, repeats: int = 5) -> float:
    """The least time of several runs: what is left when the machine does nothing else."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def bytes_per_node(taxonomy: Taxonomy) -> float:
    """Arrays, the index and the tuple of names, the ancestor closure included, names excluded."""
    arrays = [*taxonomy.dag, *taxonomy.ancestor_lists, taxonomy.related_numbers]
    total = sum(array.nbytes for array in arrays)
    taxonomy.index(taxonomy.nodes[0])  # the index from names to numbers is made on first use
    index = taxonomy._index
    total += sys.getsizeof(index) + sys.getsizeof(taxonomy.nodes)
    total += sum(map(sys.getsizeof, index.values()))
    return total / len(taxonomy)


def main() -> None:
    Taxonomy.from_edges([("b", "c"), ("a", "b")])  # compile before the clock starts
    rng = np.random.default_rng(0)
    scattered = scattered_edges(N_NODES, rng)
    cases = {
        "grouped by parent": grouped_edges(N_NODES, rng),
        "scattered parents": scattered,
        "shuffled lines": rng.permutation(scattered),
    }
    print(f"{N_NODES:,} nodes; limit: 3 x the sort, 400 bytes a node")
    print(f"{'edge list':20} {'sort s':>8} {'build s':>8} {'ratio':>6} {'bytes/node':>11}")
    for name, array in cases.items():
        edges = [tuple(row) for row in array.tolist()]
        sort = best_of(lambda array=array: np.sort(array, axis=None))
        build = best_of(lambda edges=edges: Taxonomy.from_edges(edges))
        size = bytes_per_node(Taxonomy.from_edges(edges))
        print(f"{name:20} {sort:8.3f} {build:8.3f} {build / sort:6.2f} {size:11.0f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the whole run: {peak:,.0f} MB")


if __name__ == "__main__":
    main()
