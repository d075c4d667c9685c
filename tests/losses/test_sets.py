"""Losses between label sets against set arithmetic."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.losses import class_loss, label_set_loss, node_coefficients, set_loss
from strategies import edge_lists

SCALINGS = ["unif", "sibl", "subtree"]


@st.composite
def cases(draw, rows=4):
    """A DAG and two lists of label sets."""
    tax = Taxonomy.from_edges(draw(edge_lists(max_nodes=8)))
    sets = st.lists(st.lists(st.sampled_from(tax.nodes)), min_size=rows, max_size=rows)
    return tax, draw(sets), draw(sets)


def plain_loss(tax, y, u, loss, ancestors):
    wrong = set(y) ^ set(u)
    if loss == "zero_one":
        return float(bool(wrong))
    if loss == "delta":
        return float(len(wrong))
    c = dict(zip(tax.nodes, node_coefficients(tax, loss), strict=True))
    above = {
        v: set(tax.ancestors(v)) - {v} if ancestors == "all" else set(tax.parents(v)) for v in wrong
    }
    return sum(c[v] for v in wrong if not above[v] & wrong)


def anc(tax, labels):
    return {a for v in labels for a in tax.ancestors(v)}


@given(
    cases(),
    st.sampled_from(["zero_one", "delta", *SCALINGS]),
    st.sampled_from(["parent", "all"]),
)
def test_label_set_losses_follow_their_definitions(case, loss, ancestors):
    tax, Y, U = case
    expected = [plain_loss(tax, y, u, loss, ancestors) for y, u in zip(Y, U, strict=True)]
    np.testing.assert_allclose(label_set_loss(Y, U, tax, loss, ancestors), expected, atol=1e-12)
    dense = label_set_loss(tax.encode(Y).toarray(), tax.encode(U).toarray(), tax, loss, ancestors)
    np.testing.assert_allclose(dense, expected, atol=1e-12)


@given(cases(), st.sampled_from(SCALINGS))
def test_both_hierarchical_losses_agree_on_closed_sets(case, scaling):
    tax, Y, U = case
    Y, U = tax.closure(tax.encode(Y)), tax.closure(tax.encode(U))
    h, h_tilde = (label_set_loss(Y, U, tax, scaling, a) for a in ("all", "parent"))
    np.testing.assert_allclose(h, h_tilde, atol=1e-12)


def test_golden_losses(golden_file):
    for case in golden_file("hm3_variants")["losses"]:
        parents = {j: None if p < 0 else p for j, p in enumerate(case["parent"])}
        tax = Taxonomy.from_parents(parents)
        y, u = (np.array([case[k]]) > 0 for k in "yu")
        for name, loss in (("01", "zero_one"), ("delta", "delta")):
            assert label_set_loss(y.astype(int), u.astype(int), tax, loss)[0] == case[name]
        for scaling in SCALINGS:
            for name, ancestors in (("H", "all"), ("H~", "parent")):
                got = label_set_loss(y.astype(int), u.astype(int), tax, scaling, ancestors)
                np.testing.assert_allclose(got, [case[f"{name}-{scaling}"]], rtol=1e-12)


@given(cases(), st.lists(st.integers(0, 5), min_size=8, max_size=8))
def test_subscription_losses_follow_their_definition(case, volumes):
    tax, Y, U = case
    s = dict(zip(tax.nodes, volumes, strict=False))
    sides = [(anc(tax, y), anc(tax, u)) for y, u in zip(Y, U, strict=True)]
    expected = [3 * sum(s[v] for v in a - b) + sum(s[v] for v in b - a) for a, b in sides]
    np.testing.assert_allclose(set_loss(Y, U, tax, s, c_miss=3, c_false=1), expected)
    np.testing.assert_allclose(set_loss(Y, U, tax, list(s.values()), 3, 1), expected)
    np.testing.assert_allclose(set_loss(Y, U, tax), [len(a ^ b) for a, b in sides])


def test_golden_set_losses(golden_file):
    golden = golden_file("ranking")
    assert golden["set_losses_volume_rule"].startswith("volume of the k-th node")
    for case in golden["set_losses"]:
        tax = Taxonomy.from_edges(golden["taxonomies"][case["taxonomy"]]["edges"])
        volumes = {v: 1 + k for k, v in enumerate(tax.nodes)}
        assert set_loss([case["Y"]], [case["Yhat"]], tax)[0] == case["unit"]
        got = set_loss([case["Y"]], [case["Yhat"]], tax, volumes, c_miss=3, c_false=1)
        assert got[0] == case["volumes_cminus3_cplus1"]


@given(cases(rows=1))
def test_proposition_1_bounds_the_set_loss_by_a_sum_of_distances(case):
    tax, (Y,), (U,) = case
    Y, U = set(Y) & set(tax.leaves), set(U) & set(tax.leaves)
    if not (Y <= U or U <= Y):
        number = {v: i for i, v in enumerate(tax.leaves)}
        pairs = [(number[y], number[z]) for y in Y - U for z in U - Y]
        bound = class_loss("distance", tax).pairs(*zip(*pairs, strict=True)).sum()
        assert set_loss([Y], [U], tax)[0] <= bound + 1e-9


def test_the_question_is_not_changed():
    tax = Taxonomy.from_edges([("a", "b"), ("a", "c")])
    Y = sp.csr_array((np.array([0, 1, 1], np.int8), np.array([2, 1, 0]), np.array([0, 3])), (1, 3))
    before = (Y.indices.copy(), Y.data.copy())
    label_set_loss(Y, tax.encode([["a"]]), tax, "unif")
    set_loss(Y, tax.encode([["a"]]), tax)
    np.testing.assert_array_equal(Y.indices, before[0])
    np.testing.assert_array_equal(Y.data, before[1])


def test_errors_name_the_thing_the_value_and_the_remedy():
    tax = Taxonomy.from_edges([("a", "b"), ("a", "c")])
    one = [["b"]]
    with pytest.raises(UserError, match=r"\(1, 3\) and \(2, 3\).*one row for every example"):
        label_set_loss(one, one * 2, tax)
    with pytest.raises(UserError, match="Row 0: 'x' is not a node"):
        label_set_loss([["x"]], one, tax)
    with pytest.raises(UserError, match="'hamming' is not known. Use one of: zero_one, delta"):
        label_set_loss(one, one, tax, "hamming")
    with pytest.raises(UserError, match="ancestors='none' is not known. Use 'parent' or 'all'"):
        label_set_loss(one, one, tax, "unif", "none")
    with pytest.raises(UserError, match="volume of node 'c' is -1.0"):
        set_loss(one, one, tax, {"c": -1})
    with pytest.raises(UserError, match=r"shape \(2,\), but the taxonomy has 3 nodes"):
        set_loss(one, one, tax, [1, 2])
    with pytest.raises(UserError, match="c_miss is -1. A cost must be 0 or positive"):
        set_loss(one, one, tax, c_miss=-1)
    with pytest.raises(UserError, match="both 0"):
        set_loss(one, one, tax, c_miss=0, c_false=0)
