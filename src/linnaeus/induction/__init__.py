"""Taxonomies learned from data: which classes belong together."""

from linnaeus.induction.agreement import sibling_agreement
from linnaeus.induction.confusion import confusion_counts, taxonomy_from_confusion
from linnaeus.induction.learn import learn_taxonomy
from linnaeus.induction.linkage import Links, average_links

__all__ = [
    "Links",
    "average_links",
    "confusion_counts",
    "learn_taxonomy",
    "sibling_agreement",
    "taxonomy_from_confusion",
]
