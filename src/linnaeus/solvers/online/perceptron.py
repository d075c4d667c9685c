"""Hierarchical Perceptrons and Hieron: mistakes move the weights of attributes.

    w_r <- w_r + t (l_r(y) - l_r(z)) x,      F(x, y) = sum_r l_r(y) w_r.x

for a pair y, z of a label and another class that is not ranked well; `perceptron_fast` has the
rules. [Cai2008] Algorithms 3 to 7, section 7.5.2; docs/maths/perceptron.md.

A run leaves the log of its updates. With V_i = sum over the updates l of example i of
t_l (e_y - e_z), the weights are w = X' V L; in a kernel k scores are F = k V L L'. The mean of the
weights after each of T visits gives update l the weight (T + 1 - l) / T: it needs the log alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.losses import ClassLoss
from linnaeus.solvers.numerics.examples import FloatArray, Rows, squared_norms
from linnaeus.solvers.numerics.rounds import Record, Rounds
from linnaeus.solvers.numerics.scores_fast import Inputs
from linnaeus.solvers.online import perceptron_fast as fast
from linnaeus.solvers.online.perceptron_fast import Log

RULES = {"perceptron": fast.PERCEPTRON, "top": fast.TOP, "hinge": fast.HINGE}


class PerceptronRun(NamedTuple):
    """What came of some passes."""

    log: Log  # of all updates, in order
    n_steps: int  # visits
    n_iter: int  # passes
    converged: bool  # whether the last pass had no update, or all margins are as wanted
    trace: list[Record]  # of each pass: seconds, updates, mean loss of the updates


class Classes(NamedTuple):
    """Classes as the loops take them."""

    arrays: fast.Classes
    attributes: sp.csr_array  # (n_classes, n_attributes)
    scale: float  # the largest ||L(y)||^2
    n_nodes: int  # that the loss counts

    @classmethod
    def of(cls, attributes: sp.csr_array, loss: ClassLoss) -> Classes:
        """From the attributes of the classes and the losses between them."""
        parts = loss.parts()
        L, volumes = sp.csr_array(attributes, dtype=float), sp.csr_array(parts.volumes, dtype=float)
        L.sort_indices()
        volumes.sort_indices()
        rest = (np.ascontiguousarray(a, float) for a in parts[1:])
        arrays = fast.Classes(*_arrays(L), *_shared_sums(L), *_arrays(volumes), *rest)
        return cls(arrays, L, float(squared_norms(L, 0.0).max(initial=0.0)), volumes.shape[1])

    def among(self, kept: Any) -> Classes:
        """Some of the classes, with all attributes."""
        A, L = self.arrays, sp.csr_array(self.attributes[kept])
        nodes = (self.attributes.shape[0], self.n_nodes)
        volumes = sp.csr_array((A.a_size, A.a_node, A.a_begin), shape=nodes)[kept]
        table = np.ascontiguousarray(A.table[np.ix_(kept, kept)]) if A.table.size else A.table
        rest = (A.total[kept], A.miss[kept], A.false[kept], table)
        arrays = fast.Classes(*_arrays(L), *_shared_sums(L), *_arrays(volumes), *rest)
        return self._replace(arrays=arrays, attributes=L)


class OnlineProblem(NamedTuple):
    """Examples, their labels, and the classes."""

    inputs: Inputs
    labels: fast.Labels
    classes: Classes
    order: npt.NDArray[np.int64]  # the examples that have a label and a class that is none
    n_features: int


def build(X: sp.csr_array | None, K: Any, Y: sp.csr_array, classes: Classes) -> OnlineProblem:
    """A problem on rows of features X, or on a kernel matrix K where X is None; Y is 0/1."""
    inputs = inputs_of(X, K)
    Y = sp.csr_array(Y, copy=True)
    Y.sort_indices()
    count = np.diff(Y.indptr)
    order = np.flatnonzero((count > 0) & (count < Y.shape[1]))
    labels = fast.Labels(*_arrays(Y)[:2])
    return OnlineProblem(inputs, labels, classes, order, 0 if X is None else X.shape[1])


def inputs_of(X: sp.csr_array | None, K: Any) -> Inputs:
    """Examples as the loops take them: rows of features X, or where X is None a kernel matrix K."""
    if X is None:
        empty, K = sp.csr_array((K.shape[0], 0), dtype=K.dtype), np.ascontiguousarray(K)
        return Inputs(*Rows.of(empty, K.dtype), K, np.diagonal(K).astype(np.float64))
    none = np.empty((0, 0), X.dtype)
    return Inputs(*Rows.of(X, X.dtype), none, squared_norms(X, 0.0))


def run(
    problem: OnlineProblem, W: FloatArray, rule: str, *, max_iter: int = 1, shuffle: bool = False,
    seed: int = 0, n_before: int = 0,
) -> PerceptronRun:  # fmt: skip
    """Pass over the examples until a pass has no update; W is the state, changed in place.

    W : (n_features, n_attributes); for a kernel matrix (n_attributes, n) scores of the examples
    shuffle : whether each pass has a random order, else that of the examples
    n_before : visits made before
    """
    work, rng = _work(problem, W.dtype), np.random.default_rng(seed) if shuffle else None
    order, room = problem.order, _log(problem.order.size)
    logs, rounds = list[Log](), Rounds(max_iter)
    count = n_steps = 0

    def take() -> Any:
        return W, _joined(logs), n_steps, None if rng is None else rng.bit_generator.state

    def restore(found: Any) -> None:
        nonlocal logs, n_steps
        W[:], log, n_steps, state = found
        logs = [log]
        if rng is not None:
            rng.bit_generator.state = state

    if max_iter > 1:  # a single pass has no state between passes
        about = "perceptron", problem, W, rule, shuffle, seed, n_before
        rounds.keep(about, take, restore)
    for _ in rounds:
        count, loss = fast.epoch(
            order if rng is None else rng.permutation(order), RULES[rule], problem.inputs,
            problem.labels, problem.classes.arrays, W, problem.classes.scale, n_before + n_steps,
            room, work,
        )  # fmt: skip
        n_steps += order.size
        logs.append(Log(*(a[:count].copy() for a in room)))
        rounds.enter(updates=float(count), loss=loss / max(1, order.size))
        rounds.done = count == 0
    return PerceptronRun(_joined(logs), n_steps, rounds.n, count == 0, rounds.trace)


def minover(problem: OnlineProblem, *, margin: float = 0.0, max_iter: int = 20) -> PerceptronRun:
    """Mend the smallest margin of all until it is above `margin`; [Cai2008] Algorithm 7.

    A pass is as many updates as there are examples with pairs.
    """
    classes, inputs, labels = problem.classes, problem.inputs, problem.labels
    n, q = inputs.norm2.size, classes.attributes.shape[0]
    work, order = _work(problem, np.float64), problem.order
    margins = fast.Margins(
        np.zeros((n, q)), np.zeros((n, 2), np.int32), np.zeros(n), np.zeros(problem.n_features),
        np.empty(n), np.empty(q),
    )  # fmt: skip
    fast.start_minover(order, labels, inputs.norm2, classes.scale, margins, work)
    logs, rounds, n_steps = [_log(0)], Rounds(max_iter), 0

    def take() -> Any:
        return margins, _joined(logs), n_steps

    def restore(found: Any) -> None:
        nonlocal margins, logs, n_steps
        margins, log, n_steps = found
        logs = [log]

    rounds.keep(["minover", problem, margin], take, restore)
    for _ in rounds:
        room = _log(order.size)
        count, loss = fast.minover(
            order, order.size, margin, inputs, labels, classes.arrays, classes.scale, n_steps,
            margins, room, work,
        )  # fmt: skip
        n_steps += count
        rounds.done = bool(count < order.size or order.size == 0)
        logs.append(Log(*(a[:count] for a in room)))
        smallest = float(margins.margin[order].min(initial=np.inf))
        rounds.enter(updates=float(count), loss=loss / max(1, order.size), margin=smallest)
    return PerceptronRun(_joined(logs), n_steps, rounds.n, rounds.done, rounds.trace)


def without_repeats(problem: OnlineProblem, rng: np.random.Generator | None) -> OnlineProblem:
    """The problem with one example of each set of equal inputs: one drawn, or else the first."""
    order = problem.order if rng is None else rng.permutation(problem.order)
    inputs, kept = problem.inputs, dict[Any, int]()
    for i in order.tolist():
        at = slice(inputs.indptr[i], inputs.indptr[i + 1])
        kernel = inputs.K[i if inputs.K.size else slice(0)]
        parts = kernel, inputs.indices[at], inputs.data[at]
        kept.setdefault(tuple(part.tobytes() for part in parts), i)
    return problem._replace(order=np.sort(np.fromiter(kept.values(), np.int64)))


def coefficients(log: Log, n: int, attributes: sp.csr_array, weight: Any = 1.0) -> sp.csr_array:
    """V L, (n, n_attributes), of the updates on n examples, each times its weight."""
    size = log.size * weight
    at = np.tile(log.example, 2), np.concatenate([log.right, log.wrong])
    V = sp.csr_array((np.concatenate([size, -size]), at), shape=(n, attributes.shape[0]))
    C = sp.csr_array(V @ attributes)
    C.eliminate_zeros()
    return C


def add_weights(X: sp.csr_array, C: sp.csr_array, W: FloatArray) -> None:
    """``W += X' C``."""
    columns = sp.csc_array(X)
    fast.add_product(
        columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data,
        *_arrays(C), W,
    )  # fmt: skip


def compact(W: FloatArray, share: float) -> Any:
    """A copy of the weights: CSR where less than this share of them is not 0."""
    begin = np.zeros(W.shape[0] + 1, np.int64)
    fast.count_nonzeros(W, begin)
    if begin[-1] >= share * W.size:
        return W.copy()
    indices, data = np.empty(begin[-1], np.int32), np.empty(begin[-1], W.dtype)
    fast.list_nonzeros(W, begin, indices, data)
    return sp.csr_array((data, indices, begin), shape=W.shape)


def _shared_sums(L: sp.csr_array) -> tuple[Any, Any, Any, Any]:
    """Sums over the first attributes of the classes, those of equal beginnings only once."""
    length, last = np.diff(L.indptr), np.zeros(L.shape[0], np.int32)
    parts: list[Any] = [np.zeros((0, 3))]
    count = 1
    for j in range(int(length.max(initial=0))):
        y = np.flatnonzero(length > j)
        at = L.indptr[y] + j
        keys = np.column_stack([last[y], L.indices[at], L.data[at]])
        new, which = np.unique(keys, axis=0, return_inverse=True)
        parts.append(new)
        last[y] = count + which.ravel()
        count += len(new)
    before, node, value = np.vstack(parts).T
    return before.astype(np.int32), node.astype(np.int32), value.copy(), last


def _arrays(A: sp.csr_array) -> tuple[Any, Any, Any]:
    return A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data.astype(np.float64)


def _log(size: int) -> Log:
    example, right, wrong = np.empty((3, size), np.int32)
    return Log(example, right, wrong, np.empty(size), np.empty(size, np.int64))


def _joined(logs: list[Log]) -> Log:
    if len(logs) < 2:
        return logs[0] if logs else _log(0)
    return Log(*(np.concatenate(parts) for parts in zip(*logs, strict=True)))


def _work(problem: OnlineProblem, dtype: Any) -> fast.PerceptronWork:
    q, s = problem.classes.attributes.shape
    F, loss, mark = np.empty(q), np.empty(q), np.zeros(problem.classes.n_nodes)
    sums = np.empty(problem.classes.arrays.p_before.size + 1)
    return fast.PerceptronWork(
        np.empty(s, dtype), sums, F, loss, mark, np.empty(s, np.int32), np.empty(s)
    )
