"""The methods of [GopalYang2015] Tables II and III by their names there, and what they face."""

from __future__ import annotations

from linnaeus.search import MethodSetting

TABLE_II: dict[str, MethodSetting] = {  # and III
    "BSVM": MethodSetting("svm", {"loss": "hinge"}, {}),
    "BLR": MethodSetting("logistic", {}, {}),
    "MSVM": MethodSetting("msvm", {}, None),
    "MLR": MethodSetting("mlr", {}, None),
    "TD": MethodSetting("topdown", {"local": "binary", "loss": "hinge"}, {}),
    "HSVM": MethodSetting(
        "ranking-svm", {"loss": "half_distance", "attributes": "ones", "rescale": "slack"}, None
    ),
    "OT": MethodSetting("ot", {}, None),
    "RR-SVM": MethodSetting("rr-svm", {"loss": "hinge"}, {}),
    "RR-LR": MethodSetting("rr-lr", {}, {}),
    "HBLR": MethodSetting(
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
