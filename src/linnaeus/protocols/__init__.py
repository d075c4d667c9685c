"""Experiments of the papers: methods side by side on the same divisions of the data.

Rankings, [Cai2008] section 7:

    cross_validate_ranking   k folds, every metric per fold, unweighted means
    held_out_ranking         a given division: all test rows, and blocks of them
    per_class_study          t training rows per class, repeated: mean and sample deviation
    random_hierarchies       hierarchies of the same shape, the same for every method
    compare                  paired permutation test of two methods over folds or repetitions

Every method scores every class of every test row; all losses are those of the true taxonomy,
whatever hierarchy a method used. A class that a method has not seen comes after those it has.
Inner nodes that carry labels are classes too, and stand for a misc leaf below the node.

Label sets, [GopalYang2015] section 6:

    label_set_study          micro and macro F1 on a test part, with thresholds learnt out of fold
    f1_spread                standard errors by drawing test rows again
    spread_of_sums           the same for any figures made of sums over the rows
"""

from linnaeus.protocols.bootstrap import Spread, f1_spread, spread_of_sums
from linnaeus.protocols.designs import (
    cross_validate_ranking,
    held_out_ranking,
    per_class_study,
    random_hierarchies,
    with_hierarchies,
)
from linnaeus.protocols.label_set_study import Against, LabelSetStudy, Outcome
from linnaeus.protocols.label_sets import NotApplicable, label_set_study
from linnaeus.protocols.study import METRICS, Comparison, Study, compare

__all__ = [
    "METRICS",
    "Against",
    "Comparison",
    "LabelSetStudy",
    "NotApplicable",
    "Outcome",
    "Spread",
    "Study",
    "compare",
    "cross_validate_ranking",
    "f1_spread",
    "held_out_ranking",
    "label_set_study",
    "per_class_study",
    "random_hierarchies",
    "spread_of_sums",
    "with_hierarchies",
]
