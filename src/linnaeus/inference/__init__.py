"""From scores of nodes and edges to label sets: best sets, consistency repair, lifted scores."""

from linnaeus.inference.closed import closed_argmax
from linnaeus.inference.consistency import lift, repair
from linnaeus.inference.graphs import Graph, graph_argmax
from linnaeus.inference.label_sets import label_set_argmax
from linnaeus.inference.maxsum import (
    Best,
    max_sum,
    max_sum_except,
    min_sum_supported,
    node_margins,
    path_scores,
)

__all__ = [
    "Best",
    "Graph",
    "closed_argmax",
    "graph_argmax",
    "label_set_argmax",
    "lift",
    "max_sum",
    "max_sum_except",
    "min_sum_supported",
    "node_margins",
    "path_scores",
    "repair",
]
