"""How well a kernel agrees with the labels, seen through a taxonomy.

    align(K, T) = <K, T> / (||K|| ||T||),    <K, T> = sum_ij K_ij T_ij        [Cristianini2001]

The target is a kernel matrix T, or comes from the labels: T = Y C Y', with Y the memberships of
the examples in the classes and C a kernel of the classes, such as
``losses.class_kernel(losses.class_attributes(taxonomy))``, or the identity. Then

    <K, T> = <Y'K Y, C>,     ||T||^2 = tr(C S C S),   S = Y'Y,

so T is never formed. Centred alignment replaces K and T by H K H and H T H, H = I - 11'/n
[Cortes2012]: it does not reward a kernel for being large everywhere.

Of the sums of kernels K_1, ..., K_r with weights mu >= 0, the one with the best alignment is the
projection of T on their cone, up to its size [Cortes2012]:

    minimise_{mu >= 0}  mu'M mu - 2 mu'a,     M_st = <K_s, K_t>,   a_s = <K_s, T>.

An input kernel induces a kernel of the classes, the mean of k over the instances of two classes
([Cai2008], section 8); it can be compared with that of the taxonomy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import nnls

from linnaeus.errors import UserError, shorten
from linnaeus.kernels.gram import Values, row_blocks

Blocks = Callable[[slice], Values]

ROUNDING = 1e-26  # of squares


def align(
    K: Any, T: Any = None, *, Y: Any = None, class_kernel: Any = None, centred: bool = False
) -> float:
    """The alignment of a kernel matrix with a target; 0 if either is 0 throughout.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Kernel matrix.
    T : array-like of shape (n_samples, n_samples) or None, default=None
        Kernel matrix to compare with, in place of `Y`.
    Y : array-like of shape (n_samples,) or (n_samples, n_classes), or None, default=None
        Class numbers from 0, or memberships, dense or sparse.
    class_kernel : array-like of shape (n_classes, n_classes) or None, default=None
        Similarities of the classes; None for the identity.
    centred : bool, default=False
        Centre both kernels first.

    Returns
    -------
    float

    Examples
    --------
    >>> align([[2, 0], [0, 1]], Y=[0, 1], class_kernel=[[1, 0], [0, 1]])
    0.9486832980505138
    """
    K = _square(K, "K")
    kernel = _blocks(K, centred)
    if (T is None) == (Y is None):
        raise UserError("Give either a target kernel T or the labels Y, and not both.")
    if T is None:
        inner, target = _with_labels(kernel, _memberships(Y, K.shape[0]), class_kernel, centred)
    else:
        inner, target = _with_matrix(kernel, _same_size(_square(T, "T"), K), centred)
    size = _size(kernel, K)
    return inner / float(np.sqrt(size * target)) if size > 0 and target > 0 else 0.0


def rank_kernels(
    kernels: Mapping[Any, Any],
    T: Any = None,
    *,
    Y: Any = None,
    class_kernel: Any = None,
    centred: bool = True,
) -> list[tuple[Any, float]]:
    """Names of kernel matrices with their alignments, the best first; ties as given.

    Parameters
    ----------
    kernels : dict
        {name: kernel matrix of shape (n_samples, n_samples)}.
    T : array-like of shape (n_samples, n_samples) or None, default=None
        Kernel matrix to compare with, in place of `Y`.
    Y : array-like of shape (n_samples,) or (n_samples, n_classes), or None, default=None
        Class numbers from 0, or memberships, dense or sparse.
    class_kernel : array-like of shape (n_classes, n_classes) or None, default=None
        Similarities of the classes; None for the identity.
    centred : bool, default=True
        Whether to centre both kernels first.

    Returns
    -------
    list of tuple
        (name, alignment), the best first.
    """
    found = [
        (name, align(K, T, Y=Y, class_kernel=class_kernel, centred=centred))
        for name, K in kernels.items()
    ]
    return sorted(found, key=lambda pair: -pair[1])


def alignment_weights(
    kernels: Mapping[Any, Any],
    T: Any = None,
    *,
    Y: Any = None,
    class_kernel: Any = None,
    centred: bool = False,
) -> dict[Any, float]:
    """The weights, 0 or more with sum 1, of the sum of kernels that is aligned best.

    Parameters
    ----------
    kernels : dict
        {name: kernel matrix of shape (n_samples, n_samples)}.
    T : array-like of shape (n_samples, n_samples) or None, default=None
        Kernel matrix to compare with, in place of `Y`.
    Y : array-like of shape (n_samples,) or (n_samples, n_classes), or None, default=None
        Class numbers from 0, or memberships, dense or sparse.
    class_kernel : array-like of shape (n_classes, n_classes) or None, default=None
        Similarities of the classes; None for the identity.
    centred : bool, default=False
        Whether to centre both kernels first.

    Returns
    -------
    dict
        The weight of each name.

    Examples
    --------
    >>> alignment_weights({"same": np.eye(2), "all": np.ones((2, 2))}, [[3, 1], [1, 3]])
    {'same': 0.666..., 'all': 0.333...}
    """
    if not kernels:
        raise UserError("No kernels are given. Give at least one, as {name: matrix}.")
    matrices = [_square(K, f"The kernel {shorten(name)}") for name, K in kernels.items()]
    for K in matrices:
        _same_size(K, matrices[0])
    if (T is None) == (Y is None):
        raise UserError("Give either a target kernel T or the labels Y, and not both.")
    blocks = [_blocks(K, centred) for K in matrices]
    if T is None:
        memberships = _memberships(Y, matrices[0].shape[0])
        a = [_with_labels(kernel, memberships, class_kernel, centred)[0] for kernel in blocks]
    else:
        target = _same_size(_square(T, "T"), matrices[0])
        a = [_with_matrix(kernel, target, centred)[0] for kernel in blocks]
    sizes = [_size(*pair) for pair in zip(blocks, matrices, strict=True)]
    mu = _best_weights(blocks, matrices[0].shape, np.array(a), np.array(sizes))
    return dict(zip(kernels, mu.tolist(), strict=True))


def induced_class_kernel(K: Any, Y: Any) -> Values:
    """The kernel of classes: the mean of K over the instances of two classes.

    A class without instances is similar to nothing: 0.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Kernel matrix.
    Y : array-like of shape (n_samples,) or (n_samples, n_classes)
        Class numbers from 0, or memberships, dense or sparse.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)

    Examples
    --------
    >>> induced_class_kernel([[4, 2, 0], [2, 4, 0], [0, 0, 1]], [0, 0, 1])
    array([[3., 0.],
           [0., 1.]])
    """
    K = _square(K, "K")
    members = _memberships(Y, K.shape[0])
    sums = _class_sums(_blocks(K, False), members)
    size = np.maximum(np.asarray(members.sum(axis=0)).ravel(), np.finfo(float).tiny)
    return np.asarray(sums / size[:, None] / size)


def _best_weights(blocks: list[Blocks], shape: Any, a: Values, sizes: Values) -> Values:
    """Weights of kernels by what they have in common with each other and with the target."""
    scale = np.where(sizes > 0, 1.0 / np.sqrt(np.where(sizes > 0, sizes, 1.0)), 0.0)
    M = np.zeros((a.size, a.size))
    for rows in row_blocks(*shape):
        parts = np.array([kernel(rows).ravel() for kernel in blocks]) * scale[:, None]
        M += parts @ parts.T
    values, vectors = np.linalg.eigh(M)
    kept = values > 1e-12 * max(values[-1], 1.0)
    root = np.sqrt(values[kept])
    mu = nnls(root[:, None] * vectors[:, kept].T, vectors[:, kept].T @ (a * scale) / root)[0]
    if not (mu > 0).any():
        raise UserError(
            "No kernel is aligned with the target: all alignments are 0 or less. Give others."
        )
    out: Values = mu * scale
    return np.asarray(out / out.sum())


def _with_matrix(kernel: Blocks, T: npt.NDArray[Any], centred: bool) -> tuple[float, float]:
    """<K, T> and <T, T>."""
    target = _blocks(T, centred)
    inner = sum(float((kernel(rows) * target(rows)).sum()) for rows in row_blocks(*T.shape))
    return inner, _size(target, T)


def _with_labels(
    kernel: Blocks, Y: sp.csr_array, class_kernel: Any, centred: bool
) -> tuple[float, float]:
    """<K, T> and <T, T> for T = Y C Y'; K is centred already, and that centres T in <K, T>."""
    n, k = Y.shape
    C = np.eye(k) if class_kernel is None else _square(class_kernel, "class_kernel")
    if C.shape[0] != k:
        raise UserError(
            f"class_kernel has the shape {C.shape}, but Y has {k} classes. Give a row and a "
            f"column for each class."
        )
    M = _class_sums(kernel, Y)
    S = (Y.T @ Y).toarray()
    CS = C @ S
    size = whole = float((CS * CS.T).sum())
    if centred:
        mean = np.asarray(Y.sum(axis=0)).ravel() / n
        CS = C @ (S - n * np.outer(mean, mean))
        size = float((CS * CS.T).sum())
    return float((M * C).sum()), _beyond_rounding(size, whole)


def _class_sums(kernel: Blocks, Y: sp.csr_array) -> Values:
    """Y'K Y, (k, k)."""
    n, k = Y.shape
    M = np.zeros((k, k))
    for rows in row_blocks(n, n):
        M += Y[rows].T @ np.asarray(kernel(rows) @ Y)
    return M


def _size(kernel: Blocks, K: npt.NDArray[Any]) -> float:
    """<K, K> of a matrix that may have been centred."""
    size = whole = 0.0
    for rows in row_blocks(*K.shape):
        size += float((kernel(rows) ** 2).sum())
        whole += float((K[rows].astype(np.float64) ** 2).sum())
    return _beyond_rounding(size, whole)


def _beyond_rounding(size: float, whole: float) -> float:
    """0 where centring left nothing but rounding of the whole."""
    return size if size > ROUNDING * whole else 0.0


def _blocks(K: npt.NDArray[Any], centred: bool) -> Blocks:
    """The rows of a kernel matrix in float64, of H K H if centred."""
    if not centred:
        return lambda rows: np.asarray(K[rows], dtype=np.float64)
    row_means = K.mean(axis=1, dtype=np.float64)
    shift = K.mean(axis=0, dtype=np.float64) - row_means.mean()
    return lambda rows: K[rows] - row_means[rows, None] - shift


def _memberships(Y: Any, n: int) -> sp.csr_array:
    matrix = Y if sp.issparse(Y) else np.asarray(Y)
    if matrix.ndim not in (1, 2) or matrix.shape[0] != n:
        raise UserError(
            f"Y has the shape {matrix.shape}, but K has {n} rows. Give a class number, or a row "
            f"of memberships, for each."
        )
    if matrix.ndim == 2:
        return sp.csr_array(matrix, dtype=np.float64)
    if matrix.dtype.kind not in "iu" or matrix.min() < 0:
        raise UserError(
            f"Y is {shorten(Y)}. Give class numbers from 0, or memberships as a matrix; "
            f"taxonomy.encode makes one of names."
        )
    return sp.csr_array((np.ones(n), (np.arange(n), matrix)), shape=(n, int(matrix.max()) + 1))


def _square(K: Any, name: str) -> npt.NDArray[Any]:
    out = np.asarray(K)
    if out.ndim != 2 or out.shape[0] != out.shape[1] or not out.size:
        raise UserError(f"{name} has the shape {out.shape}. Give a square matrix.")
    if out.dtype.kind not in "fiub":
        raise UserError(f"{name} is of type {out.dtype}. Give a matrix of numbers.")
    return out


def _same_size(T: npt.NDArray[Any], K: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if T.shape != K.shape:
        raise UserError(
            f"T has the shape {T.shape} and K has {K.shape}. Give kernels of the same examples."
        )
    return T
