"""What `evaluate` answers: values by name, levels, sizes and a table of nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from linnaeus.errors import MissingExtraError, UserError
from linnaeus.metrics import display
from linnaeus.metrics.counts import PRF, count, prf
from linnaeus.metrics.inputs import Pair
from linnaeus.metrics.significance import (
    SignTest,
    WilcoxonTest,
    count_wins,
    sign_test,
    wilcoxon_test,
)
from linnaeus.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Report(Mapping[str, Any]):
    """A mapping from the names of metrics to values, which prints as a table.

    Attributes
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    metrics : dict of str to float
        {name: number}.
    levels : list of dict
        A dict per depth: depth, nodes, support, precision, recall, f1, macro_f1.
    sizes : list of dict or None
        The same by training positives; None where these are not known.
    nodes : PRF
        Precision, recall, F1 and support of every node, on closures.
    predicted : ndarray of int of shape (n_nodes,)
        How often each node is predicted, on closures.
    n_train : ndarray of int of shape (n_nodes,) or None
        Training examples per node, where known.
    own : object
        The most specific labels, over the classes.
    intervals : dict of str to list or None
        From where to where values lie for 95 % of other rows of the same kind, where known.
    baseline : dict of str to object or None
        What always answering the same would reach, where known.
    """

    taxonomy: Taxonomy
    metrics: dict[str, Any]
    levels: list[dict[str, Any]]
    sizes: list[dict[str, Any]] | None
    nodes: PRF
    predicted: np.ndarray
    n_train: np.ndarray | None
    own: Pair = field(repr=False)
    intervals: dict[str, list[float]] | None = None
    baseline: dict[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        return self._plain[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __len__(self) -> int:
        return len(self._plain)

    def __str__(self) -> str:
        return display.report_text(self)

    def _repr_html_(self) -> str:
        """The report in a notebook: tables, and the picture where matplotlib is there."""
        return display.report_html(self)

    @cached_property
    def _plain(self) -> dict[str, Any]:
        more = {"sizes": self.sizes, "intervals": self.intervals, "baseline": self.baseline}
        known = {key: value for key, value in more.items() if value is not None}
        return plain_dict({**self.metrics, "levels": self.levels, **known})

    def to_dict(self) -> dict[str, Any]:
        """All values as plain numbers, for JSON; None for what is not a number.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        return plain_dict(self._plain)

    def to_frame(self) -> Any:
        """A pandas data frame with a row per node, on closures.

        Returns
        -------
        pandas DataFrame
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("Report.to_frame", "pandas", "plot") from None
        tax = self.taxonomy
        columns = {
            "title": [tax.title(v) for v in tax.nodes],
            "depth": tax.depth,
            "support": self.nodes.support,
            "predicted": self.predicted,
            "precision": self.nodes.precision,
            "recall": self.nodes.recall,
            "f1": self.nodes.f1,
        }
        if self.n_train is not None:
            columns["train"] = self.n_train
        return pd.DataFrame(columns, index=pd.Index(tax.nodes, name="node"))

    def worst(self, n: int = 10) -> list[dict[str, Any]]:
        """The n nodes with the lowest F1 among those with a true label; the frequent first.

        Parameters
        ----------
        n : int, default=10
            How many nodes.

        Returns
        -------
        list of dict
        """
        support, f1 = self.nodes.support, self.nodes.f1
        seen = np.flatnonzero(support > 0)
        order = seen[np.lexsort((seen, -support[seen], f1[seen]))][:n]
        return [
            plain_dict(
                {
                    "node": self.taxonomy.nodes[v],
                    "title": self.taxonomy.title(self.taxonomy.nodes[v]),
                    "support": support[v],
                    "precision": self.nodes.precision[v],
                    "recall": self.nodes.recall[v],
                    "f1": f1[v],
                }
            )
            for v in order
        ]

    def plot(self, path: str | Path | None = None) -> Any:
        """A figure with F1 by level and by size of the classes; also written if a path is given.

        The size is the number of training positives where known, else of true labels.

        Parameters
        ----------
        path : str, Path or None, default=None
            File to write, .png, .svg or .pdf; None for none.

        Returns
        -------
        matplotlib figure
        """
        from linnaeus.metrics import plots

        return plots.draw(self, path)

    def compare(self, other: Report) -> Comparison:
        """This report beside another one on the same rows, with tests of significance.

        Parameters
        ----------
        other : Report
            The other report.

        Returns
        -------
        Comparison
        """
        mine, theirs = self.own, other.own
        if mine.true.shape != theirs.true.shape or (mine.true != theirs.true).nnz:
            raise UserError(
                "The reports are about different rows or labels, so they cannot be compared. "
                "Evaluate both systems on the same truth."
            )
        numbers = [k for k, v in self.metrics.items() if k in other.metrics and _is_score(k, v)]
        f1_mine, f1_theirs = prf(count(mine)).f1, prf(count(theirs)).f1
        return Comparison(
            rows=[(k, self.metrics[k], other.metrics[k]) for k in numbers],
            micro=sign_test(*count_wins(mine.true, mine.pred, theirs.pred)),
            macro=wilcoxon_test(f1_mine, f1_theirs),
        )


@dataclass(frozen=True)
class Comparison:
    """Two reports side by side, and whether the difference is chance.

    Attributes
    ----------
    rows : list of tuple
        (metric, first, second).
    micro : SignTest
        Sign test over decisions.
    macro : WilcoxonTest
        Wilcoxon's test over the F1 of the classes.
    """

    rows: list[tuple[str, float, float]]
    micro: SignTest
    macro: WilcoxonTest

    def __str__(self) -> str:
        return display.comparison_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        rows = {name: {"first": a, "second": b, "difference": a - b} for name, a, b in self.rows}
        tests = {"micro_test": self.micro._asdict(), "macro_test": self.macro._asdict()}
        return plain_dict({**rows, **tests})


def _is_score(name: str, value: Any) -> bool:
    return isinstance(value, float) and not name.endswith("per_row")


def plain_dict(record: dict[str, Any]) -> dict[str, Any]:
    """A copy with Python's numbers for NumPy's and None for NaN, all the way down."""
    return {key: _plain_value(value) for key, value in record.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, dict):
        return plain_dict(value)
    if isinstance(value, list | tuple):
        return [_plain_value(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
