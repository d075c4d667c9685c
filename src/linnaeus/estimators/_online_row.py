"""One row more for the Perceptrons and Hieron, where nothing about classes is new.

Streams come row by row, and what a batch asks about labels and classes costs ten times what a visit
does. So a row of plain numbers, with one label that was taught before, goes straight to the loop;
`read` answers None for any other, which is then a batch like all, with its checks and messages.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from linnaeus.estimators._rows import is_plain
from linnaeus.estimators._targets import Targets
from linnaeus.labels import name_array
from linnaeus.solvers.numerics.scores_fast import Inputs
from linnaeus.solvers.online import perceptron
from linnaeus.solvers.online.perceptron import OnlineProblem, PerceptronRun
from linnaeus.solvers.online.perceptron_fast import Labels

FIRST = np.zeros(1, np.int64)


class Row(NamedTuple):
    """A row of features, without zeros, and its class."""

    indices: Any  # int32, ascending
    data: Any
    label: int


class _Known(NamedTuple):
    """The classes of labels, while there are no new ones."""

    targets: Targets
    texts: Any  # the type in which labels are answered if they come as texts or numbers
    column: dict[Any, int]


_KNOWN: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()


def read(model: Any, X: Any, y: Any) -> Row | None:
    """A row and its class; None where a batch has to find out what they are."""
    known, weights = _known(model), model.weights_
    name = _only(y, known)
    label = -1 if name is None else known.column.get(name, -1)
    if label < 0 or weights.counts is None or weights.counts[label] == 0:
        return None
    if getattr(X, "shape", (0,))[0] != 1 or not is_plain(model, X):
        return None
    sparse = sp.issparse(X)
    indices = X.indices if sparse else np.flatnonzero(X[0])
    data = X.data if sparse else X[0, indices]
    if sparse and not (data.all() and (np.diff(indices) > 0).all()):
        return None
    dtype = weights.last.dtype
    if data.size and float(np.abs(data).max()) > _limit(dtype) / math.sqrt(data.size):
        return None
    if bias := model._bias():
        indices, data = np.append(indices, X.shape[1]), np.append(data, bias)
    return Row(indices.astype(np.int32), data.astype(dtype, copy=False), label)


def learn(model: Any, row: Row) -> PerceptronRun:
    """Visit the row as `Online._batch` does, and remember it."""
    weights, shared = model.weights_, model.shared_
    weights.go_on(model._averages(), dense=True)
    result = perceptron.run(
        _problem(row, shared, weights.last), weights.last, model._rule(), n_before=weights.n_steps
    )
    if weights.moment is not None and result.log.size.size:
        nodes, change = _change(result.log, shared.attributes)
        weights.moment[np.ix_(row.indices, nodes)] += np.multiply.outer(row.data, change)
    weights.n_steps += result.n_steps
    weights.note_row(row.label, row.indices, row.data)
    model._check_finite(weights.last[row.indices])
    return result


def _known(model: Any) -> _Known:
    known = _KNOWN.get(model)
    if known is None or known.targets is not model.targets_:
        known = _KNOWN[model] = _learned(model.targets_)
    return known


def _learned(targets: Targets) -> _Known:
    """The labels that a row can have and leave all that is known of them as it is."""
    form = targets.form
    plain = form.kind == "one" and not (form.table or form.layout or form.codes)
    texts = name_array(form.names).dtype if targets.taxonomy is not None else None
    if not plain or targets.full is None or targets.taught is None or len(targets.names) < 2:
        return _Known(targets, texts, {})
    taught, place = set(targets.taught.tolist()), targets.label_columns().place
    columns = range(len(form.names)) if place is None else place.tolist()
    pairs = zip(form.names, columns, strict=True)
    column = {v: j for v, j in pairs if j in taught and type(v) in (str, int)}
    if targets.closed and targets.taxonomy is not None:  # with other labels it is not
        roots = set(targets.taxonomy.roots)
        column = {v: j for v, j in column.items() if v in roots}
    return _Known(targets, texts, column)


def _only(y: Any, known: _Known) -> Any:
    """The label, if there is one alone, a text or a whole number of the type known; else None."""
    if type(y) not in (list, np.ndarray) or len(y) != 1 or getattr(y, "ndim", 1) != 1:
        return None
    if type(y) is np.ndarray and y.dtype.kind not in "Ui":
        return None
    if known.texts not in (None, known.targets.form.like.dtype):
        return None
    name = y[0].item() if isinstance(y[0], np.generic) else y[0]
    return name if type(name) in (str, int) else None


def _limit(dtype: Any) -> float:
    return math.sqrt(float(np.finfo(dtype).max))


def _problem(row: Row, classes: perceptron.Classes, W: Any) -> OnlineProblem:
    data = row.data
    norm2 = np.array([np.square(data).sum(dtype=data.dtype)], np.float64)
    begin = np.array([0, data.size], np.int64)
    inputs = Inputs(begin, row.indices.view(np.uint32), data, np.empty((0, 0), data.dtype), norm2)
    labels = Labels(np.array([0, 1], np.int64), np.array([row.label], np.int32))
    return OnlineProblem(inputs, labels, classes, FIRST, W.shape[0])


def _change(log: Any, attributes: sp.csr_array) -> tuple[Any, Any]:
    """The attributes that the one update of a log moves, and by how much times its visit."""
    u, size = np.zeros(attributes.shape[1]), log.size[0] * log.step[0]
    for y, t in ((log.right[0], size), (log.wrong[0], -size)):
        at = slice(attributes.indptr[y], attributes.indptr[y + 1])
        u[attributes.indices[at]] += t * attributes.data[at]
    nodes = np.flatnonzero(u)
    return nodes, u[nodes]
