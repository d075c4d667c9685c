"""What the papers claim, judged by the stored outcomes: paper by paper."""

from __future__ import annotations

from studies import claims_cai, claims_gopal, claims_rousu
from studies.judging import Claim, Results, Verdict

CLAIMS: tuple[Claim, ...] = (*claims_rousu.CLAIMS, *claims_cai.CLAIMS, *claims_gopal.CLAIMS)

__all__ = ["CLAIMS", "Claim", "Results", "Verdict"]
