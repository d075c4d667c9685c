"""Kernel matrices: blocks, threads, sums, products, normalisation."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from linnaeus.errors import UserError
from linnaeus.kernels import (
    BagOfWordsKernel,
    LinearKernel,
    SpectrumKernel,
    SubsequenceKernel,
    SyllableSequenceKernel,
    WordSequenceKernel,
    gram,
    normalize,
)

KERNELS = [
    SpectrumKernel(2),
    SpectrumKernel(3, 1, presence=True),
    SubsequenceKernel(3, 0.7),
    BagOfWordsKernel(),
    WordSequenceKernel(2, 0.6),
    SyllableSequenceKernel(2, 0.6),
    normalize(SpectrumKernel(2)),
    SpectrumKernel(2) + 0.5 * SubsequenceKernel(2, 0.5),
    normalize(SpectrumKernel(1)) * BagOfWordsKernel(),
]


def texts(seed, n):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abe "), rng.integers(0, 15))) for _ in range(n)]


@pytest.fixture(params=[True, False], ids=["small blocks", "large blocks"])
def block_size(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(gram, "BLOCK_ENTRIES", 100)
        monkeypatch.setattr(gram, "BLOCKS", 3)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_every_kernel_is_a_kernel(kernel, block_size):
    A, B = texts(0, 43) + [""], texts(1, 30)
    K = kernel.gram(A, dtype=np.float64)
    assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * max(1.0, np.abs(K).max())
    assert_allclose(np.diag(K), kernel.diagonal(A), rtol=1e-12)
    assert_allclose(kernel.gram(A, A, dtype=np.float64), K, rtol=1e-12)
    assert_allclose(kernel.gram(B, A, dtype=np.float64), kernel.gram(A, B, dtype=np.float64).T)
    single = kernel.gram(A)
    assert single.dtype == np.float32 and single.flags.c_contiguous
    assert_array_equal(single, K.astype(np.float32))


@pytest.mark.parametrize("kernel", [*KERNELS, LinearKernel()], ids=str)
def test_threads_give_the_same_bits(kernel, block_size):
    A, B = texts(2, 90), texts(3, 20)
    if isinstance(kernel, LinearKernel):
        A, B = (np.random.default_rng(len(C)).normal(size=(len(C), 7)) for C in (A, B))
    for other in (None, B):
        one = kernel.gram(A, other, dtype=np.float64)
        assert_array_equal(kernel.gram(A, other, dtype=np.float64, n_jobs=3), one)


def test_progress_is_told(block_size):
    for B in (None, texts(5, 9)):
        seen = []
        K = SpectrumKernel(2).gram(texts(4, 40), B, callback=lambda *s, seen=seen: seen.append(s))
        done, total = zip(*seen, strict=True)
        assert set(total) == {K.size} and done[-1] == K.size
        assert list(done) == sorted(done) and len(done) > 2


@given(st.integers(0, 1000))
def test_sums_products_and_multiples(seed):
    A, B = texts(seed, 5), texts(seed + 1, 4)
    k, m = SpectrumKernel(1), SubsequenceKernel(2, 0.5)
    K, M = k.gram(A, B, dtype=float), m.gram(A, B, dtype=float)
    for kernel, expected in [
        (k + m, K + M),
        (k * m, K * M),
        (3 * k, 3 * K),
        (k * np.float32(0.5) + m * m, 0.5 * K + M * M),
        (0 * k, 0 * K),
    ]:
        assert_allclose(kernel.gram(A, B, dtype=float), expected)
        assert_allclose(kernel.diagonal(A), np.diag(kernel.gram(A, dtype=float)))


def test_what_is_no_kernel_is_refused():
    with pytest.raises(UserError, match="factor of a kernel is -1.0. Use a finite number"):
        -1 * SpectrumKernel(2)
    with pytest.raises(TypeError):
        SpectrumKernel(2) + 1
    with pytest.raises(TypeError):
        SpectrumKernel(2) * "ab"


def test_kernels_show_and_compare_their_parameters():
    assert repr(SubsequenceKernel(2, 0.5)) == "SubsequenceKernel(p=2, decay=0.5)"
    assert SpectrumKernel(2) == SpectrumKernel(2) != SpectrumKernel(3)


# -- normalisation ------------------------------------------------------------------------------


@given(st.integers(0, 1000))
def test_normalised_by_definition(seed):
    A, B = texts(seed, 6), texts(seed + 1, 5) + [""]
    k = SpectrumKernel(2)
    K, a, b = k.gram(A, B, dtype=float), k.diagonal(A), k.diagonal(B)
    expected = [
        [K[i, j] / np.sqrt(a[i] * b[j]) if a[i] * b[j] else 0.0 for j in range(len(B))]
        for i in range(len(A))
    ]
    assert_allclose(normalize(k).gram(A, B, dtype=float), expected, rtol=1e-12)
    assert_allclose(normalize(K, a, b), expected, rtol=1e-12)
    square = normalize(k.gram(A))
    assert square.dtype == np.float32
    assert_allclose(square, normalize(k).gram(A), rtol=1e-6)
    assert_allclose(np.diag(square), a > 0, rtol=1e-6)
    assert_array_equal(normalize(k).diagonal(A), a > 0)


def test_decimal_counts_survive_normalising_in_single_precision():
    A = ["a" * 200, "a" * 150]  # unnormalised, 3e72 is beyond float32
    K = normalize(SubsequenceKernel(20, 1.0)).gram(A)
    assert_allclose(K, 1.0, rtol=1e-6)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((np.ones((2, 3)),), r"shape \(2, 3\), so its diagonal.*normalize\(K, kernel.diagonal"),
        ((np.ones(3),), r"shape \(3,\). Give a matrix"),
        ((np.ones((2, 3)), [1, 1], [1, 1]), r"columns have the shape \(2,\), but there are 3"),
        ((np.ones((2, 3)), [1, 1]), r"columns have the shape \(0,\)"),
        ((-np.eye(2),), "Self-kernel 0 of the rows is -1.0.*never negative"),
        ((np.diag([1.0, np.nan]),), "Self-kernel 1 of the rows is nan"),
        ((SpectrumKernel(2), [1.0]), "with a kernel, which computes them itself"),
    ],
)
def test_normalising_checks_its_input(arguments, message):
    with pytest.raises(UserError, match=message):
        normalize(*arguments)


def test_normalising_leaves_the_matrix_as_it_was():
    K = np.diag([4, 9])
    assert_array_equal(normalize(K), np.eye(2))
    assert_array_equal(K, np.diag([4, 9]))


# -- vectors ------------------------------------------------------------------------------------


@given(st.integers(0, 1000))
def test_linear_kernel_dense_sparse_and_mixed(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 9, size=3)
    A = rng.normal(size=shape[:2]) * (rng.random(shape[:2]) < 0.5)
    B = rng.normal(size=(shape[2], shape[1]))
    k = LinearKernel()
    for first in (A, sp.csr_array(A), sp.csc_matrix(A), A.tolist()):
        assert_allclose(k.gram(first, dtype=float), A @ A.T, atol=1e-12)
        assert_allclose(k.diagonal(first), (A**2).sum(axis=1), atol=1e-12)
        for second in (B, sp.coo_array(B)):
            assert_allclose(k.gram(first, second, dtype=float), A @ B.T, atol=1e-12)


def test_duplicate_entries_are_added_and_the_input_kept():
    X = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    k = LinearKernel()
    assert k.gram(X)[0, 0] == 9 and k.diagonal(X)[0] == 9
    assert X.nnz == 2


@pytest.mark.parametrize(
    "A, B, message",
    [
        (["text"], None, "A does not hold vectors.*string kernel"),
        ([1.0, 2.0], None, r"A has the shape \(2,\). Give a matrix"),
        (np.ones((0, 3)), None, r"A has the shape \(0, 3\)"),
        (np.ones((1, 3)), np.ones((2, 4)), "A has 3 columns and B has 4"),
    ],
)
def test_vectors_are_checked(A, B, message):
    with pytest.raises(UserError, match=message):
        LinearKernel().gram(A, B)
