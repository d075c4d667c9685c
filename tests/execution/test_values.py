"""What tasks take and give, as files."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from linnaeus.errors import FormatError
from linnaeus.execution import values
from linnaeus.solvers.linear.svm import SvmBlock
from linnaeus.solvers.numerics.examples import Rows

TYPES = st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint32, np.int8, np.bool_])
ARRAYS = TYPES.flatmap(lambda t: arrays(t, array_shapes(min_dims=0, max_dims=3, min_side=0)))
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.text(), ARRAYS
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
    ),
    max_leaves=6,
)


def same(a, b):
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if sp.issparse(a):
        return a.format == b.format and a.shape == b.shape and same(a.toarray(), b.toarray())
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and (a == b or (a != a and b != b))


@given(value=VALUES)
def test_a_value_comes_back_as_it_was(value, tmp_path_factory):
    path = tmp_path_factory.mktemp("values") / "v.safetensors"
    values.write(path, value)
    found = values.read(path)
    assert same(value, found)
    assert values.digest(found) == values.digest(value)


def test_named_tuples_sparse_arrays_slices_and_orders_come_back(tmp_path):
    X = sp.random_array((5, 4), density=0.5, rng=np.random.default_rng(0), format="csr")
    turned = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    block = SvmBlock(X, turned, np.ones(2), np.ones(2), sp.csc_array(X), 3, 4, 0.5, [{"gap": 0.1}])
    value = (Rows.of(X, np.float32), block, slice(1, None), np.float32(0.1))
    values.write(tmp_path / "v", value)
    rows, found, part, number = values.read(tmp_path / "v")
    assert isinstance(rows, Rows)
    assert isinstance(found, SvmBlock)
    assert found.w_bias.flags.f_contiguous
    assert (part, number) == (slice(1, None), np.float32(0.1))
    assert same(tuple(found), tuple(block))
    found.objective[0] = 7.0  # in memory, not in the file
    assert values.read(tmp_path / "v")[1].objective[0] == 1.0


def test_a_digest_tells_values_apart():
    a = np.arange(4)
    kinds = [a, a.astype(float), a.reshape(2, 2), [0, 1, 2, 3], (0, 1, 2, 3), a.tolist() + [4], "0"]
    assert len({values.digest(kind) for kind in kinds}) == len(kinds)


class Foreign(NamedTuple):
    x: int


def test_what_is_not_of_this_package_is_not_read(tmp_path):
    values.write(tmp_path / "v", Foreign(1))
    with pytest.raises(FormatError, match="not of this package"):
        values.read(tmp_path / "v")
    with pytest.raises(TypeError, match="set is not a plain value"):
        values.digest({1})


@pytest.mark.parametrize("how", ["changed", "cut"])
def test_a_damaged_file_is_refused(tmp_path, how):
    path = tmp_path / "v"
    values.write(path, np.arange(1000))
    content = bytearray(path.read_bytes())
    if how == "changed":
        content[-9] ^= 1
    path.write_bytes(content if how == "changed" else content[:-100])
    with pytest.raises(FormatError, match="Remove the file"):
        values.read(path)
