"""Methods side by side: on the same rows, with tests, costs and mistakes."""

from linnaeus.comparison.contest import Contest, Setting
from linnaeus.comparison.duels import Duel, GroupDuel, holm, stars
from linnaeus.comparison.running import compare, single
from linnaeus.comparison.standing import FIGURES, LESS_IS_BETTER, Standing
from linnaeus.comparison.verdict import verdict

__all__ = [
    "FIGURES",
    "LESS_IS_BETTER",
    "Contest",
    "Duel",
    "GroupDuel",
    "Setting",
    "Standing",
    "compare",
    "holm",
    "single",
    "stars",
    "verdict",
]
