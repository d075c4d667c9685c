"""Collections for the studies of [Cai2008]: newsgroups in families, and given divisions."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from linnaeus import Taxonomy
from linnaeus.io import read_collection

FAMILIES = {
    "computers": (
        "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware",
        "comp.sys.mac.hardware", "comp.windows.x",
    ),
    "politics": ("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"),
    "religion": ("alt.atheism", "soc.religion.christian", "talk.religion.misc"),
    "sports": ("rec.sport.baseball", "rec.sport.hockey"),
    "vehicles": ("rec.autos", "rec.motorcycles"),
}  # fmt: skip


def folder() -> Path | None:
    """Where the collections are, if anywhere."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("COLLECTIONS", beside))
    return path if path.is_dir() else None


@cache
def newsgroups() -> tuple[sp.csr_array, np.ndarray, Taxonomy]:
    """Counts of words scaled to length 1, without stop words and words of one document."""
    data = read_collection(_path("news20"))
    edges = [("root", family) for family in FAMILIES]
    edges += [(family, group) for family, groups in FAMILIES.items() for group in groups]
    taxonomy = Taxonomy.from_edges(edges)
    texts, labels = [], []
    for part in (data.part("train"), data.part("test")):
        for text, own in zip(part.texts, part.labels, strict=True):
            if own[0] in taxonomy:
                texts.append(text)
                labels.append(own[0])
    X = CountVectorizer(stop_words="english", min_df=2).fit_transform(texts)
    return sp.csr_array(normalize(X.astype(np.float64))), np.array(labels), taxonomy


def parts(name: str) -> tuple[Any, Any, Any, Any, Taxonomy]:
    """X, y of the training part, X, y of the test part; dense features standardised."""
    files = {}
    if name == "ImCLEF07A":
        files = {"train": "train.csv.gz", "test": "test.csv.gz"}
    data = read_collection(_path(name), **files)
    train, test = data.part("train"), data.part("test")
    X, X_test = train.X, test.X
    if not sp.issparse(X):
        mean, deviation = X.mean(axis=0), X.std(axis=0, ddof=1)
        X, X_test = (X - mean) / deviation, (X_test - mean) / deviation
    Y, Y_test = (data.Y(part) for part in ("train", "test"))
    return X, Y, X_test, Y_test, data.taxonomy


def _path(name: str) -> Path:
    where = folder()
    if where is None:
        raise SystemExit("There is no folder of collections. Set COLLECTIONS.")
    return where / name
