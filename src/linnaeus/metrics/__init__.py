"""How good predictions are: metrics of label sets and of scores, tests, and a report."""

from linnaeus.metrics.calibration import Calibration, calibration
from linnaeus.metrics.counts import PRF
from linnaeus.metrics.evaluate import evaluate
from linnaeus.metrics.ranking import (
    average_precision,
    maximal_loss,
    one_accuracy,
    parent_accuracy,
    precision_at,
    ranking_loss,
    top_loss,
)
from linnaeus.metrics.report import Comparison, Report
from linnaeus.metrics.sets import (
    hierarchical_f1,
    hierarchical_loss,
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
    "average_precision",
    "calibration",
    "count_wins",
    "evaluate",
    "hierarchical_f1",
    "hierarchical_loss",
    "macro_f1",
    "maximal_loss",
    "micro_f1",
    "one_accuracy",
    "operating_point",
    "parent_accuracy",
    "permutation_test",
    "precision_at",
    "precision_recall_f1",
    "ranking_loss",
    "sign_test",
    "subscription_loss",
    "sweep",
    "symmetric_difference_loss",
    "top_loss",
    "wilcoxon_test",
    "zero_one_loss",
]
