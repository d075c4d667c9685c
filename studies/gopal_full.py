"""Tables II and III of [GopalYang2015] on the paper's own collections, for those who have them.

They cannot be had freely, so nothing is stored: `linnaeus import` turns a copy into a folder with
the name that stands here, and `python -m studies run` runs the units whose folders are there.
"""

from __future__ import annotations

from studies.figures_gopal import FIGURES, NAMES
from studies.gopal import PROTOCOL, unit_of
from studies.gopal_data import CLOSED, GRAPHS
from studies.tables import Table

FORMATS = {  # folder -> the format of linnaeus import
    "rcv1-closed": "rcv1", "wipo-alpha": "wipo", "lshtc-small": "lshtc", "dmoz-2010": "lshtc",
    "dmoz-2012": "lshtc", "dmoz-2011": "lshtc", "swiki-2011": "lshtc", "lwiki": "lshtc",
}  # fmt: skip
_CASES = [(folder, method) for folder in FORMATS for method in FIGURES[NAMES[folder]]]
_COMMANDS = "; ".join(
    f"linnaeus import {form} COPY -o DIR/{folder.removesuffix(CLOSED)}"
    f"{' --graph' if folder in GRAPHS else ''}"
    for folder, form in FORMATS.items()
)

TABLE = Table(
    name="gopal-full",
    title="Recursive regularisation on the paper's own collections",
    source="[GopalYang2015] Tables II and III",
    protocol=f"On copies of your own, which these commands import: {_COMMANDS}. {PROTOCOL}",
    unit_of_figures="F1 in %",
    digits=2,
    units=tuple(unit_of(*case) for case in _CASES),
    why="Words, their weights and the folds may not be the paper's.",
    minutes=sum(FIGURES[NAMES[folder]][method][2] for folder, method in _CASES),  # the paper's
)

TABLES = (TABLE,)
