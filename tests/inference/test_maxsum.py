"""Max-sum on forests against enumeration of all labelings."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy
from linnaeus.inference.maxsum import (
    max_sum,
    max_sum_except,
    min_sum_supported,
    node_margins,
    path_scores,
)
from linnaeus.losses import markov_edges


def forest_of(parent):
    names = {j: None if p < 0 else int(p) for j, p in enumerate(parent)}
    return Taxonomy.from_parents(names)


def random_forest(rng, k):
    return np.array([rng.integers(-1, j) if j else -1 for j in range(k)])


def codes_of(edges, labelings):
    above = np.where(edges.parent < 0, 1, labelings[:, edges.parent])
    return 2 * above + labelings[:, edges.child]


def all_labelings(parent, mode):
    every = np.array(list(product((0, 1), repeat=len(parent))))
    if mode == "all":
        return every
    closed = [all(p < 0 or y[p] >= y[j] for j, p in enumerate(parent)) for y in every]
    return every[np.array(closed)]


def enumerated(edges, s, labelings):
    """The score of every labeling."""
    codes = codes_of(edges, labelings)
    return s[np.arange(codes.shape[1]), codes].sum(axis=1)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parent = random_forest(rng, draw(st.integers(1, 7)))
    edges = markov_edges(forest_of(parent).tree, draw(st.sampled_from(("none", "all"))))
    s = rng.normal(size=(12, edges.child.size, 4))
    if draw(st.booleans()):
        s = s.round()  # ties
    return parent, edges, s, draw(st.sampled_from(("all", "consistent"))), rng


@given(problems())
def test_the_best_labeling(problem):
    parent, edges, s, mode, _ = problem
    labelings = all_labelings(parent, mode)
    found = max_sum(edges, s, mode)
    for i, row in enumerate(s):
        scores = enumerated(edges, row, labelings)
        assert found.value[i] == pytest.approx(scores.max())
        assert enumerated(edges, row, found.labels[[i]])[0] == pytest.approx(scores.max())
    assert (found.labels[:, None] == labelings).all(axis=2).any(axis=1).all()


@given(problems())
def test_the_best_labeling_but_one(problem):
    parent, edges, s, mode, rng = problem
    labelings = all_labelings(parent, mode)
    if len(labelings) == 1:
        return
    truth = labelings[rng.integers(len(labelings), size=len(s))]
    found = max_sum_except(edges, s, truth, mode)
    for i, row in enumerate(s):
        others = labelings[(labelings != truth[i]).any(axis=1)]
        best = enumerated(edges, row, others).max()
        assert found.value[i] == pytest.approx(best)
        assert (found.labels[i] != truth[i]).any()
        assert enumerated(edges, row, found.labels[[i]])[0] == pytest.approx(best)
        assert (others == found.labels[i]).all(axis=1).any()


@given(problems())
def test_the_worst_labeling_that_has_mass(problem):
    parent, edges, s, mode, rng = problem
    labelings = all_labelings(parent, mode)
    held = labelings[rng.integers(len(labelings), size=3)]
    mass = np.zeros(s.shape[1:])
    for codes in codes_of(edges, held):
        mass[np.arange(len(codes)), codes] += 1 / 3
    every = all_labelings(parent, "all")
    codes = codes_of(edges, every)
    supported = every[(mass[np.arange(codes.shape[1]), codes] > 0).all(axis=1)]
    found = min_sum_supported(edges, s, np.broadcast_to(mass, s.shape))
    for i, row in enumerate(s):
        least = enumerated(edges, row, supported).min()
        assert found.value[i] == pytest.approx(least)
        assert enumerated(edges, row, found.labels[[i]])[0] == pytest.approx(least)
        assert (supported == found.labels[i]).all(axis=1).any()


@given(problems())
def test_margins_and_paths(problem):
    parent, edges, s, mode, _ = problem
    labelings = all_labelings(parent, mode)
    margins, paths = node_margins(edges, s, mode), path_scores(edges, s)
    tax = forest_of(parent)
    path = tax.ancestor_matrix.toarray().astype(int)
    for i, row in enumerate(s):
        scores = enumerated(edges, row, labelings)
        np.testing.assert_allclose(paths[i], enumerated(edges, row, path), atol=1e-12)
        for j in range(len(parent)):
            on = labelings[:, j] == 1
            assert margins[i, j] == pytest.approx(scores[on].max() - scores[~on].max())


def test_thousands_of_random_forests():
    rng = np.random.default_rng(0)
    for _ in range(150):
        parent = random_forest(rng, int(rng.integers(1, 9)))
        edges = markov_edges(forest_of(parent).tree, rng.choice(["none", "all"]))
        s = rng.normal(size=(30, edges.child.size, 4))
        for mode in ("all", "consistent"):
            labelings = all_labelings(parent, mode)
            codes = codes_of(edges, labelings)
            scores = s[:, np.arange(codes.shape[1]), codes].sum(axis=2)
            found = max_sum(edges, s, mode)
            np.testing.assert_allclose(found.value, scores.max(axis=1))
            assert (found.labels == labelings[scores.argmax(axis=1)]).all()


def test_solved_problems(golden_file):
    for case in golden_file("hm3_variants")["dp"]:
        edges = markov_edges(forest_of(case["parent"]).tree, case["root_edges"])
        assert [list(e) for e in zip(edges.parent, edges.child, strict=True)] == case["edges"]
        for mode in ("all", "consistent"):
            found = max_sum(edges, [case["score"]], mode)
            assert (2 * found.labels[0] - 1).tolist() == case[f"argmax_{mode}"]
            assert found.value[0] == pytest.approx(case[f"value_{mode}"])


def test_ties_leave_nodes_off_and_threads_change_nothing():
    edges = markov_edges(forest_of([-1, 0, 0]).tree)
    assert not max_sum(edges, np.zeros((5, 2, 4)), "all").labels.any()
    s = np.random.default_rng(0).normal(size=(500, 2, 4))
    assert (max_sum(edges, s).labels == max_sum(edges, s, n_jobs=2).labels).all()
    assert (node_margins(edges, s) == node_margins(edges, s.astype(float), n_jobs=2)).all()
    flat = max_sum(edges, s.reshape(500, 8).astype(np.float32))
    assert flat.value == pytest.approx(max_sum(edges, s).value, rel=1e-5, abs=1e-5)


def test_a_long_chain_and_no_rows():
    parent = np.arange(-1, 4999)
    edges = markov_edges(forest_of(parent).tree)
    s = np.random.default_rng(0).normal(size=(2, 4999, 4))
    found = max_sum(edges, s, "all")
    codes = codes_of(edges, found.labels)
    for i in range(2):
        assert s[i, np.arange(4999), codes[i]].sum() == pytest.approx(found.value[i])
    assert max_sum(edges, s[:0]).labels.shape == (0, 5000)


def test_mistakes_are_named():
    edges = markov_edges(forest_of([-1, 0]).tree)
    with pytest.raises(ValueError, match=r"shape \(1, 3\); expected \(n_rows, 1, 4\)"):
        max_sum(edges, [[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="mode='some' is not known. Use one of: all, consistent"):
        max_sum(edges, [[[0, 0, 0, 0]]], "some")
    with pytest.raises(ValueError, match=r"shape \(1, 3\), but there are 1 rows"):
        max_sum_except(edges, [[[0, 0, 0, 0]]], [[0, 0, 0]])
    with pytest.raises(ValueError, match=r"Make them with linnaeus\.losses\.markov_edges"):
        max_sum(edges._replace(parent=edges.child), [[[0, 0, 0, 0]]])
