"""What `train` does by itself against the obvious baseline, on every collection that is there.

The baseline: one LinearSVC(C=1) for each node of the closed label sets, over

    texts       TfidfVectorizer(sublinear_tf=True)
    sequences   its like over runs of 3 characters
    tables      StandardScaler, missing cells at the mean; sparse ones as they are

A row gets all nodes that score above 0, closed upwards; where there is none, the best one. Both
learn from the training and the validation rows. The error is that of the difference of hierarchical
F1, from test rows drawn again in pairs. ONLY names some collections; the others keep their rows.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.recording import RESULTS, collections, publish
from linnaeus import Taxonomy
from linnaeus.experiments import spread_of_sums
from linnaeus.io import Collection, Part, read_collection
from linnaeus.model import choose_features, inputs_of, train

COLUMNS = (
    "collection", "rows", "classes", "method", "rule", "hF1", "baseline hF1", "difference",
    "error", "empty", "baseline empty", "CPU s", "baseline CPU s", "verdict",
)  # fmt: skip
POINT = 0.01  # of hierarchical F1 that may be lost beyond the noise


def main() -> None:
    folder = collections()
    if folder is None:
        print("skipped: set COLLECTIONS to a folder of collections")
        return
    rows = _older()
    for path in sorted(folders(folder)):
        name = str(path.relative_to(folder))
        if name in os.environ.get("ONLY", name).split(","):
            rows[name] = [name, *compared(read_collection(path))]
            print(rows[name], flush=True)
    publish(
        "defaults",
        "What train does by itself against one-vs-rest LinearSVC(C=1) on closed labels",
        COLUMNS,
        [rows[name] for name in sorted(rows)],
        notes=f"Hierarchical F1 on the test rows. Lost: by more than {POINT} and twice the error.",
        needs="COLLECTIONS=data",
    )


def folders(folder: Path) -> Iterator[Path]:
    """The folders below with a training and a test part."""
    for path in sorted(folder.glob("**/train.*")):
        if any(path.parent.glob("test.*")):
            yield path.parent


def compared(data: Collection) -> list[Any]:
    """A row of the table but for the name."""
    part, test = joined(data), data.part("test")
    start = time.process_time()
    model = train(data.part("train"), data.taxonomy, valid=data.valid)
    ours = model.decide(model.transform(inputs_of(test)))
    middle = time.process_time()
    theirs = baseline(part, test, data.taxonomy)
    seconds = middle - start, time.process_time() - middle
    truth = data.taxonomy.closure(data.Y("test"))
    sums = np.hstack([_sums(truth, ours), _sums(truth, theirs)])
    f1, base = _f1(sums.sum(axis=0, keepdims=True))[0]
    error = float(spread_of_sums(sums, lambda s: np.diff(_f1(s))[:, ::-1])[0])
    empty = [int((np.diff(Y.indptr) == 0).sum()) for Y in (ours, theirs)]
    verdict = "lost" if f1 - base < -POINT - 2 * error else "kept"
    about = model.about
    return [
        len(part), about["data"]["classes"], about["method"], about["rule"]["name"],
        float(f1), float(base), float(f1 - base), error, *empty, *seconds, verdict,
    ]  # fmt: skip


def joined(data: Collection) -> Part:
    """The training rows with the validation rows."""
    train = data.part("train")
    return train if data.valid is None else train.joined(data.valid)


def baseline(part: Part, test: Part, taxonomy: Taxonomy) -> sp.csr_array:
    """The closed label sets of test rows by the obvious means."""
    features = _features(part)
    X, X_test = features.fit_transform(_inputs(part)), features.transform(_inputs(test))
    Y = sp.csc_array(taxonomy.closure(taxonomy.encode(part.labels)))
    scores = np.column_stack(
        [_scores(X, Y[:, [j]].toarray().ravel(), X_test) for j in range(Y.shape[1])]
    )
    on = scores > 0
    rows = np.flatnonzero(~on.any(axis=1))
    on[rows, scores[rows].argmax(axis=1)] = True
    closed: sp.csr_array = taxonomy.closure(sp.csr_array(on.astype(np.int8)))
    return closed


def _inputs(part: Part) -> Any:
    """Texts or a table; sparse ones with the small numbers that scikit-learn asks for."""
    given = inputs_of(part)
    if not sp.issparse(given):
        return given
    indices, indptr = (a.astype(np.int32) for a in (given.indices, given.indptr))
    return sp.csr_array((given.data, indices, indptr), shape=given.shape)


def _features(part: Part) -> Any:
    if part.texts is None:
        sparse = make_pipeline("passthrough")
        return sparse if sp.issparse(part.X) else make_pipeline(SimpleImputer(), StandardScaler())
    runs = choose_features(part).kind == "spectrum"
    more = {"analyzer": "char", "ngram_range": (3, 3)} if runs else {}
    return TfidfVectorizer(sublinear_tf=True, **more)


def _scores(X: Any, y: np.ndarray, X_test: Any) -> np.ndarray:
    """Of one node; one that all rows have, or none, scores the same everywhere."""
    if y.min() == y.max():
        return np.full(X_test.shape[0], np.inf if y[0] else -np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = LinearSVC(C=1.0, random_state=0).fit(X, y).decision_function(X_test)
    return np.asarray(found, dtype=np.float32)


def _sums(truth: sp.csr_array, decided: sp.csr_array) -> np.ndarray:
    """What each row adds: right labels, and labels of both."""
    right = np.asarray(truth.multiply(decided).sum(axis=1)).ravel()
    return np.column_stack([right, np.diff(truth.indptr) + np.diff(decided.indptr)]).astype(float)


def _f1(sums: np.ndarray) -> np.ndarray:
    return 2 * sums[:, ::2] / np.maximum(sums[:, 1::2], 1)


def _older() -> dict[str, list[Any]]:
    file = RESULTS / "defaults.json"
    if "ONLY" not in os.environ or not file.exists():
        return {}
    return {row[0]: row for row in json.loads(file.read_text(encoding="utf-8"))["rows"]}


if __name__ == "__main__":
    main()
