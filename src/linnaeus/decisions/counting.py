"""How well decided label sets agree with the truth, as counts that can be added over folds.

    own     true and false positives and false negatives of every node, on most specific labels
    closed  the same, of all nodes together, on label sets closed upwards

Micro and macro F1 are over the leaves and the inner nodes that carry true labels of their own;
which these are is known once all folds are added, so every node keeps its counts until then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from linnaeus.taxonomy import Taxonomy

METRICS = ("micro_f1", "macro_f1", "hierarchical_f1")
VALUES = (*METRICS, "precision", "recall", "labels_per_row")


@dataclass(frozen=True, eq=False)
class Truth:
    """The true label sets of some rows, twice: the most specific labels, and closed upwards."""

    taxonomy: Taxonomy
    own: sp.csr_array
    closed: sp.csr_array

    @classmethod
    def of(cls, taxonomy: Taxonomy, Y: sp.csr_array) -> Self:
        return cls(taxonomy, taxonomy.most_specific(Y), taxonomy.closure(Y))

    def counts(self, predicted: sp.csr_array) -> dict[str, Any]:
        """The counts of predicted label sets, closed upwards."""
        own = self.taxonomy.most_specific(predicted)
        found, true, said = (_per_node(Y) for Y in (self.own.multiply(own), self.own, own))
        both = int(self.closed.multiply(predicted).sum())
        return {
            "rows": predicted.shape[0],
            "tp": found,
            "fp": said - found,
            "fn": true - found,
            "closed_tp": both,
            "closed_fp": predicted.nnz - both,
            "closed_fn": self.closed.nnz - both,
        }


def add(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The counts of several parts together; what is no count is that of the first."""
    keys = ("rows", "tp", "fp", "fn", "closed_tp", "closed_fp", "closed_fn")
    return {**records[0], **{key: sum(r[key] for r in records) for key in keys}}


def measure(taxonomy: Taxonomy, counts: dict[str, Any]) -> dict[str, float]:
    """Values between 0 and 1, and labels per row, from counts."""
    used = (counts["tp"] + counts["fn"]) > 0
    used[taxonomy.leaf_numbers] = True
    tp, fp, fn = (counts[key][used] for key in ("tp", "fp", "fn"))
    found, said, true = int(tp.sum()), int((tp + fp).sum()), int((tp + fn).sum())
    f1 = 2 * tp / np.maximum(2 * tp + fp + fn, 1)
    wrong = counts["closed_fp"] + counts["closed_fn"]
    return {
        "micro_f1": _ratio(2 * found, said + true),
        "macro_f1": float(f1.mean()) if f1.size else 0.0,
        "hierarchical_f1": _ratio(2 * counts["closed_tp"], 2 * counts["closed_tp"] + wrong),
        "precision": _ratio(found, said),
        "recall": _ratio(found, true),
        "labels_per_row": _ratio(said, counts["rows"]),
    }


def _ratio(a: int, b: int) -> float:
    return a / b if b else 0.0


def _per_node(Y: Any) -> np.ndarray:
    Y = sp.csr_array(Y)
    return np.bincount(Y.indices[Y.data != 0], minlength=Y.shape[1])
