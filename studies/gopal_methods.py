"""The methods of [GopalYang2015] Tables II and III by their names there, and what they face."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from linnaeus.experiments import NamedMethod


class PublishedMethod(NamedTuple):
    """A method as a paper has it, by one of ours."""

    method: str
    parameters: Mapping[str, Any]
    several: Mapping[str, Any] | None  # what differs with several labels a row; None: not for it

    def named(self, name: str, several: bool, parameters: Mapping[str, Any]) -> NamedMethod:
        """The method with further parameters, for rows with several labels or one."""
        own = {**self.parameters, **(self.several or {} if several else {}), **parameters}
        return NamedMethod(name, self.method, "", own)


TABLE_II: dict[str, PublishedMethod] = {  # and III
    "BSVM": PublishedMethod("svm", {"loss": "hinge"}, {}),
    "BLR": PublishedMethod("logistic", {}, {}),
    "MSVM": PublishedMethod("msvm", {}, None),
    "MLR": PublishedMethod("mlr", {}, None),
    "TD": PublishedMethod("topdown", {"local": "binary", "loss": "hinge"}, {}),
    "HSVM": PublishedMethod(
        "ranking-svm", {"loss": "half_distance", "attributes": "ones", "rescale": "slack"}, None
    ),
    "OT": PublishedMethod("ot", {}, None),
    "RR-SVM": PublishedMethod("rr-svm", {"loss": "hinge"}, {}),
    "RR-LR": PublishedMethod("rr-lr", {}, {}),
    "HBLR": PublishedMethod(
        "hblr", {"model": "M3", "inference": "map", "link": "softmax"}, {"link": "binary"}
    ),
}
BASELINES: dict[str, tuple[str, ...]] = {  # that each is tested against
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
