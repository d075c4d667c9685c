"""Class attributes and kernels: the golden tables, and the facts of the thesis."""

import numpy as np
import pytest
from hypothesis import given

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.losses import class_attributes, class_kernel, universal_nodes
from strategies import edge_lists


def test_golden_kernels(golden_file):
    golden = golden_file("ranking")
    for case in golden["losses"]:
        tax = Taxonomy.from_edges(golden["taxonomies"][case["taxonomy"]]["edges"])
        universal = set(tax.names(universal_nodes(tax)))
        assert universal == set(case["universal"]) - {"__root__"}
        for scheme in ("depth", "perclass"):
            got = class_kernel(class_attributes(tax, scheme))
            np.testing.assert_allclose(got, case[f"class_kernel_{scheme}"], atol=1e-9)


def plain_attribute(tax, scheme, v, y):
    above = set(tax.ancestors(y))
    universal = set.intersection(*(set(tax.ancestors(z)) for z in tax.leaves))
    if v not in above:
        return 0.0
    if scheme == "ones":
        return 1.0
    if v in universal:
        return 0.0
    deepest = max(len(set(tax.ancestors(z)) - universal) for z in tax.leaves)
    return (deepest if scheme == "depth" else len(above - universal)) ** -0.5


@given(edge_lists(max_nodes=9))
def test_attributes_follow_their_definitions(lines):
    tax = Taxonomy.from_edges(lines)
    for scheme in ("ones", "depth", "perclass"):
        expected = [[plain_attribute(tax, scheme, v, y) for v in tax.nodes] for y in tax.leaves]
        np.testing.assert_allclose(class_attributes(tax, scheme).toarray(), expected, atol=1e-12)


@given(edge_lists(max_nodes=9))
def test_perclass_and_flat_attributes_have_unit_length(lines):
    tax = Taxonomy.from_edges(lines)
    flat = class_kernel(class_attributes(tax, "flat"))
    np.testing.assert_array_equal(flat, np.eye(len(tax.leaves)))
    if len(tax.leaves) > 1:
        kernel = class_kernel(class_attributes(tax, "perclass"))
        np.testing.assert_allclose(np.diag(kernel), 1.0)


def test_a_matrix_and_a_function_are_taken():
    tax = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("b", "c")])
    assert class_attributes(tax, [[1, 2], [3, 4]]).toarray().tolist() == [[1, 2], [3, 4]]
    by_level = class_attributes(tax, lambda v, y: float(tax.depth[tax.index(v)]))
    assert by_level.toarray().tolist() == [[0, 1, 0, 0], [0, 0, 1, 2]]


def test_errors_name_the_value_and_the_remedy():
    tax = Taxonomy.flat("ab")
    with pytest.raises(UserError, match="'deep' is not known. Use one of: flat, ones, depth"):
        class_attributes(tax, "deep")
    with pytest.raises(UserError, match=r"shape \(1, 2\), but there are 2 classes"):
        class_attributes(tax, [[1, 2]])
    with pytest.raises(UserError, match="class number 1 are not finite"):
        class_attributes(tax, [[1, 2], [np.inf, 0]])
