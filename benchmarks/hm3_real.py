"""H-M3 beside flat machines (SVM), local machines (H-SVM) and least squares (H-RLS), C = 1, with
the figures of [Rousu2006] Tables 1 to 3 next to ours: `linnaeus.reproduction.rousu`.
"""

from __future__ import annotations

from benchmarks.reproduced import publish_table

RECORDS = {"rousu-1": "hm3_losses", "rousu-2": "hm3_real", "rousu-3": "hm3_levels"}


def main() -> None:
    for table, record in RECORDS.items():
        publish_table(table, record, needs="HM3_PARTS=real", benchmark="hm3")
