"""Units of a search as tasks for workers elsewhere: what all of them need, as a folder of files.

A unit is a path of fits on one fold. Each is done whole by one worker, on one thread, with the same
result as here; the rows of its features come as a value of its own, since several units share them.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

from linnaeus import storage
from linnaeus.execution import task
from linnaeus.labels.names import name_array
from linnaeus.metrics.counts import measure
from linnaeus.model.judging import RulesToJudge, judged_path, quiet_convergence
from linnaeus.model.methods import make
from linnaeus.splits import Split
from linnaeus.storage.folders import Folder
from linnaeus.taxonomy import Taxonomy

Record = dict[str, Any]


def fit_path(
    estimator: Any, X: Any, y: Any, taxonomy: Taxonomy, split: Split, Cs: Sequence[float | None],
    rules: RulesToJudge,
) -> list[Record]:  # fmt: skip
    """A record per C of `judged_path`: {"C", "seconds", "unconverged", "rules": {rule: values}}."""
    found = []
    for C, seconds, early, counts in judged_path(estimator, X, y, taxonomy, split, Cs, rules):
        values = {name: measure(taxonomy, record) for name, record in counts.items()}
        found.append({"C": C, "seconds": seconds, "unconverged": early, "rules": values})
    return found


class Packed:
    """What all units of a search need, in a folder that goes with this object."""

    def __init__(
        self, method: str, fixed: Mapping[str, Any], taxonomy: Taxonomy, y: Any,
        splits: Sequence[Split], rules: RulesToJudge,
    ) -> None:  # fmt: skip
        self._place = tempfile.TemporaryDirectory(prefix="linnaeus-")
        folder = Path(self._place.name) / "search"
        names = None if hasattr(y, "indptr") else taxonomy.numbers(list(y))
        storage.save(
            {
                "method": method, "fixed": dict(fixed), "taxonomy": taxonomy,
                "y": y if names is None else names, "named": names is not None,
                "splits": [list(split) for split in splits], "rules": list(rules),
            },
            folder, about={},
        )  # fmt: skip
        self.folder = storage.folder_of(folder)


@lru_cache(maxsize=2)
def _opened(folder: Folder) -> dict[str, Any]:
    """What is in the folder of a search."""
    found = dict(storage.load(Path(folder.path)))
    if found["named"]:
        found["y"] = name_array(found["taxonomy"].names(found["y"]))
    return found


def _quiet() -> AbstractContextManager[None]:
    """`quiet_convergence` for a worker's only thread; it is there already where threads work."""
    alone = threading.current_thread() is threading.main_thread()
    return quiet_convergence() if alone else nullcontext()


@task
def fit_unit(folder: Folder, unit: tuple[Any, dict[str, Any], list[Any], int]) -> list[Record]:
    """A unit: rows, parameters, values of C, and the number of the fold."""
    X, parameters, Cs, fold = unit
    known = _opened(folder)
    rules = RulesToJudge(*known["rules"])
    estimator = make(known["method"], known["taxonomy"], known["fixed"] | parameters, rules.seed)
    split = tuple(known["splits"][fold])
    with _quiet():
        return fit_path(estimator, X, known["y"], known["taxonomy"], split, Cs, rules)
