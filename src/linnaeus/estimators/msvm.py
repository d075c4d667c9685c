"""The multiclass support vector machine: MSVM of [GopalYang2015] section 5.2.

    minimise  1/2 sum_k ||w_k||^2 + C sum_i max_k ([k != t_i] + w_k.x_i - w_{t_i}.x_i)

t_i is the class of example i.
"""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from linnaeus.estimators._multiclass import Multiclass
from linnaeus.solvers.linear import msvm
from linnaeus.solvers.numerics.examples import Solution


class MulticlassSVM(Multiclass):
    """The multiclass support vector machine of Crammer and Singer.

    Parameters
    ----------
    taxonomy : the taxonomy, whose leaves are the classes; None for the labels that occur
    C : weight of the loss
    fit_intercept, intercept_scaling, tol, dtype, random_state : as in `FlatSVM`
    max_iter : passes over the data at most
    n_jobs : not used: examples are visited one after the other

    Attributes
    ----------
    coef_, intercept_ : (n_classes, n_features) and (n_classes,), one row for two exclusive classes
    classes_, taxonomy_, n_iter_, trace_, objective_, dual_objective_, gap_
    """

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int
    ) -> Solution:
        options = self._options(weight, dtype)
        t = self._one_class(Y)
        return self._folded(msvm.solve(X, t, Y.shape[1], random_state=seed, **options))
