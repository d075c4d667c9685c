"""Why a model decides as it does: contributions of features, own and inherited, along paths."""

from linnaeus.explanation.explain import Explanation, Feature, NodeReason, Reason, explain
from linnaeus.explanation.html import explanation_html, node_html
from linnaeus.explanation.nodes import Difference, Learned, NodeExplanation, explain_node
from linnaeus.explanation.sources import weights_of
from linnaeus.explanation.spans import Piece, occurrences

__all__ = [
    "Difference",
    "Explanation",
    "Feature",
    "Learned",
    "NodeExplanation",
    "NodeReason",
    "Piece",
    "Reason",
    "explain",
    "explain_node",
    "explanation_html",
    "node_html",
    "occurrences",
    "weights_of",
]
