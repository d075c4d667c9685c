"""Losses between classes against set arithmetic, and the golden tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy, losses
from linnaeus.errors import UserError
from strategies import edge_lists

NAMED = ["zero_one", "half_distance", "normalized", "distance"]


def plain_loss(tax, name, y, z, s=None, c_miss=1.0, c_false=1.0):
    if y == z:
        return 0.0
    top = {"virtual root"} if len(tax.roots) > 1 else set()
    a, b = set(tax.ancestors(y)) | top, set(tax.ancestors(z)) | top
    if name == "zero_one":
        return 1.0
    if name == "normalized":
        return (len(a - b) / max(len(a) - 1, 1) + len(b - a) / max(len(b) - 1, 1)) / 2
    if name == "volume":
        return c_miss * sum(s[v] for v in a - b) + c_false * sum(s[v] for v in b - a)
    return len(a ^ b) / (2 if name == "half_distance" else 1)


def plain_table(tax, classes, *options):
    return [[plain_loss(tax, options[0], y, z, *options[1:]) for z in classes] for y in classes]


@given(edge_lists(max_nodes=10), st.sampled_from(NAMED))
def test_named_losses_follow_their_definitions(lines, name):
    tax = Taxonomy.from_edges(lines)
    loss, expected = losses.class_loss(name, tax), np.array(plain_table(tax, tax.leaves, name))
    np.testing.assert_allclose(loss.matrix(), expected, atol=1e-12)
    y, z = np.indices(expected.shape).reshape(2, -1)
    np.testing.assert_allclose(loss.pairs(y, z), expected.ravel(), atol=1e-12)
    np.testing.assert_array_equal(loss.rows([0, 0]), loss.matrix()[[0, 0]])


@given(edge_lists(max_nodes=10), st.sampled_from(NAMED))
def test_any_nodes_can_be_the_classes(lines, name):
    tax = Taxonomy.from_edges(lines)
    every = np.arange(len(tax), dtype=np.int32)
    expected = plain_table(tax, tax.nodes, name)
    np.testing.assert_allclose(losses.class_loss(name, tax, every).matrix(), expected, atol=1e-12)


@given(
    edge_lists(max_nodes=8),
    st.lists(st.sampled_from([0, 0, 1, 2.5]), min_size=8, max_size=8),
    st.sampled_from([(1, 1), (3, 1), (0, 2), (2, 0)]),
)
def test_volumes_are_taken_or_refused_as_the_definition_says(lines, volumes, costs):
    tax = Taxonomy.from_edges(lines)
    s = dict(zip(tax.nodes, volumes, strict=False))
    expected = np.array(plain_table(tax, tax.leaves, "volume", s, *costs))
    if (expected[~np.eye(len(expected), dtype=bool)] > 0).all():
        got = losses.volume(tax, s, *costs).matrix()
        np.testing.assert_allclose(got, expected, atol=1e-12)
    else:
        with pytest.raises(UserError, match="costs nothing to say .* positive volume"):
            losses.volume(tax, s, *costs)


def test_golden_tables(golden_file):
    golden = golden_file("ranking")
    for case in golden["losses"]:
        tax = Taxonomy.from_edges(golden["taxonomies"][case["taxonomy"]]["edges"])
        assert list(tax.leaves) == case["classes"]
        for name in ("half_distance", "normalized"):
            got = losses.class_loss(name, tax).matrix()
            np.testing.assert_allclose(got, case[name], atol=1e-9)
    misc = golden["misc"]
    tax = Taxonomy.from_edges(misc["edges"]).with_misc(misc["misc_for"])
    assert list(tax.leaves) == misc["classes"]
    np.testing.assert_array_equal(losses.half_distance(tax).matrix(), misc["half_distance"])


def test_a_matrix_and_a_loss_pass_through():
    tax = Taxonomy.flat("ab")
    loss = losses.class_loss([[0, 2], [3, 0]], tax)
    assert loss.matrix().tolist() == [[0, 2], [3, 0]]
    assert loss.pairs([0, 1, 0], [1, 0, 0]).tolist() == [2, 3, 0]
    assert loss.rows([1]).tolist() == [[3, 0]]
    assert losses.class_loss(loss, tax) is loss
    assert losses.class_loss(None, tax).matrix().tolist() == [[0, 1], [1, 0]]
    assert repr(loss) == "<ClassLoss: matrix over 2 classes>"


def test_thousands_of_classes_need_no_square_matrix():
    edges = [("r", f"a{i}") for i in range(100)]
    edges += [(f"a{i}", f"a{i}/{j}") for i in range(100) for j in range(100)]
    loss = losses.half_distance(Taxonomy.from_edges(edges))
    rng = np.random.default_rng(0)
    y, z = rng.integers(0, 10_000, (2, 50_000))
    expected = np.where(y == z, 0, np.where(y // 100 == z // 100, 1, 2))
    np.testing.assert_array_equal(loss.pairs(y, z), expected)
    np.testing.assert_array_equal(loss.rows(y[:5])[np.arange(5), z[:5]], expected[:5])


def test_errors_name_the_pair_and_the_remedy():
    tax = Taxonomy.flat("ab")
    with pytest.raises(UserError, match=r"\('a', 'b'\) is 0.0. It must be 0 for a class and its"):
        losses.class_loss([[0, 0], [1, 0]], tax)
    with pytest.raises(UserError, match=r"\('b', 'b'\) is 1.0"):
        losses.class_loss([[0, 1], [1, 1]], tax)
    with pytest.raises(UserError, match=r"\('a', 'b'\) is nan"):
        losses.class_loss([[0, np.nan], [1, 0]], tax)
    with pytest.raises(UserError, match=r"square matrix, but its shape is \(1, 2\)"):
        losses.class_loss([[0, 1]], tax)
    with pytest.raises(UserError, match="over 1 classes, but there are 2"):
        losses.class_loss([[0]], tax)
    with pytest.raises(UserError, match="'tree' is not known.*half_distance.*volume"):
        losses.class_loss("tree", tax)
    with pytest.raises(UserError, match="to say 'b' for 'a'"):
        losses.volume(tax, {"a": 0, "b": 1}, c_miss=1, c_false=0)
    with pytest.raises(UserError, match="to say 'a' for 'b'"):
        losses.volume(tax, {"a": 0, "b": 1}, c_miss=0, c_false=1)
