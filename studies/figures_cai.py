"""What [Cai2008] reports on synthetic data, newsgroups and enzymes.

Tables 7.5, 7.10, 7.13, 7.15, 7.18 to 7.21 and 7.24, as {condition: {method: {measure: figure}}}.
Measures in %, but for losses: acc (one-accuracy), prec (average precision), top loss, max loss
(maximal), rloss (ranking loss), pacc (parent accuracy). Methods have the thesis' names: F flat, H
hierarchical, a averaged, o online; HaPERCa learns its hierarchy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Figures = dict[str, dict[str, dict[str, float]]]

RANKING = ("acc", "prec", "max loss", "rloss", "pacc")
ONE_LABEL = ("acc", "prec", "top loss", "pacc")
SHARES = ("acc", "pacc")
SVMS = ("F-SVM", "H-SVM")


def _figures(
    methods: Sequence[str], measures: Sequence[str], rows: Mapping[str, Sequence[float]]
) -> Figures:
    """Rows as printed: measure by measure, the figures of all methods."""
    n = len(methods)
    return {
        condition: {
            method: dict(zip(measures, row[j::n], strict=True)) for j, method in enumerate(methods)
        }
        for condition, row in rows.items()
    }


SYNTHETIC = _figures(SVMS, RANKING, {
    "3 x 3": (88.5, 91.4, 86.4, 89.2, 1.63, 1.39, 3.30, 2.24, 91.7, 94.3),
    "6 x 2": (93.7, 93.4, 87.0, 88.8, 1.32, 1.22, 3.09, 2.31, 95.3, 96.6),
})  # fmt: skip

NEWS_SVM = _figures(SVMS, ONE_LABEL, {
    "t = 1": (17.1, 16.8, 34.6, 34.8, 1.43, 1.43, 40.0, 40.1),
    "t = 5": (38.1, 38.0, 54.7, 55.3, 0.955, 0.942, 66.5, 68.0),
    "t = 10": (49.8, 49.5, 64.6, 65.1, 0.750, 0.743, 75.1, 76.2),
    "t = 15": (54.1, 53.6, 68.1, 68.4, 0.669, 0.668, 78.9, 79.5),
    "t = 20": (58.7, 58.1, 71.6, 71.7, 0.591, 0.594, 82.1, 82.6),
    "all": (84.8, 84.5, 90.7, 90.6, 0.204, 0.206, 94.8, 94.9),
})  # fmt: skip

ENZYME = _figures(SVMS, RANKING, {
    "enzyme": (34.2, 33.6, 44.3, 43.7, 1.94, 1.84, 13.2, 11.6, 38.3, 40.4),
})  # fmt: skip

NEWS_DNC = _figures(("F-SVM", "DNC-SVM", "H-SVM"), SHARES, {
    "t = 1": (17.1, 16.3, 16.8, 40.0, 44.2, 40.7),
    "t = 5": (38.1, 32.9, 37.8, 66.5, 67.3, 68.0),
    "t = 10": (49.8, 44.9, 49.5, 75.1, 75.4, 76.2),
    "t = 15": (54.1, 49.8, 53.6, 78.9, 79.5, 79.5),
    "t = 20": (58.7, 55.0, 58.1, 82.14, 82.16, 82.6),
    "all": (84.8, 84.1, 84.5, 94.8, 95.0, 94.9),
})  # fmt: skip

_RANDOM_SVM = {  # acc, prec, pacc at t = 20, then with all documents
    "F-SVM": (58.74, 71.58, 82.14, 84.82, 90.73, 94.79),
    "H-SVM": (58.07, 71.74, 82.57, 84.45, 90.63, 94.92),
    "H-SVM rand1": (57.59, 70.80, 81.47, 84.43, 90.43, 94.58),
    "H-SVM rand2": (57.85, 70.92, 81.27, 84.25, 90.18, 94.58),
    "H-SVM rand3": (57.70, 70.86, 81.24, 84.46, 90.48, 94.58),
    "H-SVM rand4": (57.65, 70.78, 81.34, 84.19, 90.26, 94.37),
    "H-SVM rand5": (57.82, 71.12, 81.52, 84.65, 90.63, 94.64),
}
RANDOM_SVM: Figures = {
    condition: {
        method: dict(zip(("acc", "prec", "pacc"), row[3 * j : 3 * j + 3], strict=True))
        for method, row in _RANDOM_SVM.items()
    }
    for j, condition in enumerate(("t = 20", "all"))
}

RANDOM_DNC: Figures = {
    "t = 20": {
        "F-SVM": {"acc": 58.74, "pacc": 82.14},
        "DNC-SVM": {"acc": 54.96, "pacc": 82.16},
        "DNC-SVM rand1": {"acc": 52.56, "pacc": 77.57},
        "DNC-SVM rand2": {"acc": 52.87, "pacc": 77.08},
        "DNC-SVM rand3": {"acc": 55.13, "pacc": 78.69},
        "DNC-SVM rand4": {"acc": 52.34, "pacc": 76.71},
        "DNC-SVM rand5": {"acc": 52.88, "pacc": 77.90},
    }
}

# the top loss of HaPERC at t = 20 is printed as 78.7
NEWS_AVERAGED = _figures(("FaHieron", "HaHieron", "FaPERC", "HaPERC"), ONE_LABEL, {
    "t = 10": (35.2, 34.9, 36.2, 38.2, 50.3, 52.7, 51.4, 54.9,
               1.08, 0.98, 1.05, 0.96, 57.0, 67.5, 59.2, 65.4),
    "t = 20": (46.8, 44.5, 46.1, 47.7, 60.7, 61.5, 59.9, 63.2,
               0.83, 0.79, 0.85, 0.787, 70.0, 76.3, 69.3, 73.6),
    "all": (63.4, 62.5, 64.9, 67.2, 74.7, 75.9, 76.0, 78.7,
            0.52, 0.50, 0.49, 0.46, 84.9, 87.7, 85.7, 87.0),
})  # fmt: skip

NEWS_ONLINE = _figures(("FoHieron", "HoHieron", "FoPERC", "HoPERC"), ONE_LABEL, {
    "all": (29.5, 36.4, 34.7, 39.9, 54.4, 58.7, 58.2, 62.4,
            1.24, 1.06, 1.13, 1.01, 46.7, 57.1, 52.0, 58.9),
})  # fmt: skip

NEWS_LEARNED = _figures(("FaPERC", "HaPERCa"), ONE_LABEL, {
    "t = 10": (36.2, 36.9, 51.4, 53.4, 1.05, 1.01, 59.2, 62.2),
    "t = 20": (46.1, 47.7, 59.9, 62.7, 0.85, 0.79, 69.3, 72.9),
    "all": (64.9, 65.3, 76.0, 77.2, 0.49, 0.49, 85.7, 85.3),
})  # fmt: skip
