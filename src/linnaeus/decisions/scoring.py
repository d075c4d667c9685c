"""One score per example and label, from any scikit-learn classifier.

`decision_function` where there is one, else `predict_proba`: matrices, the single column of a
binary problem, and the lists of probabilities of multi-output models all become (n, n_labels).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from linnaeus.errors import UserError, shorten
from linnaeus.inference import rows
from linnaeus.labels import Form, parse, plain_names
from linnaeus.parameters import LISTS, choice, is_inferred, thing, whole
from linnaeus.taxonomy import Taxonomy

Splits = list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]


def score_method(estimator: Any) -> str:
    """The method that gives the scores."""
    core = _core(estimator)
    # Once fitted, a OneVsRestClassifier shows the methods of its first part only.
    asked = core.estimator if isinstance(core, OneVsRestClassifier) else estimator
    for method in ("decision_function", "predict_proba"):
        if hasattr(asked, method):
            return method
    raise UserError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba, so there "
        f"are no scores to decide on. Wrap it, for example in sklearn's CalibratedClassifierCV."
    )


def has_own_scores(estimator: Any, taxonomy: Taxonomy | None) -> bool:
    """Whether a fitted estimator scores classes which are nodes of this taxonomy.

    These are what a rule decides about. What the estimator shows has columns of nodes that only
    stand for what is below them, too.
    """
    names = own_names(estimator)
    return taxonomy is not None and names is not None and all(name in taxonomy for name in names)


def own_names(estimator: Any) -> tuple[Any, ...] | None:
    """The classes that one of our estimators with a taxonomy was trained for."""
    targets = getattr(_core(estimator), "targets_", None)
    return None if targets is None or targets.taxonomy is None else targets.names


def readable(estimator: Any, y: Any) -> Any:
    """Labels as the estimator takes them: few take sparse indicators."""
    core = _core(estimator)
    if not sp.issparse(y) or isinstance(core, OneVsRestClassifier) or hasattr(core, "taxonomy"):
        return y
    return y.toarray()


def scored_names(estimator: Any, form: Form, own: bool = False) -> tuple[Any, ...]:
    """The labels that the columns of the scores belong to; `own` as in `score_matrix`."""
    if own:
        return own_names(estimator) or ()
    n = len(form.names)
    classes = getattr(estimator, "classes_", form.names)
    if form.kind == "one":
        return tuple(plain_names(classes))
    nodes = getattr(_taxonomy(estimator), "nodes", ())
    if n == 1 or (len(classes) == n != len(nodes)):
        return form.names
    trained = own_names(estimator)
    names = tuple(plain_names(classes)) if trained is None else trained
    if names in (nodes, (0, 1)):  # the latter are the values of every column
        return form.names
    named = form.names != tuple(range(n)) or form.names == nodes
    if not named or not set(names) <= set(form.names):  # else nodes, in an order of their own
        raise UserError(
            f"y has {n} columns, but {type(estimator).__name__} has {len(names)} classes that "
            f"are not named among them. Give a taxonomy that holds both, or fit it on this y."
        )
    return names


def closing_taxonomy(estimator: Any) -> Taxonomy | None:
    """The taxonomy of a model that scores all its nodes and learns from sets closed upwards."""
    taxonomy = _taxonomy(estimator)
    every_node = getattr(_core(estimator), "classes", None) == "nodes"
    return taxonomy if every_node and isinstance(taxonomy, Taxonomy) else None


def _taxonomy(estimator: Any) -> Any:
    """The taxonomy of a classifier, if it has one."""
    core = _core(estimator)
    return getattr(core, "taxonomy_", getattr(core, "taxonomy", None))


def told(estimator: Any, taxonomy: Taxonomy | None) -> Any:
    """A new copy of a classifier; where it is to infer a taxonomy, that is this one."""
    copy = clone(estimator)
    unknown = [
        name for name, value in copy.get_params().items()
        if name.rpartition("__")[2] == "taxonomy" and is_inferred(value)
    ]  # fmt: skip
    return copy.set_params(**dict.fromkeys(unknown, taxonomy))


def score_matrix(estimator: Any, X: Any, n_columns: int, own: bool = False) -> rows.FloatArray:
    """The (n, n_columns) scores of the estimator; `own`: of the classes that it was trained for."""
    if own:
        return rows.as_matrix(_own_scores(estimator, X))
    method = score_method(estimator)
    scores = getattr(estimator, method)(X)
    if isinstance(scores, list):
        scores = _positive_columns(scores, estimator)
    scores = np.asarray(scores)
    if scores.ndim == 1:
        scores = scores[:, None] if n_columns == 1 else np.column_stack([-scores, scores])
    if scores.shape[1] == 2 and n_columns == 1:
        scores = scores[:, 1:]
    if scores.shape[1] != n_columns:
        raise UserError(
            f"{type(estimator).__name__}.{method} gives {scores.shape[1]} columns, but there are "
            f"{n_columns} labels. Give one score per label (SVC: decision_function_shape='ovr')."
        )
    scores = rows.as_matrix(scores)
    return scores if method == "predict_proba" else _fill_constant(_core(estimator), scores)


FOLDS = (
    thing("a number of folds of 2 or more", whole(2).holds)
    | thing("a splitter", lambda v: hasattr(v, "get_n_splits"))
    | thing("a list of (train, test) row numbers", LISTS.holds)
    | choice("prefit")
)


def make_splits(cv: Any, X: Any, y: Any, form: Form, random_state: Any) -> Splits:
    """Folds: `cv` of them, shuffled (stratified where there is one label per example)."""
    if hasattr(cv, "get_n_splits"):
        return list(cv.split(X, y))
    if not isinstance(cv, int | np.integer):
        return _given_splits(cv)
    n = _num_samples(X)
    if not 2 <= cv <= n:
        raise UserError(
            f"cv={cv} folds cannot be made of {n} samples. Use 2 to {n} folds, or "
            f"cv='prefit' with a fitted estimator and held-out data."
        )
    rng = check_random_state(random_state)
    codes = parse(y).Y.indices if form.kind == "one" else np.zeros(n, dtype=int)
    if form.kind == "one" and np.bincount(codes).max() >= cv:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            folds = StratifiedKFold(cv, shuffle=True, random_state=rng)
            return list(folds.split(np.zeros(n), codes))
    return list(KFold(cv, shuffle=True, random_state=rng).split(np.zeros(n)))


def _given_splits(cv: Any) -> Splits:
    try:
        return [(np.asarray(train), np.asarray(test)) for train, test in cv]
    except (TypeError, ValueError):
        raise UserError(
            f"cv={shorten(cv)} is not a list of folds. Give (train, test) row numbers for each."
        ) from None


def _positive_columns(probabilities: list[Any], estimator: Any) -> rows.FloatArray:
    """The probability of the value 1 of each output; 0 for an output that never had it."""
    out = np.zeros((len(probabilities[0]), len(probabilities)))
    classes = getattr(estimator, "classes_", [np.arange(p.shape[1]) for p in probabilities])
    for j, (p, values) in enumerate(zip(probabilities, classes, strict=True)):
        at = np.flatnonzero(np.asarray(values) == 1)
        if at.size:
            out[:, j] = p[:, at[0]]
    return out


def _core(estimator: Any) -> Any:
    """The classifier at the end of a pipeline or inside a search."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _own_scores(estimator: Any, X: Any) -> Any:
    """What `class_scores` of the classifier inside a pipeline or a search gives."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    if hasattr(estimator, "steps"):
        X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        estimator = estimator.steps[-1][1]
    return estimator.class_scores(X)


def _fill_constant(estimator: Any, scores: rows.FloatArray) -> rows.FloatArray:
    """Put labels that were always off in training at the bottom of the row, always on at the top.

    OneVsRestClassifier scores such labels 0 and 1, whatever the scores of the others are.
    """
    parts = estimator.estimators_ if isinstance(estimator, OneVsRestClassifier) else []
    constant = np.array([type(part).__name__ == "_ConstantPredictor" for part in parts], dtype=bool)
    if not constant.any() or constant.all():
        return scores
    low, high = (end(scores[:, ~constant], axis=1) for end in (np.min, np.max))
    scores = scores.copy()
    for j in np.flatnonzero(constant):
        scores[:, j] = high if parts[j].y_[0] > 0 else low
    return scores
