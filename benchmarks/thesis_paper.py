"""What [Cai2008] reports on newsgroups and synthetic data.

Tables 7.5, 7.10, 7.15, 7.18 to 7.21 and 7.24. Measures in %, but for losses: acc (one-accuracy),
prec (average precision), top or maximal loss, rloss (ranking loss), pacc (parent accuracy). F is
flat, H hierarchical.
"""

from __future__ import annotations

# 7.5: (fan-out, depth) -> measure -> F, H
SYNTHETIC = {
    (3, 3): {
        "acc": (88.5, 91.4), "prec": (86.4, 89.2), "maximal loss": (1.63, 1.39),
        "rloss": (3.30, 2.24), "pacc": (91.7, 94.3),
    },
    (6, 2): {
        "acc": (93.7, 93.4), "prec": (87.0, 88.8), "maximal loss": (1.32, 1.22),
        "rloss": (3.09, 2.31), "pacc": (95.3, 96.6),
    },
}  # fmt: skip

# 7.10 and 7.15: t -> measure -> F, H (and DNC where there is one)
NEWS_SVM = {
    1: {"acc": (17.1, 16.8), "prec": (34.6, 34.8), "top loss": (1.43, 1.43), "pacc": (40.0, 40.1)},
    5: {"acc": (38.1, 38.0), "prec": (54.7, 55.3), "top loss": (0.955, 0.942),
        "pacc": (66.5, 68.0)},
    10: {"acc": (49.8, 49.5), "prec": (64.6, 65.1), "top loss": (0.750, 0.743),
         "pacc": (75.1, 76.2)},
    20: {"acc": (58.7, 58.1), "prec": (71.6, 71.7), "top loss": (0.591, 0.594),
         "pacc": (82.1, 82.6)},
    "all": {"acc": (84.8, 84.5), "prec": (90.7, 90.6), "top loss": (0.204, 0.206),
            "pacc": (94.8, 94.9)},
}  # fmt: skip
NEWS_DNC = {
    1: {"acc": 16.3, "pacc": 44.2},
    5: {"acc": 32.9, "pacc": 67.3},
    10: {"acc": 44.9, "pacc": 75.4},
    20: {"acc": 55.0, "pacc": 82.16},
    "all": {"acc": 84.1, "pacc": 95.0},
}

# 7.18 and 7.19, t = 20: the true taxonomy and the mean of five random ones
RANDOM_SVM = {
    "flat": {"acc": 58.74, "prec": 71.58, "pacc": 82.14},
    "true": {"acc": 58.07, "prec": 71.74, "pacc": 82.57},
    "random": {
        "acc": sum((57.59, 57.85, 57.70, 57.65, 57.82)) / 5,
        "prec": sum((70.80, 70.92, 70.86, 70.78, 71.12)) / 5,
        "pacc": sum((81.47, 81.27, 81.24, 81.34, 81.52)) / 5,
    },
}
RANDOM_DNC = {
    "true": {"acc": 54.96, "pacc": 82.16},
    "random": {
        "acc": sum((52.56, 52.87, 55.13, 52.34, 52.88)) / 5,
        "pacc": sum((77.57, 77.08, 78.69, 76.71, 77.90)) / 5,
    },
}

# 7.20, averaged, 20 epochs: t -> measure -> flat Hieron, Hieron, flat Perceptron, Perceptron
NEWS_ONLINE = {
    10: {"acc": (35.2, 34.9, 36.2, 38.2), "prec": (50.3, 52.7, 51.4, 54.9),
         "top loss": (1.08, 0.98, 1.05, 0.96), "pacc": (57.0, 67.5, 59.2, 65.4)},
    20: {"acc": (46.8, 44.5, 46.1, 47.7), "prec": (60.7, 61.5, 59.9, 63.2),
         "top loss": (0.83, 0.79, 0.85, 0.787), "pacc": (70.0, 76.3, 69.3, 73.6)},
    "all": {"acc": (63.4, 62.5, 64.9, 67.2), "prec": (74.7, 75.9, 76.0, 78.7),
            "top loss": (0.52, 0.50, 0.49, 0.46), "pacc": (84.9, 87.7, 85.7, 87.0)},
}  # fmt: skip

# 7.21, online, all documents
NEWS_NOT_AVERAGED = {
    "all": {"acc": (29.5, 36.4, 34.7, 39.9), "prec": (54.4, 58.7, 58.2, 62.4),
            "top loss": (1.24, 1.06, 1.13, 1.01), "pacc": (46.7, 57.1, 52.0, 58.9)},
}  # fmt: skip

# 7.24, averaged Perceptron: t -> measure -> flat, learned taxonomy
NEWS_LEARNED = {
    10: {"acc": (36.2, 36.9), "prec": (51.4, 53.4), "top loss": (1.05, 1.01),
         "pacc": (59.2, 62.2)},
    20: {"acc": (46.1, 47.7), "prec": (59.9, 62.7), "top loss": (0.85, 0.79),
         "pacc": (69.3, 72.9)},
    "all": {"acc": (64.9, 65.3), "prec": (76.0, 77.2), "top loss": (0.49, 0.49),
            "pacc": (85.7, 85.3)},
}  # fmt: skip
