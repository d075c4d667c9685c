"""What [GopalYang2015] reports on the collections of which we have the like.

Tables II and III: micro and macro F1 in %; Table IV: minutes of training. HBLR is M3-map. RCV1 has
several labels per row, for which methods without a figure do not apply. Tables VI and VII: HBLR.
Tables VIII and IX: macro F1 in % on DMOZ-2012, which we do not have.
"""

from __future__ import annotations

# our collections by the names of the paper
NAMES = {
    "ImCLEF07A": "CLEF", "news20": "NEWS20", "rcv1-30k": "RCV1", "rcv1-30k-closed": "RCV1",
    "lshtc-small-val": "LSHTC-small",
    # and the paper's own
    "rcv1-closed": "RCV1", "wipo-alpha": "IPC", "lshtc-small": "LSHTC-small",
    "dmoz-2010": "DMOZ-2010", "dmoz-2012": "DMOZ-2012", "dmoz-2011": "DMOZ-2011",
    "swiki-2011": "SWIKI-2011", "lwiki": "LWIKI",
}  # fmt: skip

# collection -> method -> micro F1, macro F1, minutes
FIGURES: dict[str, dict[str, tuple[float, float, float]]] = {
    "CLEF": {
        "BSVM": (77.53, 48.59, 0.15),
        "BLR": (79.92, 53.26, 0.24),
        "MSVM": (80.02, 54.33, 0.20),
        "MLR": (80.52, 54.76, 1.92),
        "TD": (70.11, 32.32, 0.13),
        "HSVM": (79.72, 57.23, 3.19),
        "OT": (73.84, 37.12, 1.31),
        "RR-SVM": (80.02, 53.92, 0.42),
        "RR-LR": (80.12, 55.83, 1.02),
        "HBLR": (81.41, 59.65, 3.05),
    },
    "RCV1": {
        "BSVM": (80.82, 54.72, 0.273),
        "BLR": (80.08, 53.38, 2.89),
        "TD": (71.34, 34.15, 0.213),
        "RR-SVM": (81.66, 56.56, 0.55),
        "RR-LR": (81.23, 55.81, 11.74),
        "HBLR": (81.98, 56.08, 12.11),
    },
    "NEWS20": {
        "BSVM": (83.10, 82.32, 0.04),
        "BLR": (82.97, 82.17, 0.11),
        "MSVM": (82.47, 81.73, 0.07),
        "MLR": (82.56, 81.82, 0.352),
        "TD": (81.20, 80.86, 0.04),
        "HSVM": (80.79, 80.04, 2.31),
        "OT": (81.98, 81.20, 0.98),
        "RR-SVM": (82.78, 82.00, 0.14),
        "RR-LR": (82.86, 82.06, 0.52),
        "HBLR": (82.56, 81.69, 1.06),
    },
    "LSHTC-small": {
        "BSVM": (45.21, 28.62, 0.31),
        "BLR": (44.94, 28.12, 1.93),
        "MSVM": (45.62, 28.34, 1.65),
        "MLR": (45.20, 28.38, 3.63),
        "TD": (38.48, 20.01, 0.11),
        "HSVM": (39.66, 21.95, 289.60),
        "OT": (37.12, 19.45, 132.34),
        "RR-SVM": (45.31, 28.94, 0.52),
        "RR-LR": (45.11, 28.48, 3.73),
        "HBLR": (46.03, 30.81, 5.2),
    },
    "IPC": {
        "BSVM": (53.12, 45.71, 3.12),
        "BLR": (55.03, 48.29, 4.17),
        "TD": (50.34, 42.62, 2.21),
        "RR-SVM": (54.26, 47.89, 6.81),
        "RR-LR": (55.37, 49.6, 15.91),
        "HBLR": (56.02, 51.06, 31.2),
    },
    "DMOZ-2010": {
        "BSVM": (45.36, 32.64, 5.12),
        "BLR": (45.4, 31.58, 97.24),
        "TD": (38.64, 22.3, 3.97),
        "RR-SVM": (46.02, 33.12, 8.23),
        "RR-LR": (45.84, 32.42, 123.22),
        "HBLR": (45.64, 31.88, 151.67),
    },
    "DMOZ-2012": {
        "BSVM": (56.44, 31.59, 22.31),
        "BLR": (52.79, 14.18, 95.38),
        "TD": (55.14, 30.01, 12.49),
        "RR-SVM": (57.17, 33.05, 36.66),
        "RR-LR": (53.18, 20.04, 229.73),
        "HBLR": (53.15, 27.19, 331.96),
    },
    "DMOZ-2011": {
        "BSVM": (42.88, 24.34, 39.12),
        "BLR": (41.29, 21.67, 101.26),
        "TD": (35.91, 21.07, 16.39),
        "RR-SVM": (43.73, 25.69, 58.31),
        "RR-LR": (42.27, 23.9, 248.07),
        "HBLR": (41.35, 23.46, 224.33),
    },
    "SWIKI-2011": {
        "BSVM": (40.87, 26.57, 54.0),
        "BLR": (37.65, 19.51, 99.46),
        "TD": (36.65, 17.39, 21.34),
        "RR-SVM": (41.79, 28.72, 89.23),
        "RR-LR": (40.99, 24.26, 296.87),
    },
    "LWIKI": {
        "BSVM": (37.66, 19.89, 1114.23),
        "BLR": (36.96, 18.65, 2134.46),
        "RR-SVM": (38.08, 22.31, 2230.54),
        "RR-LR": (37.67, 20.22, 2134.46),
    },
}

# Tables VI and VII: collection -> model and inference -> micro F1, macro F1
BAYES: dict[str, dict[str, tuple[float, float]]] = {
    "CLEF": {
        "corrMNL": (81.10, 55.59),
        "M1-var": (81.21, 56.67),
        "M2-var": (79.92, 51.23),
        "M3-var": (81.61, 59.67),
        "M1-map": (80.88, 55.53),
        "M2-map": (80.25, 54.76),
        "M3-map": (81.41, 59.65),
        "M1-flat": (79.82, 52.13),
        "M2-flat": (77.83, 48.78),
        "M3-flat": (80.52, 55.23),
    },
    "NEWS20": {
        "M1-map": (82.24, 81.54),
        "M2-map": (81.54, 80.91),
        "M3-map": (82.56, 81.69),
    },
    "LSHTC-small": {
        "M1-map": (43.98, 28.32),
        "M2-map": (43.11, 24.93),
        "M3-map": (44.05, 28.76),
    },
}

# Table VIII: level, the top being 1 -> BSVM, RR-SVM, nodes
LEVELS: dict[int, tuple[float, float, int]] = {
    1: (100.0, 100.0, 1),
    2: (71.43, 72.50, 11),
    3: (41.62, 42.93, 342),
    4: (25.71, 26.73, 3376),
    5: (26.54, 27.27, 8858),
    6: (13.06, 16.72, 549),
}

# Table IX: training examples of a class -> BSVM, RR-SVM, classes
SIZES: dict[str, tuple[float, float, int]] = {
    "1-5": (20.24, 20.62, 7952),
    "6-10": (24.84, 26.59, 1476),
    "11-20": (32.16, 34.08, 1089),
    "21-50": (39.94, 41.23, 680),
    "51-100": (49.25, 50.26, 262),
    ">100": (59.81, 60.64, 278),
}
