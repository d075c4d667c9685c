"""From scores to label sets: rules that wrap any scikit-learn classifier, or decide on scores.

>>> from linnaeus.decisions import RCut
>>> RCut().fit_scores([[3.0, 2.0, 1.0], [0.0, 2.0, 1.0]], [[1, 1, 0], [0, 1, 1]]).k_
2
"""

from linnaeus.decisions.argmax import Argmax
from linnaeus.decisions.base import Decision
from linnaeus.decisions.closed import ClosedArgmax
from linnaeus.decisions.consistent import TopDownConsistent
from linnaeus.decisions.cuts import Cuts, ideal_cuts
from linnaeus.decisions.instance_cut import InstanceCut
from linnaeus.decisions.rcut import RCut
from linnaeus.decisions.rules import (
    RULES,
    RuleChoice,
    RuleInfo,
    choose_rule,
    fit_rule,
    make_rule,
    node_sets,
    pool_rules,
    score_rules,
)
from linnaeus.decisions.scut import SCut
from linnaeus.decisions.set_size import SetSize
from linnaeus.decisions.threshold import Threshold

__all__ = [
    "RULES",
    "Argmax",
    "ClosedArgmax",
    "Cuts",
    "Decision",
    "InstanceCut",
    "RCut",
    "RuleChoice",
    "RuleInfo",
    "SCut",
    "SetSize",
    "Threshold",
    "TopDownConsistent",
    "choose_rule",
    "fit_rule",
    "ideal_cuts",
    "make_rule",
    "node_sets",
    "pool_rules",
    "score_rules",
]
