"""From node scores to label sets: the best closed set, consistency repair, lifted scores."""

from linnaeus.inference.closed import closed_argmax
from linnaeus.inference.lift import lift
from linnaeus.inference.repair import repair

__all__ = ["closed_argmax", "lift", "repair"]
