"""What a mistake costs: losses as arrays, over nodes, edges, classes and label sets."""

from linnaeus.losses.attributes import class_attributes, class_kernel, universal_nodes
from linnaeus.losses.decomposable import Edges, edge_losses, markov_edges
from linnaeus.losses.pairwise import (
    ClassLoss,
    class_ancestors,
    class_loss,
    distance,
    half_distance,
    normalized,
    volume,
    zero_one,
)
from linnaeus.losses.sets import (
    SCALINGS,
    difference,
    first_errors,
    label_set_loss,
    node_coefficients,
    node_volumes,
    row_sums,
    set_loss,
)

__all__ = [
    "SCALINGS",
    "ClassLoss",
    "Edges",
    "class_ancestors",
    "class_attributes",
    "class_kernel",
    "class_loss",
    "difference",
    "distance",
    "edge_losses",
    "first_errors",
    "half_distance",
    "label_set_loss",
    "markov_edges",
    "node_coefficients",
    "node_volumes",
    "normalized",
    "row_sums",
    "set_loss",
    "universal_nodes",
    "volume",
    "zero_one",
]
