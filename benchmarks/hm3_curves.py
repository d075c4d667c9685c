"""Learning curves of H-M3 on rcv1-ccat, [Rousu2006] figures 2 and 3:
`linnaeus.reproduction.rousu_curves`.
"""

from __future__ import annotations

from benchmarks.recording import RESULTS
from benchmarks.reproduced import outcomes_of, publish_table
from linnaeus.reproduction.rousu_curves import draw_curves, draw_progress

PICTURES = {
    "rousu-fig2": ("hm3_progress", draw_progress),
    "rousu-fig3": ("hm3_curves", draw_curves),
}


def main() -> None:
    for table, (record, draw) in PICTURES.items():
        file = f"{record}.svg"
        draw(outcomes_of(table), RESULTS / file)
        publish_table(table, record, needs="HM3_PARTS=curves", benchmark="hm3", plots=[file])
