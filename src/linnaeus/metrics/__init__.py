"""How good predictions are: metrics of label sets and of scores, tests, and a report."""

from linnaeus.metrics.at_k import ndcg_at, precision_at, propensity_precision_at, recall_at
from linnaeus.metrics.au_prc import au_prc
from linnaeus.metrics.calibration import Calibration, calibration
from linnaeus.metrics.counts import PRF
from linnaeus.metrics.evaluate import evaluate
from linnaeus.metrics.ranking import (
    label_ranking_average_precision,
    maximal_loss,
    parent_accuracy,
    ranking_loss,
    top1_accuracy,
    top_loss,
)
from linnaeus.metrics.report import Comparison, Report
from linnaeus.metrics.scorers import scorer
from linnaeus.metrics.sets import (
    hierarchical_f1,
    hierarchical_loss,
    hierarchical_precision,
    hierarchical_recall,
    macro_f1,
    micro_f1,
    precision_recall_f1,
    subscription_loss,
    symmetric_difference_loss,
    zero_one_loss,
)
from linnaeus.metrics.significance import (
    PermutationTest,
    SignTest,
    WilcoxonTest,
    count_wins,
    permutation_test,
    sign_test,
    wilcoxon_test,
)
from linnaeus.metrics.sweep import Sweep, operating_point, sweep

__all__ = [
    "PRF",
    "Calibration",
    "Comparison",
    "PermutationTest",
    "Report",
    "SignTest",
    "Sweep",
    "WilcoxonTest",
    "au_prc",
    "calibration",
    "count_wins",
    "evaluate",
    "hierarchical_f1",
    "hierarchical_loss",
    "hierarchical_precision",
    "hierarchical_recall",
    "label_ranking_average_precision",
    "macro_f1",
    "maximal_loss",
    "micro_f1",
    "ndcg_at",
    "operating_point",
    "parent_accuracy",
    "permutation_test",
    "precision_at",
    "precision_recall_f1",
    "propensity_precision_at",
    "ranking_loss",
    "recall_at",
    "scorer",
    "sign_test",
    "subscription_loss",
    "sweep",
    "symmetric_difference_loss",
    "top1_accuracy",
    "top_loss",
    "wilcoxon_test",
    "zero_one_loss",
]
