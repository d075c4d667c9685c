"""The methods of [GopalYang2015] Table II, each with the C that cross-validation likes best.

C is chosen on the training part alone; the test part is never seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from linnaeus.errors import UserError, shorten
from linnaeus.methods import Published, make, published, table_methods
from linnaeus.metrics import micro_f1
from linnaeus.reproduction.tables import Step
from linnaeus.taxonomy import Taxonomy

CS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)  # the values tried in [GopalYang2015] section 6
BASELINES: dict[str, tuple[str, ...]] = {  # of Tables II and III
    "BSVM": ("TD",),
    "BLR": ("TD",),
    "MSVM": ("TD",),
    "MLR": ("TD",),
    "HSVM": ("TD",),
    "OT": ("TD",),
    "RR-SVM": ("BSVM", "TD"),
    "RR-LR": ("BLR", "TD"),
    "HBLR": ("BLR", "TD"),
}


def label_set_methods(
    methods: Sequence[str] | None,
    taxonomy: Taxonomy,
    Cs: Sequence[float] = CS,
    folds: int = 5,
    parameters: dict[str, Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
    scoring: Callable[[Any, Any], float] = micro_f1,
) -> dict[str, Any]:
    """{name: function that chooses C and makes the classifier}, for `label_set_study`."""
    if not Cs or not all(0 < C < np.inf for C in Cs):
        raise UserError(f"The values of C are {shorten(list(Cs))}. Give positive numbers.")
    if folds < 2:
        raise UserError(f"The number of folds is {folds}. Use 2 or more.")
    found = dict(published(name) for name in (table_methods() if methods is None else methods))
    common = (taxonomy, Cs, folds, parameters or {}, seed, jobs, scoring)
    entries: dict[str, Any] = {}
    for name, method in found.items():
        begin = None if step is None else partial(step, name, len(entries), len(found))
        told = None if step is None else partial(step, f"{name}: C")
        entries[name] = _Chooser(method, *common, begin, told)
        entries[name].build(several=False)  # a mistake shows before the first fit
    return entries


@dataclass(frozen=True)
class _Chooser:
    """Makes a method's classifier, with the C that is best in cross-validation."""

    method: Published
    taxonomy: Taxonomy
    Cs: Sequence[float]
    folds: int
    parameters: dict[str, Any]
    seed: int
    jobs: int
    scoring: Callable[[Any, Any], float]  # of (truth, prediction), for the choice
    begin: Callable[[], None] | None  # told when the choice is made
    told: Callable[[int, int], None] | None  # about fits for the choice

    def __call__(self, X: Any, y: Any) -> Any:
        from linnaeus.experiments import NotApplicable

        several = not isinstance(y, np.ndarray)
        if several and self.method.several is None:
            raise NotApplicable("for one label per row only")
        model = self._chosen(self.build(several), X, y, several)
        if self.begin is not None:
            self.begin()
        return model

    def build(self, several: bool) -> Any:
        """The classifier, before C is chosen."""
        own = {**self.method.parameters, **(self.method.several or {} if several else {})}
        parameters = own | self.parameters
        return make(self.method.method, self.taxonomy, parameters, self.seed, self.jobs)

    def _chosen(self, model: Any, X: Any, y: Any, several: bool) -> Any:
        from linnaeus.decisions import InstanceCut
        from linnaeus.experiments import c_path

        if "C" not in model.get_params() or "C" in self.parameters:
            return model
        if len(self.Cs) == 1:
            return model.set_params(C=self.Cs[0])
        path = c_path(
            model, X, y, self.Cs, cv=self.folds, scoring=self.scoring,
            decision=InstanceCut(model, self.taxonomy) if several else None, refit=False,
            random_state=self.seed, callback=self.told,
        )  # fmt: skip
        return path.estimator
