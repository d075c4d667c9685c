"""The experiments of [Cai2008] section 7: methods side by side on the same divisions of the data.

    cross_validate_ranking   k folds, every metric per fold, unweighted means
    per_class_study          t training rows per class, repeated: mean and sample deviation
    random_hierarchies       hierarchies of the same shape, the same for every method
    compare                  paired permutation test of two methods over folds or repetitions

Every method scores every class of every test row; all losses are those of the true taxonomy,
whatever hierarchy a method used. A class that a method has not seen comes after those it has.
Inner nodes that carry labels are classes too, and stand for a misc leaf below the node.
"""

from linnaeus.protocols.designs import (
    cross_validate_ranking,
    per_class_study,
    random_hierarchies,
    with_hierarchies,
)
from linnaeus.protocols.study import METRICS, Comparison, Study, compare

__all__ = [
    "METRICS",
    "Comparison",
    "Study",
    "compare",
    "cross_validate_ranking",
    "per_class_study",
    "random_hierarchies",
    "with_hierarchies",
]
