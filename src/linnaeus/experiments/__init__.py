"""Experiments: methods side by side, few examples per class, and the best setting of a method.

    compare                  methods on folds or on a test part, with tests, costs and mistakes
    judge_model, verdict     the same for one trained model; what a comparison amounts to
    tune, make_space         the best setting of a method by cross-validation, resumable
    c_path                   cross-validation along values of C alone

Rankings, [Cai2008] section 7:

    cross_validate_ranking   k folds, every metric per fold, unweighted means
    held_out_ranking         a given division: all test rows, and blocks of them
    per_class_study          t training rows per class, repeated: mean and sample deviation
    random_hierarchies       hierarchies of the same shape, the same for every method
    paired_test              permutation test of two methods over folds or repetitions

Label sets, [GopalYang2015] section 6:

    label_set_study          micro and macro F1 on a test part, with thresholds learnt out of fold
    with_best_C              methods whose C is chosen on the training part
    f1_spread                standard errors by drawing test rows again
    spread_of_sums           the same for any figures made of sums over the rows

`parse_methods` understands methods by name ("svm:flat"), `Examples` are texts or tables of which
every division of the rows makes its features, and `measure` says what a piece of work cost.
"""

from linnaeus.experiments.best_c import WIDE_CS, CPath, c_path, with_best_C
from linnaeus.experiments.bootstrap import Spread, f1_spread, spread_of_sums
from linnaeus.experiments.comparing import compare, judge_model
from linnaeus.experiments.comparison import Comparison, Setting
from linnaeus.experiments.cost import Cost, measure
from linnaeus.experiments.divisions import Examples
from linnaeus.experiments.grid import Space, make_space, parse_grid
from linnaeus.experiments.label_set_study import BaselineTest, LabelSetResult, LabelSetStudy
from linnaeus.experiments.label_sets import label_set_study
from linnaeus.experiments.method_result import FIGURES, LESS_IS_BETTER, MethodResult
from linnaeus.experiments.named_methods import (
    NamedMethod,
    NotApplicable,
    parse_methods,
    random_hierarchies,
)
from linnaeus.experiments.pair_tests import GroupTest, PairTest, holm, stars
from linnaeus.experiments.ranking_study import METRICS, PairedTest, RankingStudy, paired_test
from linnaeus.experiments.rankings import cross_validate_ranking, held_out_ranking, per_class_study
from linnaeus.experiments.resampling import Draws, area_interval, draw_figures, paired_pvalue
from linnaeus.experiments.tuned import Tuned, setting_words
from linnaeus.experiments.tuning import tune
from linnaeus.experiments.verdict import evaluation_verdict, verdict

__all__ = [
    "FIGURES",
    "LESS_IS_BETTER",
    "METRICS",
    "WIDE_CS",
    "BaselineTest",
    "CPath",
    "Comparison",
    "Cost",
    "Draws",
    "Examples",
    "GroupTest",
    "LabelSetResult",
    "LabelSetStudy",
    "MethodResult",
    "NamedMethod",
    "NotApplicable",
    "PairTest",
    "PairedTest",
    "RankingStudy",
    "Setting",
    "Space",
    "Spread",
    "Tuned",
    "area_interval",
    "c_path",
    "compare",
    "cross_validate_ranking",
    "draw_figures",
    "evaluation_verdict",
    "f1_spread",
    "held_out_ranking",
    "holm",
    "judge_model",
    "label_set_study",
    "make_space",
    "measure",
    "paired_pvalue",
    "paired_test",
    "parse_grid",
    "parse_methods",
    "per_class_study",
    "random_hierarchies",
    "setting_words",
    "spread_of_sums",
    "stars",
    "tune",
    "verdict",
    "with_best_C",
]
