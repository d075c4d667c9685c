"""What a node has of its own and what it inherits, for every estimator.

Everything is a node's own in FlatSVM, FlatLogistic, MulticlassSVM and MulticlassLogistic (`own`).

RecursiveSVM, RecursiveLogistic and HBLR (`inheriting`): what a node adds to the weights of its
parents is its own, and inner nodes have weights too. CorrelatedMNL likewise, by posterior means;
its score is the logarithm of a mean of probabilities, which no sum of features gives, so that the
linear predictor is explained and the rest told.

RankingSVM, HierarchicalPerceptron and Hieron (`attributes`): F(x, y) = sum_v l_v(y) w_v.x over the
nodes v above y.

TopDown and OrthogonalTransfer (`local`): a step for every node on the way, with nothing inherited.
HierarchicalRLS (`own`): a model for every node given its parent.

HM3 (`markov`): the best label set with a node against the best without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linnaeus.errors import UserError
from linnaeus.estimators.corrmnl import CorrelatedMNL
from linnaeus.estimators.hblr import HBLR
from linnaeus.estimators.hieron import Hieron
from linnaeus.estimators.hm3 import HM3
from linnaeus.estimators.hrls import HierarchicalRLS
from linnaeus.estimators.logistic import FlatLogistic
from linnaeus.estimators.mlr import MulticlassLogistic
from linnaeus.estimators.msvm import MulticlassSVM
from linnaeus.estimators.ot import OrthogonalTransfer
from linnaeus.estimators.perceptron import HierarchicalPerceptron
from linnaeus.estimators.ranking_svm import RankingSVM
from linnaeus.estimators.rr_lr import RecursiveLogistic
from linnaeus.estimators.rr_svm import RecursiveSVM
from linnaeus.estimators.svm import FlatSVM
from linnaeus.estimators.topdown import TopDown
from linnaeus.explanation.attributes import ranked
from linnaeus.explanation.inheriting import bayesian, correlated, recursive
from linnaeus.explanation.markov import Markov
from linnaeus.explanation.own import flat, orthogonal, ridge, top_down
from linnaeus.explanation.weights import Weights


def weights_of(estimator: Any) -> Weights:
    """The weights of a fitted estimator, by the nodes that they come from.

    Parameters
    ----------
    estimator : object
        A fitted estimator.

    Returns
    -------
    object
        Rows of weights by node, with the nodes that they come from.
    """
    for kinds, build in _BUILDERS:
        if isinstance(estimator, kinds):
            return build(estimator)
    known = sorted(kind.__name__ for kinds, _ in _BUILDERS for kind in kinds)
    raise UserError(
        f"{type(estimator).__name__} cannot be explained by weights. Use one of: "
        f"{', '.join(known)}."
    )


_BUILDERS: tuple[tuple[tuple[type, ...], Callable[[Any], Weights]], ...] = (
    ((HM3,), Markov.of),
    ((RankingSVM, HierarchicalPerceptron, Hieron), ranked),
    ((RecursiveSVM, RecursiveLogistic), recursive),
    ((HBLR,), bayesian),
    ((CorrelatedMNL,), correlated),
    ((OrthogonalTransfer,), orthogonal),
    ((TopDown,), top_down),
    ((HierarchicalRLS,), ridge),
    ((FlatSVM, FlatLogistic, MulticlassSVM, MulticlassLogistic), flat),
)
