"""Flat against hierarchical ranking methods, beside the figures of [Cai2008].

Tables 7.5, 7.10, 7.13, 7.15, 7.18 to 7.21 and 7.24, and ImCLEF07A, which the thesis has not:
`linnaeus.reproduction.cai`. The variable THESIS_TABLES, with commas, chooses among them.
"""

from __future__ import annotations

import os

from benchmarks.reproduced import publish_table

RECORDS = {
    "cai-7.5": "thesis_synthetic", "cai-7.10": "thesis_svm", "cai-7.13": "thesis_enzyme",
    "cai-7.15": "thesis_dnc", "cai-7.18": "thesis_random", "cai-7.19": "thesis_random_dnc",
    "cai-7.20": "thesis_averaged", "cai-7.21": "thesis_online", "cai-7.24": "thesis_learned",
    "cai-orders": "thesis_orders", "cai-images": "thesis_others",
}  # fmt: skip


def main() -> None:
    for name in os.environ.get("THESIS_TABLES", ",".join(RECORDS)).split(","):
        publish_table(name, RECORDS[name], needs=f"THESIS_TABLES={name}", benchmark="thesis")


if __name__ == "__main__":
    main()
