"""Recursive regularisation with the hinge or the squared hinge: RR-SVM of [GopalYang2015].

    minimise_W  1/2 sum_e c_e ||w_i - w_j||^2 + 1/2 sum_v g_v ||w_v||^2
                + C sum_{leaves n} sum_i loss(y_in w_n.x_i)                                   (10)

Which way is taken:

    joint dual    (`rr_svm_dual`, steps in `rr_svm_fast`) with the schedule `two-block`, the
                  default, on trees and on graphs whose factor is sparse (`rr_factor`), unless some
                  class leans on hardly anything; where features are few or of different sizes it
                  ends with second-order steps (`rr_svm_newton`);
    alternation   (`alternation`) otherwise, and with the other schedules. Where a class leans on
                  hardly anything the same steps end it (`rr_finish`). The hinge's part of it
                  is here: a leaf keeps its dual variables A when its mean moves; with
                  V_n = sum_i A_in y_in x_i and u_n = V_n / S_n it starts again at m_n + u_n.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.execution import Executor, Serial, task
from linnaeus.execution import executor as workers
from linnaeus.execution.memory import text_of, workers_of
from linnaeus.solvers.linear import svm, svm_duals
from linnaeus.solvers.numerics.examples import FloatArray, Joint, Rows, weighted_examples
from linnaeus.solvers.recursive import rr_factor, rr_plan, rr_svm_dual
from linnaeus.solvers.recursive.alternation import (
    LATER,
    Alternation,
    Measured,
    Parts,
    Structure,
    means,
)
from linnaeus.solvers.recursive.rr_finish import INNER_EPOCHS, epochs, finish_of
from linnaeus.solvers.recursive.rr_svm_blocks import JointOptions


class Leaf(NamedTuple):
    """A block of leaves between two visits: dual variables (over S) and what they add up to."""

    columns: npt.NDArray[np.int64]
    task: svm.SvmTask
    alpha: Any = None  # (n, lanes) csr
    U: Any = None  # (lanes, d + 1)
    origin: Any = None  # (lanes, d + 1): what is added to the mean, beside nodes that are held
    n_epochs: int = INNER_EPOCHS  # 0 only measures


class Visit(NamedTuple):
    """What a visit to a block of leaves found on entry, and what it left behind."""

    alpha: Any
    U: FloatArray
    loss: npt.NDArray[np.float64]  # C sum loss at m + u, on entry
    conj: npt.NDArray[np.float64]  # sum A - conj(A), on entry
    norm2: npt.NDArray[np.float64]  # ||u||^2 on entry


@task
def visit_leaves(
    rows: Rows, norm2: Any, row_cost: Any, n_features: Any, W_I: Any, mix: Any, leaf: Leaf
) -> Visit:
    """One step of a block of leaves around the present mean: measure, then descend."""
    mean = means(mix, leaf.columns, W_I) if W_I.size else None
    if leaf.origin is not None:
        mean = leaf.origin if mean is None else mean + leaf.origin
    task = leaf.task._replace(mean=mean)
    run = svm.SvmRun(rows, norm2, row_cost, int(n_features), task)
    lanes = run.alpha.shape[1]
    if leaf.alpha is None:  # the first visit: from nothing
        zero = np.zeros(lanes)
        run.warm_up()
        run.descend(leaf.n_epochs)
        loss, conj, size = np.full(lanes, np.inf), zero, zero
    else:
        run.alpha[:] = leaf.alpha.toarray()
        run.W += leaf.U[:, :-1].T
        run.w_bias += leaf.U[:, -1]
        run.sweep()
        size = run.away2
        loss = run.objective - 0.5 * size
        conj = loss - run.gap + size + run.along  # <u, m + u>: what the duals take from margins
        if leaf.n_epochs == 0:
            return Visit(leaf.alpha, leaf.U, loss, conj, size)
        run.descend(leaf.n_epochs)
    U = np.empty((lanes, run.W.shape[0] + 1), dtype=rows.data.dtype)
    U[:, :-1], U[:, -1] = run.W.T, run.w_bias
    if mean is not None:
        U -= mean
    return Visit(sp.csr_array(run.alpha), U, loss, conj, size)


def solve(
    X: sp.csr_array,
    Y: sp.csr_array,
    structure: Structure,
    *,
    C: float = 1.0,
    loss: str = "hinge",
    bias: float = 0.0,
    share_bias: bool = True,
    schedule: str = "two-block",
    sample_weight: Any = None,
    class_weight: Any = None,
    start: sp.csr_array | None = None,
    start_inner: FloatArray | None = None,
    origin: FloatArray | None = None,
    tol: float = 1e-3,
    max_iter: int = 50,
    dtype: Any = np.float64,
    seed: int = 0,
    limit: int | None = None,
    n_jobs: int | None = None,
    executor: Executor | None = None,
) -> Joint:
    """Solve until the relative duality gap is `tol`, in at most `max_iter` rounds.

    share_bias : whether the weight of the constant feature is pulled towards the neighbours
        like any other, or towards zero
    start : (n, n_classes), signed dual variables of an earlier solve (`svm_duals`)
    start_inner : (n_internal, d + 1), weights for alternation to begin with; zeros if not given
    origin : (n_classes, d + 1), beside nodes that are held (`alternation`)
    limit : bytes of memory; where a fit with dense weights would take more, the answer is
        `rr_parts.PathWeights` (`rr_plan`). None for as many as it takes
    n_jobs : workers, as many of them as the limit has room for; without one see `executor`
    """
    X, Y, weight = weighted_examples(X, Y, C, sample_weight)
    if start is not None:
        start = svm_duals.unsigned(svm_duals.of_weighted(start, sample_weight), Y)
    squared, pays = loss == "squared_hinge", False
    cost = np.broadcast_to(C * (1.0 if class_weight is None else class_weight), (2, Y.shape[1]))
    finish = None
    if schedule == "two-block" and origin is None:
        finish = finish_of(X, Y, structure, weight, cost, loss, bias, share_bias)
    joint = finish is not None and not finish.found.stretched
    short = False
    if limit is not None:
        found = finish.found if finish is not None and joint else None
        short, n_jobs = _planned(rr_plan.ways(X, Y, structure, found, dtype, limit), n_jobs)
        executor = workers(n_jobs)
    executor = executor or Serial()
    if finish is not None and joint:
        result = rr_svm_dual.solve(
            finish, JointOptions(squared, float(bias), share_bias, seed, short),
            start=start, tol=tol, max_rounds=max_iter, dtype=dtype, executor=executor,
        )  # fmt: skip
        return result._replace(duals=svm_duals.of_everybody(result.duals, sample_weight))
    if finish is not None:
        max_iter, pays = finish.n_rounds(max_iter)
    outer = Alternation(structure, X.shape[1], dtype, schedule, share_bias, origin)
    cost = np.ascontiguousarray(cost / structure.S, dtype=dtype)
    options = svm.SvmOptions(squared, float(bias), tol, 0, seed, 0.0, True)
    shared = svm.shared_arrays(X, weight, bias, dtype)
    leaves = _HingeLeaves(outer, shared, sp.csc_array(Y), cost, options, executor)
    if start is not None:
        leaves.resume(sp.csc_array(start), X.shape[1])
        if start_inner is not None:
            outer.W_I = start_inner.astype(dtype)
    result, A = outer.run(leaves, bias, tol, max_iter), leaves.dual_variables()
    if finish is not None and pays:
        result, A = finish(result, A, tol, dtype)
    duals = svm_duals.signed(A, Y)
    return result._replace(duals=svm_duals.of_everybody(duals, sample_weight))


def _planned(ways: rr_plan.Ways, n_jobs: int | None) -> tuple[bool, int]:
    """Whether weights are kept in parts, and how many workers run; or why it cannot be done."""
    plan = ways.taken()
    if ways.parts is not None or plan.needed <= plan.limit:
        return plan is ways.parts, ways.workers(workers_of(n_jobs))
    raise UserError(
        f"memory={text_of(plan.limit)} is too little: {ways.shape} would take about "
        f"{text_of(plan.needed)}. Weights are kept in parts with schedule='two-block' and "
        "root='zero' or 'pinned', where roots or single nodes have a ground, on trees and on "
        f"graphs of at most {rr_factor.CYCLES:,} independent cycles. Use these, or allow "
        f"{text_of(plan.needed)}."
    )


class _HingeLeaves:
    """Blocks of leaves with their dual variables; a visit measures, then descends."""

    relative = measures = True
    resumed = False

    def __init__(
        self, outer: Alternation, shared: list[Any], Y: sp.csc_array, cost: Any,
        options: svm.SvmOptions, executor: Executor,
    ) -> None:  # fmt: skip
        self.structure, self.executor = outer.structure, executor
        self.rows, _, self.weight, _ = shared
        self.shared = [executor.put(array) for array in shared]
        self.blocks: list[list[Leaf]] = []
        self.stats = np.full((3, Y.shape[1]), np.inf)  # loss, conj, norm2 of every leaf
        number = 0
        for leaves, _ in outer.groups:
            self.blocks.append([])
            for k in range(0, leaves.size, svm.LANES):
                columns = leaves[k : k + svm.LANES].astype(np.int64)
                here = np.ascontiguousarray(cost[:, columns])
                task = svm.SvmTask(number, sp.csr_array(Y[:, columns]), here, None, None, options)
                origin = None if outer.origin is None else outer.origin[columns]
                self.blocks[-1].append(Leaf(columns, task, origin=origin))
                number += 1

    def resume(self, start: sp.csc_array, d: int) -> None:
        """Begin with these dual variables, cut to what the costs allow."""
        self.resumed = True
        over_S = sp.csc_array(start * (1.0 / self.structure.S))
        self.blocks = [
            [self._resumed(leaf, over_S[:, leaf.columns].toarray(), d) for leaf in group]
            for group in self.blocks
        ]

    def _resumed(self, leaf: Leaf, alpha: Any, d: int) -> Leaf:
        alpha = alpha.astype(self.weight.dtype)
        y = leaf.task.positives.toarray() > 0
        if not leaf.task.options.squared:
            alpha = np.minimum(alpha, np.where(y, *leaf.task.cost[::-1]) * self.weight[:, None])
        X = sp.csr_array((self.rows.data, self.rows.indices.view(np.int32), self.rows.indptr),
                         (alpha.shape[0], d))  # fmt: skip
        V = sp.csr_array(np.where(y, alpha, -alpha))
        U = np.empty((alpha.shape[1], d + 1), dtype=alpha.dtype)
        U[:, :-1], U[:, -1] = (V.T @ X).toarray(), leaf.task.options.bias * V.sum(axis=0)
        return leaf._replace(alpha=sp.csr_array(alpha), U=U)

    def about(self) -> Any:
        """The examples and the blocks with their tasks."""
        return self.rows, self.weight, [[tuple(leaf) for leaf in group] for group in self.blocks]

    def take(self) -> Any:
        """Dual variables and what they add up to."""
        return [[(leaf.alpha, leaf.U) for leaf in group] for group in self.blocks], self.stats

    def restore(self, found: Any) -> None:
        """Take up such a state."""
        kept, self.stats = found
        self.blocks = [
            [leaf._replace(alpha=alpha, U=U) for leaf, (alpha, U) in zip(group, old, strict=True)]
            for group, old in zip(self.blocks, kept, strict=True)
        ]

    def dual_variables(self) -> sp.csr_array:
        """A, (n, n_classes)."""
        leaves = [leaf for group in self.blocks for leaf in group]
        order = np.argsort(np.concatenate([leaf.columns for leaf in leaves]))
        alpha = sp.csc_array(sp.hstack([leaf.alpha for leaf in leaves]))
        return sp.csr_array(alpha[:, order] * self.structure.S.astype(alpha.dtype))

    def parts(self) -> Parts:
        """u of every block."""
        return [part for group in range(len(self.blocks)) for part in self._parts(group)]

    def visit(self, group: int, W_I: FloatArray, n_rounds: int, gap: float) -> Parts:
        """Measure and descend; the weights m + u."""
        n_rounds += LATER * self.resumed
        n_epochs = epochs(n_rounds)
        blocks = [leaf._replace(n_epochs=n_epochs) for leaf in self.blocks[group]]
        before = self._parts(group)
        visits = self._visit(blocks, W_I)
        self.entered = self._measured(before)
        self.blocks[group] = [
            leaf._replace(alpha=seen.alpha, U=seen.U)
            for leaf, seen in zip(blocks, visits, strict=True)
        ]
        return self.weights(group, W_I)

    def weights(self, group: int, W_I: FloatArray) -> Parts:
        """m + u of the blocks of a group."""
        mix = self.structure.mix
        return [(k, U + means(mix, k, W_I)) for k, U in self._parts(group)]

    def _parts(self, group: int) -> Parts:
        """u of the blocks of a group."""
        return [(leaf.columns, leaf.U) for leaf in self.blocks[group]]

    def measure(self, W_I: FloatArray) -> Measured:
        """Visits that do not descend."""
        self._visit([leaf._replace(n_epochs=0) for blocks in self.blocks for leaf in blocks], W_I)
        return self._measured(self.parts())

    def _visit(self, blocks: list[Leaf], W_I: FloatArray) -> list[Visit]:
        extra = [self.executor.put(W_I), self.executor.put(self.structure.mix)]
        visits = list(self.executor.map(visit_leaves, [*self.shared, *extra], blocks))
        for leaf, seen in zip(blocks, visits, strict=True):
            self.stats[:, leaf.columns] = seen.loss, seen.conj, seen.norm2
        return visits

    def _measured(self, U: Parts) -> Measured:
        loss, conj, norm2 = self.stats
        S = self.structure.S
        return Measured(float(S @ loss), float(S @ conj), norm2.copy(), norm2.copy(), U)
