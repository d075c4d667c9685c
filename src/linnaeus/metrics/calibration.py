"""Whether probabilities mean what they say: of all labels given p = 0.7, seven in ten are true.

    expected calibration error  = sum over bins of (share of the bin) |mean p - share of true|
    top calibration error       = the same, of the most probable class of every row only
    Brier score                 = mean over rows of sum over classes of (p - y)^2
    log loss                    = mean over rows of -sum over classes of the true ones' log p

The log loss is that of one label per row where rows of p sum to 1, else that of independent labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.metrics import plots
from linnaeus.metrics.display import table
from linnaeus.metrics.inputs import Scored, scored
from linnaeus.taxonomy import Taxonomy

SMALLEST = 1e-15  # probabilities are taken for at least this and at most 1 less this


@dataclass(frozen=True)
class Calibration:
    """Bins of probabilities, each with what was said and what was true.

    Attributes
    ----------
    bins : tuple of dict
        Records with low, high, n, predicted (mean p), observed (share of true) and error (the
        standard error of `observed`).
    expected_calibration_error : float
        Mean distance of predicted and observed, by bins.
    brier : float
        Mean squared error.
    log_loss : float
        Mean negative log likelihood.
    top_calibration_error : float
        The calibration error of the most probable class of every row. With many classes nearly all
        probabilities are small and right, which hides it in the error over all of them.
    """

    bins: tuple[dict[str, float], ...]
    expected_calibration_error: float
    brier: float
    log_loss: float
    top_calibration_error: float

    def __str__(self) -> str:
        rows = [[f"{b['low']:.2f}-{b['high']:.2f}", int(b["n"]), b["predicted"], b["observed"]]
                for b in self.bins]  # fmt: skip
        head = (
            f"expected calibration error {self.expected_calibration_error:.4f} "
            f"(of the most probable class {self.top_calibration_error:.4f}), "
            f"Brier score {self.brier:.4f}, log loss {self.log_loss:.4f}"
        )
        return f"{head}\n\n{table(['probability', 'labels', 'predicted', 'observed'], rows)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        values = {
            "expected_calibration_error": self.expected_calibration_error,
            "top_calibration_error": self.top_calibration_error,
        }
        return {**values, "brier": self.brier, "log_loss": self.log_loss, "bins": list(self.bins)}

    def plot(self, path: str | Path | None = None) -> Any:
        """The reliability diagram, with two standard errors; also written if a path is given.

        Parameters
        ----------
        path : str, Path or None, default=None
            File to write, .png, .svg or .pdf; None for none.

        Returns
        -------
        matplotlib figure
        """
        figure = plots.empty("Calibration.plot", 5, 5)
        axes = figure.subplots()
        x, y, error = ([b[key] for b in self.bins] for key in ("predicted", "observed", "error"))
        axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, label="perfect")
        axes.errorbar(x, y, [2 * e for e in error], fmt="o-", capsize=3, label="observed")
        axes.set(xlabel="probability given", ylabel="share that is true", xlim=(0, 1), ylim=(0, 1))
        axes.set_title(f"expected calibration error {self.expected_calibration_error:.3f}")
        axes.legend()
        return plots.written(figure, path)


def calibration(
    Y_true: Any,
    probabilities: Any,
    taxonomy: Taxonomy | None = None,
    *,
    classes: Sequence[Any] | None = None,
    bins: int = 10,
    top: bool = False,
) -> Calibration:
    """Compare probabilities with what is true; see `Calibration`.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or list of lists
        True labels, in any form of `linnaeus.labels`.
    probabilities : array-like of shape (n_rows, n_classes)
        Over all nodes of the taxonomy, labels count for their ancestors too.
    taxonomy : Taxonomy or None, default=None
        The taxonomy; None for classes without a hierarchy.
    classes : sequence or None, default=None
        Names of the columns, such as `classes_` of an estimator; None for those of a data frame or
        of the estimator that made the scores, else by the labels (`linnaeus.labels.columns`).
    bins : int, default=10
        Bins of equal width; empty ones are left out.
    top : bool, default=False
        Whether to look at the most probable class of every row only.

    Returns
    -------
    Calibration
    """
    if bins < 1:
        raise UserError(f"bins is {bins}. Use 1 or more.")
    if sp.issparse(probabilities):
        raise UserError("Every class needs a probability. Use probabilities.toarray().")
    given = scored(Y_true, probabilities, taxonomy, classes, absent=0.0)
    if taxonomy is not None and classes is None and given.scores.shape[1] == len(taxonomy):
        given = given._replace(true=taxonomy.closure(given.true))
    P = np.asarray(given.scores, dtype=float)
    if not ((P >= 0) & (P <= 1 + 1e-9)).all():
        worst = P.flat[int(np.argmax(np.abs(np.nan_to_num(P - 0.5, nan=np.inf))))]
        raise UserError(f"The probabilities hold {worst}. Use values from 0 to 1.")
    y = given.true.toarray().astype(float)
    brier, loss = float(((P - y) ** 2).sum(axis=1).mean()), _log_loss(P, given)
    best = P.argmax(axis=1)[:, None]
    first = _bins(
        np.take_along_axis(P, best, 1).ravel(), np.take_along_axis(y, best, 1).ravel(), bins
    )
    records = first if top else _bins(P.ravel(), y.ravel(), bins)
    return Calibration(tuple(records), _error(records), brier, loss, _error(first))


def _error(records: list[dict[str, float]]) -> float:
    """The mean distance of predicted and observed, by bins."""
    total = sum(b["n"] for b in records)
    return float(sum(b["n"] * abs(b["predicted"] - b["observed"]) for b in records) / total)


def _bins(p: Any, y: Any, bins: int) -> list[dict[str, float]]:
    place = np.minimum((p * bins).astype(int), bins - 1)
    n = np.bincount(place, minlength=bins)
    said, true = (np.bincount(place, values, minlength=bins) for values in (p, y))
    out = []
    for k in np.flatnonzero(n).tolist():
        observed = true[k] / n[k]
        error = np.sqrt(observed * (1 - observed) / n[k])
        values = (k / bins, (k + 1) / bins, n[k], said[k] / n[k], observed, error)
        names = ("low", "high", "n", "predicted", "observed", "error")
        out.append({name: float(value) for name, value in zip(names, values, strict=True)})
    return out


def _log_loss(P: Any, given: Scored) -> float:
    inside = np.clip(P, SMALLEST, 1 - SMALLEST)
    y = given.true.toarray().astype(bool)
    one = np.allclose(P.sum(axis=1), 1.0, atol=1e-6) and (y.sum(axis=1) == 1).all()
    terms = np.where(y, -np.log(inside), 0.0 if one else -np.log1p(-inside))
    return float(terms.sum(axis=1).mean())
