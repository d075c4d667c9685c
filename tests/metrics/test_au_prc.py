"""The area under the precision-recall curve against scikit-learn on dense closures."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from linnaeus import Taxonomy, metrics
from linnaeus.errors import UserError
from linnaeus.metrics import blocks
from strategies import edge_lists

LOW = -1e6  # below every score: what is absent


@st.composite
def cases(draw):
    """A DAG, label sets with a label somewhere, and scores of nodes with ties."""
    tax = Taxonomy.from_edges(draw(edge_lists(max_nodes=9)))
    n = draw(st.integers(1, 5))
    sets = draw(st.lists(st.sets(st.sampled_from(tax.nodes)), min_size=n, max_size=n))
    sets[0] = sets[0] or {tax.nodes[-1]}
    row = st.lists(st.integers(-3, 3), min_size=len(tax), max_size=len(tax))
    keep = st.lists(st.booleans(), min_size=n * len(tax), max_size=n * len(tax))
    S = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    return tax, [sorted(y) for y in sets], S, np.array(draw(keep)).reshape(S.shape)


def closed_scores(tax, S, names):
    """The largest score at or below each node, by sets."""
    column = {name: j for j, name in enumerate(names)}
    out = np.full((len(S), len(tax)), LOW)
    for v, node in enumerate(tax.nodes):
        below = [column[u] for u in tax.descendants(node) if u in column]
        below += [column[node]] if node in column else []
        if below:
            out[:, v] = S[:, below].max(axis=1)
    return out


def plain(tax, Y, S, names, average, used):
    """By scikit-learn, over the nodes that are used."""
    above = [{a for y in row for a in tax.ancestors(y)} for row in Y]
    true = np.array([[v in nodes for v in tax.nodes] for nodes in above])
    F = closed_scores(tax, S, names)
    nodes = [v for v in used if true[:, v].any()]
    if average == "pooled":
        return average_precision_score(true[:, used].ravel(), F[:, used].ravel())
    each = [average_precision_score(true[:, v], F[:, v]) for v in nodes]
    return np.average(each, weights=true[:, nodes].sum(axis=0) if average == "weighted" else None)


@pytest.mark.slow
@settings(max_examples=80)
@given(cases(), st.sampled_from(["pooled", "mean", "weighted"]))
def test_the_area_is_scikit_learns_on_closures(case, average):
    tax, Y, S, keep = case
    every = list(range(len(tax)))
    expected = plain(tax, Y, S, tax.nodes, average, every)
    for form in (S, S.astype(np.float32), S.astype(int)):
        got = metrics.au_prc(Y, form, tax, average, classes=tax.nodes)
        np.testing.assert_allclose(got, expected, atol=1e-12)
    leaves = tax.leaf_numbers
    got = metrics.au_prc(Y, S[:, leaves], tax, average)
    np.testing.assert_allclose(got, plain(tax, Y, S[:, leaves], tax.leaves, average, every))
    low = np.where(keep, S, LOW)
    expected = plain(tax, Y, low, tax.nodes, average, every)
    rows, columns = np.nonzero(keep)
    sparse = sp.csr_array((S[keep], (rows, columns)), shape=S.shape)
    for form in (sparse, np.where(keep, S, -np.inf)):  # what is absent comes last, all at once
        got = metrics.au_prc(Y, form, tax, average, classes=tax.nodes)
        np.testing.assert_allclose(got, expected, atol=1e-12)


@settings(max_examples=30)
@given(cases(), st.sampled_from(["pooled", "mean", "weighted"]))
def test_roots_may_be_left_out(case, average):
    tax, Y, S, _ = case
    used = [v for v, node in enumerate(tax.nodes) if node not in tax.roots]
    below = any(node not in tax.roots for row in Y for node in row)
    if below:
        got = metrics.au_prc(Y, S, tax, average, roots=False, classes=tax.nodes)
        np.testing.assert_allclose(got, plain(tax, Y, S, tax.nodes, average, used), atol=1e-12)
    else:
        with pytest.warns(UserWarning, match="No row has a label among the nodes"):
            assert np.isnan(metrics.au_prc(Y, S, tax, average, roots=False, classes=tax.nodes))


@given(cases())
def test_the_truth_scores_best_and_only_the_order_counts(case):
    tax, Y, S, _ = case
    true = tax.closure(tax.encode(Y)).toarray()
    for average in ("pooled", "mean", "weighted"):
        assert np.isclose(metrics.au_prc(Y, true, tax, average, classes=tax.nodes), 1)
        value = metrics.au_prc(Y, S, tax, average, classes=tax.nodes)
        for other, names in ((np.exp(S), tax.nodes), (S[:, ::-1], tax.nodes[::-1])):
            got = metrics.au_prc(Y, other, tax, average, classes=names)
            np.testing.assert_allclose(got, value)
        np.testing.assert_allclose(
            metrics.au_prc(Y[::-1], S[::-1], tax, average, classes=tax.nodes), value
        )


def test_blocks_do_not_change_the_value(monkeypatch):
    rng = np.random.default_rng(0)
    tax = Taxonomy.from_paths([f"r/{a}/{b}" for a in "abc" for b in "xyz"])
    Y, S = rng.integers(0, 2, (30, 9)), rng.integers(0, 4, (30, 9))
    forms = S, sp.csr_array(S)
    whole = [metrics.au_prc(Y, form, tax, a) for form in forms for a in ("pooled", "mean")]
    monkeypatch.setattr(blocks, "_CELLS", 20)
    parts = [metrics.au_prc(Y, form, tax, a) for form in forms for a in ("pooled", "mean")]
    np.testing.assert_allclose(parts, whole, rtol=1e-12)


def test_a_report_leaves_out_what_the_literature_does():
    rng = np.random.default_rng(0)
    edges = [("root", "GO0003674"), ("root", "GO0008150"), ("root", "other")]
    edges += [("GO0003674", "a"), ("GO0008150", "b"), ("other", "c"), ("other", "d")]
    tax = Taxonomy.from_edges(edges)
    y, S = rng.choice(list("abcd"), 20), rng.normal(size=(20, 4))
    used = tax.numbers(["a", "b", "c", "d", "other"]).tolist()
    expected = plain(tax, [[v] for v in y], S, tax.leaves, "pooled", used)
    report = metrics.evaluate(y, y, tax, S)
    assert np.isclose(report["au_prc"], expected)
    assert not np.isclose(report["au_prc"], metrics.au_prc(y, S, tax))
    assert "AU(PRC)" in str(report)


def test_a_node_called_root_inside_the_taxonomy_counts():
    tax = Taxonomy.from_edges([("plant", "root"), ("plant", "leaf"), ("animal", "leg")])
    rng = np.random.default_rng(0)
    y, S = rng.choice(tax.leaves, (20, 1)).tolist(), rng.normal(size=(20, 3))
    assert np.isclose(metrics.evaluate(y, y, tax, S)["au_prc"], metrics.au_prc(y, S, tax))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t, S: metrics.au_prc(["a"], S, t, "micro"), "'micro' is not known.*pooled"),
        (lambda t, S: metrics.au_prc(["a"], S, None), "au_prc needs a taxonomy"),
        (lambda t, S: metrics.au_prc(["a", "b"], S, t), "2 rows, but the scores have 1"),
        (lambda t, S: metrics.au_prc(["a"], S * np.nan, t), "row 0, column 0 is NaN"),
    ],
)
def test_errors_name_the_thing_the_value_and_the_remedy(call, message):
    with pytest.raises(UserError, match=message):
        call(Taxonomy.from_edges([("r", "a"), ("r", "b")]), np.zeros((1, 2)))
