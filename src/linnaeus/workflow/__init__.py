"""What the front ends do, as functions of paths and numbers that return plain results.

Names are loaded when they are first used: looking at a taxonomy needs no learning library.
"""

from __future__ import annotations

from linnaeus.lazy import loader

_NAMES = {
    "checking": ("Checked", "check"),
    "compiling": ("CompiledLoops", "compile_loops"),
    "comparing": (
        "Compared",
        "compare",
        "compare_label_sets",
        "compare_rankings",
        "write_evaluation",
    ),
    "demonstrating": ("DemoResult", "demo", "demo_table"),
    "evaluating": ("Evaluated", "change_rule", "evaluate", "load_model"),
    "explaining": ("Place", "explain", "explain_label"),
    "importing": ("Imported", "import_collection", "import_options"),
    "listing": ("list_methods", "list_rules", "method_parameters"),
    "many_files": ("are_many", "count_all"),
    "monitoring": ("Monitored", "monitor"),
    "parts": ("Step", "Where", "check_arguments"),
    "predicting": ("Predicted", "PredictedFiles", "predict", "predict_files"),
    "rows": ("count_rows",),
    "splitting": ("Divided", "split"),
    "taxonomies": (
        "LearnedTaxonomy",
        "check_taxonomy",
        "convert_taxonomy",
        "learn_taxonomy",
        "find_node",
        "load_taxonomy",
        "taxonomy_as_dict",
        "taxonomy_stats",
    ),
    "training": ("Trained", "train"),
    "tuning": ("Searched", "tune"),
}
_HOMES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOMES)

__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
