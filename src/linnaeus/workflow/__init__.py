"""What the front ends do, as functions of paths and numbers that return plain results."""

from linnaeus.workflow.demo import DemoResult, demo
from linnaeus.workflow.parts import Step
from linnaeus.workflow.studies import CS, label_set_methods, label_set_protocol, protocol
from linnaeus.workflow.taxonomies import (
    LearnedTaxonomy,
    check_taxonomy,
    convert_taxonomy,
    learn_taxonomy,
    load_taxonomy,
    taxonomy_as_dict,
    taxonomy_stats,
)

__all__ = [
    "CS",
    "DemoResult",
    "LearnedTaxonomy",
    "Step",
    "check_taxonomy",
    "convert_taxonomy",
    "demo",
    "label_set_methods",
    "label_set_protocol",
    "learn_taxonomy",
    "load_taxonomy",
    "protocol",
    "taxonomy_as_dict",
    "taxonomy_stats",
]
