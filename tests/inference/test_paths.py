"""Ways down a taxonomy against plain recursion over all paths."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from linnaeus import Taxonomy
from linnaeus.inference import paths
from strategies import edge_lists, forests

N_ROWS = 7


class Table:
    """Local log scores drawn once for every family; remembers what was asked."""

    def __init__(self, fam: paths.Families, seed: int, normal: bool = True) -> None:
        rng = np.random.default_rng(seed)
        sizes = np.diff(fam.ptr)
        self.scores = [rng.normal(size=(N_ROWS, k)) for k in sizes]
        if normal:
            self.scores = [s - np.log(np.exp(s).sum(axis=1, keepdims=True)) for s in self.scores]
        self.asked: list[tuple[int, int]] = []

    def __call__(self, f: int, rows: np.ndarray) -> np.ndarray:
        self.asked += [(f, int(i)) for i in rows]
        return self.scores[f][rows]


def all_ways(tax: Taxonomy, fam: paths.Families, table: Table, i: int) -> dict[int, list[float]]:
    """The scores of all paths to every node, by recursion from the roots."""
    found: dict[int, list[float]] = {v: [] for v in range(len(tax))}
    family = {int(p): f for f, p in enumerate(fam.parent)}

    def go(p: int, score: float) -> None:
        if p not in family:
            return
        f = family[p]
        for j, c in enumerate(fam.children(f).tolist()):
            found[c].append(score + table.scores[f][i, j])
            go(c, found[c][-1])

    go(-1, 0.0)
    return found


def make(lines, seed: int, normal: bool = True):
    tax = Taxonomy.from_edges(lines)
    fam = paths.families(tax)
    return tax, fam, Table(fam, seed, normal)


def test_families_of_a_small_forest():
    tax = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("c", "d"), (None, "e")])
    fam = paths.families(tax)
    names = [[tax.nodes[c] for c in fam.children(f)] for f in range(fam.parent.size)]
    assert names == [["a", "e"], ["b", "c"], ["d"]]
    assert [tax.nodes[p] if p >= 0 else None for p in fam.parent] == [None, "a", "c"]
    assert [level.tolist() for level in fam.levels] == [[1], [2]]


@given(edge_lists(), st.integers(0, 100))
def test_all_paths_takes_the_best_or_the_sum(lines, seed):
    tax, fam, table = make(lines, seed)
    best = paths.all_paths(fam, N_ROWS, table).score
    total = paths.all_paths(fam, N_ROWS, table, total=True).score
    for i in range(N_ROWS):
        ways = all_ways(tax, fam, table, i)
        assert_allclose(best[:, i], [max(ways[v]) for v in range(len(tax))], atol=1e-12)
        assert_allclose(np.exp(total[:, i]), [np.exp(ways[v]).sum() for v in range(len(tax))])
    assert_allclose(np.exp(total[tax.leaf_numbers]).sum(axis=0), 1.0)


@given(edge_lists(), st.integers(0, 100))
def test_a_wide_beam_sees_everything(lines, seed):
    tax, fam, table = make(lines, seed)
    wide = paths.beam(fam, N_ROWS, table, width=len(tax))
    assert_allclose(wide.score, paths.all_paths(fam, N_ROWS, table).score, atol=1e-12)


@given(edge_lists(), st.integers(0, 100), st.integers(1, 3))
def test_a_beam_looks_below_the_best_of_each_level(lines, seed, width):
    _, fam, table = make(lines, seed)
    score = paths.beam(fam, N_ROWS, table, width).score
    asked = set(table.asked)
    assert len(asked) == len(table.asked)  # nobody is asked twice
    for level in fam.levels:
        nodes = fam.parent[level]
        for i in range(N_ROWS):
            seen = [(-score[v, i], v) for v in nodes.tolist() if np.isfinite(score[v, i])]
            below = {
                v for f, v in zip(level.tolist(), nodes.tolist(), strict=True) if (f, i) in asked
            }
            assert below == {v for _, v in sorted(seen)[:width]}


@given(edge_lists(), st.integers(0, 100))
def test_greedy_takes_the_best_child_down_to_one_leaf(lines, seed):
    tax, fam, table = make(lines, seed)
    ways = paths.greedy(fam, N_ROWS, table, several=False)
    family = {int(p): f for f, p in enumerate(fam.parent)}
    for i in range(N_ROWS):
        v, path = -1, set()
        while v in family:
            f = family[v]
            v = int(fam.children(f)[table.scores[f][i].argmax()])
            path.add(v)
        assert set(np.flatnonzero(ways.taken[:, i]).tolist()) == path
        assert np.isfinite(ways.score[list(path), i]).all()
    assert_array_equal(ways.taken[tax.leaf_numbers].sum(axis=0), 1)


@given(edge_lists(), st.integers(0, 100))
def test_greedy_with_several_labels_follows_every_likely_child(lines, seed):
    tax, fam, table = make(lines, seed, normal=False)
    ways = paths.greedy(fam, N_ROWS, table, several=True)
    family = {int(p): f for f, p in enumerate(fam.parent)}
    for i in range(N_ROWS):
        taken: set[int] = set()

        def go(p: int, i=i, taken=taken) -> None:
            if p in family:
                s, children = table.scores[family[p]][i], fam.children(family[p]).tolist()
                on = [c for c, x in zip(children, s, strict=True) if x > np.log(0.5)]
                for c in on or [children[int(s.argmax())]]:
                    taken.add(c)
                    go(c)

        go(-1)
        assert set(np.flatnonzero(ways.taken[:, i]).tolist()) == taken
    assert ways.taken[tax.leaf_numbers].any(axis=0).all()


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 100))
def test_best_nodes_are_the_first_of_a_stable_sort(n, width, seed):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 4, size=(n, N_ROWS)).astype(float)
    score[rng.random(score.shape) < 0.3] = -np.inf
    nodes = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)]).astype(np.int32)
    best, value = paths.best_nodes(score, nodes, width)
    for i in range(N_ROWS):
        order = [
            v for v in nodes[np.argsort(-score[nodes, i], kind="stable")] if score[v, i] > -np.inf
        ]
        expected = (order + [-1] * width)[:width]
        assert best[i].tolist() == expected
        assert_array_equal(value[i], [score[v, i] if v >= 0 else -np.inf for v in expected])


@given(forests(), st.integers(0, 100), st.floats(0.01, 0.99))
def test_back_off_is_the_deepest_node_that_is_likely_enough(lines, seed, threshold):
    tax, fam, table = make(lines, seed)
    P = np.exp(paths.all_paths(fam, N_ROWS, table).score)
    leaf = np.resize(tax.leaf_numbers, N_ROWS)
    stopped = paths.back_off(tax, paths.along(tax, P, leaf), threshold)
    for i in range(N_ROWS):
        chain = [tax.index(a) for a in tax.ancestors(tax.nodes[leaf[i]])]
        likely = [v for v in chain if P[v, i] >= threshold]
        root = next(v for v in chain if tax.depth[v] == 0)
        assert stopped[i] == max(likely, key=lambda v: tax.depth[v], default=root)


@given(edge_lists(min_nodes=2), st.integers(0, 100), st.booleans())
def test_what_is_reached_by_steps_that_are_likely_enough(lines, seed, every):
    """Every node has a threshold of its own; parents need not be likelier than children."""
    tax = Taxonomy.from_edges(lines)
    rng = np.random.default_rng(seed)
    P, least = rng.random((N_ROWS, len(tax))), rng.random(len(tax))
    P[rng.random(P.shape) < 0.3] = 0.0  # not offered
    P[:, tax.root_numbers[0]] = 0.01
    found = paths.reached(tax, sp.csr_array(P), least, every).toarray()
    for p, kept in zip(P, found, strict=True):
        on: set[int] = set()
        for v in range(len(tax)):
            above = [tax.index(a) in on for a in tax.parents(tax.nodes[v])]
            if p[v] > 0 and p[v] >= least[v] and (not above or (all if every else any)(above)):
                on.add(v)
        on = on or {max(tax.root_numbers, key=lambda v, p=p: p[v])}
        assert_array_equal(kept, [p[v] if v in on else 0 for v in range(len(tax))])


@pytest.mark.parametrize("width", [1, 2])
@given(lines=edge_lists(min_nodes=3), seed=st.integers(0, 100))
def test_leaves_passed_by_lie_below_those_reached(lines, seed, width):
    tax, fam, table = make(lines, seed)
    for ways in (
        paths.beam(fam, N_ROWS, table, width),
        paths.greedy(fam, N_ROWS, table, several=False),
    ):
        leaves = tax.leaf_numbers
        out = paths.leaf_scores(tax, ways, leaves)
        assert np.isfinite(out).all()
        reached = ways.taken if ways.taken is not None else np.isfinite(ways.score)
        reached = reached[leaves]
        assert_array_equal(out[reached], ways.score[leaves][reached])
        low = np.where(reached, out, np.inf).min(axis=0)
        assert (np.where(reached, -np.inf, out).max(axis=0) < low).all()
