"""The ranking machine by the algorithm of the thesis: the worst example first.

    repeat  i = argmax psi_i (the lowest of equals); stop if psi_i <= tol;
            the pair with the largest H_ip joins the list of i (the first of equals);
            8a  make the dual optimal over the list of i, or
            8b  over all lists;
            drop what is 0                                           [Cai2008] Algorithm 2

All scores are kept, as rows of the kernel matrix are added up: n^2 numbers, and n scores of every
attribute. Use `ranking_svm.solve` for large problems: it has the same optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import check_choice
from linnaeus.losses import ClassLoss
from linnaeus.solvers.numerics.rounds import Rounds
from linnaeus.solvers.ranking import ranking_svm_box_fast as box_fast
from linnaeus.solvers.ranking import ranking_svm_fast as fast
from linnaeus.solvers.ranking import ranking_svm_pairs as pairs
from linnaeus.solvers.ranking.ranking_svm import Descent, Ranking

EXACT = 100_000  # steps to settle an example, at most
SWEEPS = 10_000  # over all lists in 8b, at most
PART = 1e-4  # of the present psi, to which 8b makes the lists optimal


def solve(
    X: Any,
    Y: sp.csr_array,
    attributes: sp.csr_array,
    loss: ClassLoss,
    *,
    step: str = "8a",
    precomputed: bool = False,
    tol: float = 1e-2,
    max_iter: int = 1000,
    **given: Any,
) -> Ranking:
    """The same problem as `ranking_svm.solve`.

    step : what is made optimal at a time, "8a" (one example) or "8b" (all lists)
    tol : stop when psi is at most this
    max_iter : steps at most, for each example in the mean
    given : C, slack, rescale, sample_weight and dtype, as there

    Records of the trace also say which example and which pair was taken.
    """
    check_choice("step", step, ("8a", "8b"))
    K = X if precomputed else (X @ X.T).toarray()
    setting = pairs.setup(K, Y, attributes, loss, precomputed=True, **given)
    rounds = Rounds(max_iter * setting.live.size, tol, unit=setting.scale**2)
    descent = Descent(setting, None, 0, rounds, "psi")
    if not descent.keep("greedy", step):
        descent.certify()
    for _ in rounds:
        i = int(np.argmax(descent.psi))
        y, z = descent.pair[i].tolist()
        chosen = {"example": int(setting.live[i]), "label": y, "other": z}
        rounds.trace[-1] |= chosen | {"slack": float(descent.slack[i])}
        _step(descent, i, y, z, step)
        descent.certify()
    found = descent.solution()
    if precomputed:
        return found
    return found._replace(W=((found.V @ attributes).T @ X).toarray())


def _step(descent: Descent, i: int, y: int, z: int, step: str) -> None:
    loss = float(descent.setting.losses.loss.pairs([y], [z])[0])
    if not fast.enter_one(descent.lists, i, y, z, loss) and descent.lists.wants[i]:
        descent.lists = pairs.make_room(descent.lists)
        descent.work = pairs.make_work(descent.setting, descent.lists)
        fast.enter_one(descent.lists, i, y, z, loss)
    _settle(descent, [i], descent.floor)
    least = np.maximum(descent.floor, PART * descent.psi[i])
    for _ in range(SWEEPS if step == "8b" else 0):
        descent.sums[fast.MOVED] = 0.0
        _settle(descent, np.flatnonzero(descent.lists.size).tolist(), least)
        if descent.sums[fast.MOVED] == 0.0:
            break


def _settle(descent: Descent, examples: list[int], least: pairs.Values) -> None:
    """Make the lists of examples optimal, one after the other."""
    settle: Any = box_fast.settle_one if descent.setting.box else fast.settle_one
    for i in examples:
        settle(
            descent.problem, descent.lists, descent.W, i, EXACT, least, descent.work, descent.sums
        )
