"""Claims of [Rousu2006] section 5."""

from __future__ import annotations

from linnaeus.reproduction.judging import Claim

CLAIMS: tuple[Claim, ...] = ()
