"""The best closed set against enumeration, an exact twin and a linear programme."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.inference import closed_argmax
from linnaeus.inference.closed import _dag


def taxonomy_of(parents):
    """Node v has the parents ``parents[v]``, all below v."""
    return Taxonomy.from_edges(
        [(p, v) for v, above in enumerate(parents) for p in (sorted(above) or [None])]
    )


def closed_sets(tax):
    """Every closed label set, as boolean rows; numbers may differ from names."""
    n = len(tax)
    rows = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    for parent, child in tax.edges:
        rows = rows[rows[:, tax.index(child)] <= rows[:, tax.index(parent)]]
    return rows.astype(bool)


@st.composite
def dags(draw, max_parents=3, max_nodes=9):
    n = draw(st.integers(1, max_nodes))
    return taxonomy_of(
        [draw(st.sets(st.integers(0, v - 1), max_size=max_parents)) if v else [] for v in range(n)]
    )


INTEGERS = st.integers(-4, 4)


@st.composite
def problems(draw, max_parents=3, values=INTEGERS):
    tax = draw(dags(max_parents))
    rows = draw(
        st.lists(st.lists(values, min_size=len(tax), max_size=len(tax)), min_size=1, max_size=3)
    )
    return tax, np.array(rows, dtype=float)


def check_against_enumeration(tax, scores, nonempty):
    sets = closed_sets(tax)
    sets = sets[sets.any(axis=1)] if nonempty else sets
    Y, value = closed_argmax(tax, scores, nonempty)
    on = Y.toarray() > 0
    for row, s, best in zip(on, scores, value, strict=True):
        sums = sets @ s
        assert best == pytest.approx(sums.max(), abs=1e-12)
        assert s[row].sum() == pytest.approx(best, abs=1e-12)
        assert (sets == row).all(axis=1).any()
    return sets, on


@given(problems(max_parents=1), st.booleans())
def test_forest_best_of_all_closed_sets(problem, nonempty):
    assert problem[0].is_tree
    check_against_enumeration(*problem, nonempty)


@given(problems(), st.booleans())
def test_dag_best_of_all_closed_sets(problem, nonempty):
    check_against_enumeration(*problem, nonempty)


@given(problems(values=st.floats(-1e3, 1e3, allow_subnormal=False)), st.booleans())
def test_dag_with_any_floats(problem, nonempty):
    tax, scores = problem
    sets = closed_sets(tax)
    sets = sets[sets.any(axis=1)] if nonempty else sets
    _, value = closed_argmax(tax, scores, nonempty)
    assert_allclose(value, (sets @ scores.T).max(axis=0), atol=1e-10)


@given(problems())
def test_of_several_best_sets_the_smallest_is_taken(problem):
    tax, scores = problem  # small whole numbers: sums are exact and ties frequent
    sets, on = check_against_enumeration(tax, scores, nonempty=False)
    for row, s in zip(on, scores, strict=True):
        sums = sets @ s
        assert_array_equal(row, sets[sums == sums.max()].all(axis=0))


@given(problems(max_parents=1), st.booleans())
def test_minimum_cut_and_dynamic_programme_agree_on_forests(problem, nonempty):
    tax, scores = problem
    value = np.zeros(len(scores))
    cut = np.vstack(list(_dag(tax, scores, nonempty, value)))
    Y, expected = closed_argmax(tax, scores, nonempty)
    assert_array_equal(value, expected)
    if not nonempty:
        assert_array_equal(cut, Y.toarray() > 0)


def test_scores_of_very_different_size_are_summed_exactly():
    # Two supplies of 2^-40 pay for a node of -2^-39 only when nothing is rounded away beside 2^10.
    small = 2.0**-40
    tax = Taxonomy.from_edges([("a", "c"), ("b", "c"), ("a", "d"), ("b", "d"), (None, "big")])
    names = dict(zip(tax.nodes, range(len(tax)), strict=True))
    s = np.zeros(len(tax))
    for name, x in {"a": -small, "b": -small, "c": small, "d": small, "big": 1024.0}.items():
        s[names[name]] = x
    assert tax.decode(closed_argmax(tax, s[None])[0]) == [["big"]]  # a tie: the smaller set
    s[names["d"]] *= 1.5
    assert sorted(tax.decode(closed_argmax(tax, s[None])[0])[0]) == ["a", "b", "big", "c", "d"]


@pytest.mark.parametrize("exponent", [-1060, -40, 40, 1015])
def test_the_size_of_the_scores_does_not_matter(exponent):
    size = 2.0**exponent  # a power of two, so that ties stay ties
    rng = np.random.default_rng(0)
    tax = taxonomy_of([rng.permutation(v)[:3].tolist() for v in range(8)])
    scores = rng.integers(-8, 9, size=(20, 8)).astype(float)
    expected, value = closed_argmax(tax, scores, nonempty=True)
    found, scaled = closed_argmax(tax, scores * size, nonempty=True)
    assert_array_equal(found.toarray(), expected.toarray())
    assert_allclose(scaled, value * size, rtol=1e-12)


def random_dag(rng, n):
    return taxonomy_of(
        [rng.permutation(v)[: rng.integers(1, 4)].tolist() if v else [] for v in range(n)]
    )


def best_by_linear_programme(tax, s):
    """The closure problem's constraint matrix is totally unimodular: the relaxation is exact."""
    edges = np.array([(tax.index(p), tax.index(c)) for p, c in tax.edges])
    m = len(edges)
    ends = np.concatenate([edges[:, 1], edges[:, 0]])
    A = sp.csr_array(
        (np.repeat([1.0, -1.0], m), (np.tile(np.arange(m), 2), ends)), shape=(m, len(tax))
    )
    solved = linprog(-s, A_ub=A, b_ub=np.zeros(m), bounds=(0, 1), method="highs")
    assert solved.status == 0
    return -solved.fun


@pytest.mark.parametrize("seed", range(5))
def test_larger_dags_against_a_linear_programme(seed):
    rng = np.random.default_rng(seed)
    tax = random_dag(rng, 120)
    scores = rng.normal(size=(4, 120)) + rng.uniform(-1, 0.5)
    Y, value = closed_argmax(tax, scores)
    assert_array_equal(tax.closure(Y).toarray(), Y.toarray())
    for s, best in zip(scores, value, strict=True):
        assert best == pytest.approx(best_by_linear_programme(tax, s), abs=1e-8)


def go_taxonomy(shared):
    lines = shared("data", "cellcycle_GO", "taxonomy.tsv").read_text().splitlines()
    edges = [line.split("\t") for line in lines]
    return Taxonomy.from_edges([(None if p == "root" else p, c) for p, c in edges])


def test_gene_ontology_against_a_linear_programme(shared):
    tax = go_taxonomy(shared)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(5, len(tax))) - np.array([[0.0], [0.3], [0.7], [1.0], [1.5]])
    Y, value = closed_argmax(tax, scores)
    assert_array_equal(tax.closure(Y).toarray(), Y.toarray())
    assert_allclose(value, (Y.toarray() * scores).sum(axis=1), rtol=1e-10)
    for s, best in zip(scores, value, strict=True):
        assert best == pytest.approx(best_by_linear_programme(tax, s), rel=1e-7)


def test_gene_ontology_value_is_exact_for_binary_fractions(shared):
    tax = go_taxonomy(shared)
    rng = np.random.default_rng(1)
    scores = (rng.integers(-2000, 700, size=(3, len(tax))) / 1024).astype(np.float32)
    Y, value = closed_argmax(tax, scores)
    for i in range(3):
        on = Y[[i]].indices
        assert Fraction(value[i]) == sum(Fraction(float(x)) for x in scores[i, on])
        assert value[i] == pytest.approx(best_by_linear_programme(tax, scores[i]), rel=1e-7)


def test_rows_in_blocks_do_not_depend_on_each_other(monkeypatch):
    rng = np.random.default_rng(0)
    for tax in (random_dag(rng, 12), taxonomy_of([[v // 2] if v else [] for v in range(12)])):
        scores = rng.normal(size=(9, 12)).astype(np.float32)
        whole, value = closed_argmax(tax, scores)
        monkeypatch.setattr("linnaeus.inference.rows.BLOCK_ENTRIES", 24)
        parts, part_value = closed_argmax(tax, np.asfortranarray(scores))
        monkeypatch.undo()
        assert_array_equal(parts.toarray(), whole.toarray())
        assert_array_equal(part_value, value)
        assert whole.dtype == np.int8


def test_no_rows_and_no_nodes():
    tax = Taxonomy.from_edges([("a", "b")])
    Y, value = closed_argmax(tax, np.zeros((0, 2)))
    assert Y.shape == (0, 2) and value.shape == (0,)
    Y, value = closed_argmax(Taxonomy.from_edges([]), np.zeros((3, 0)), nonempty=True)
    assert Y.shape == (3, 0) and value.tolist() == [0, 0, 0]


@pytest.mark.parametrize("edges", [[("a", "b")], [("a", "c"), ("b", "c")]])
def test_what_is_refused(edges):
    tax = Taxonomy.from_edges(edges)
    with pytest.raises(UserError, match=r"scores have 7 columns, but the taxonomy has \d nodes"):
        closed_argmax(tax, np.zeros((1, 7)))
    bad = np.zeros((2, len(tax)))
    bad[1, 0] = np.nan
    with pytest.raises(UserError, match=r"label 0 in row 1 is nan\. Scores must be finite"):
        closed_argmax(tax, bad)
    with pytest.raises(UserError, match=r"shape \(2,\); expected .* np.atleast_2d"):
        closed_argmax(tax, [1.0, 2.0])
    with pytest.raises(UserError, match=r"sparse matrix.*toarray"):
        closed_argmax(tax, sp.csr_array((1, len(tax))))
    with pytest.raises(UserError, match=r"type <U1; expected numbers"):
        closed_argmax(tax, [["x", "y"]])
