"""What there is to do with a taxonomy: look at it, check it, convert it, learn it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linnaeus.errors import UserError
from linnaeus.taxonomy import Taxonomy

if TYPE_CHECKING:
    from linnaeus.workflow.parts import Step


def load_taxonomy(path: str | Path, format: str | None = None) -> Taxonomy:
    """Read a taxonomy file, or the taxonomy of a collection folder."""
    return _load(path, format)[0]


def _load(path: str | Path, format: str | None) -> tuple[Taxonomy, list[str]]:
    """A taxonomy, and how its file was understood."""
    from linnaeus.taxonomy.formats import read_noted

    path = Path(path)
    found = sorted(path.glob("taxonomy.*")) if path.is_dir() else [path]
    if len(found) > 1:
        names = ", ".join(p.name for p in found)
        raise UserError(f"{path} must hold one file taxonomy.*, but it has: {names}. Name a file.")
    if not found:  # the labels, or the header of a part, say what the taxonomy is
        from linnaeus.io import read_collection

        return read_collection(path).taxonomy, []
    taxonomy, notes = read_noted(found[0], format)
    return taxonomy, notes.guesses + notes.facts


def find_node(taxonomy: Taxonomy, text: str | None) -> Any:
    """The node with an id or a title; None for none."""
    from linnaeus.taxonomy.searching import find

    return None if text is None else find(taxonomy, text)


def taxonomy_as_dict(taxonomy: Taxonomy, root: Any = None) -> dict[str, Any]:
    """Every node with its relatives, for machines."""
    part = taxonomy if root is None else taxonomy.subtree(root)
    nodes = [
        {
            "id": v,
            "title": part.title(v),
            "depth": int(part.depth[i]),
            "parents": part.parents(v),
            "children": part.children(v),
        }
        for i, v in enumerate(part.nodes)
    ]
    return {"nodes": nodes, "related": part.related}


def check_taxonomy(path: str | Path, format: str | None = None) -> dict[str, Any]:
    """What a maintainer would want to know, as findings with their nodes."""
    from linnaeus.taxonomy.diagnose import findings

    taxonomy, notes = _load(path, format)
    return {
        "summary": repr(taxonomy).strip("<>").removeprefix("Taxonomy: "),
        "read": notes,
        "findings": [finding._asdict() for finding in findings(taxonomy)],
    }


def taxonomy_stats(path: str | Path, format: str | None = None) -> dict[str, Any]:
    """The counts that describe a taxonomy."""
    from linnaeus.taxonomy.diagnose import stats

    return stats(load_taxonomy(path, format))


def convert_taxonomy(
    source: str | Path,
    target: str | Path,
    source_format: str | None = None,
    target_format: str | None = None,
    drop_root: bool = False,
) -> dict[str, Any]:
    """Read in one format, write in another; the counts of what was written."""
    given = load_taxonomy(source, source_format)
    taxonomy = given.without_top() if drop_root else given
    with warnings.catch_warnings(record=True) as lost:
        warnings.simplefilter("always", UserWarning)
        taxonomy.write(target, target_format)
    notes = [*given.notes, *(str(warning.message) for warning in lost)]
    counts = {"nodes": len(taxonomy), "edges": len(taxonomy.edges)}
    return {"path": str(target), **counts, "notes": notes}


class LearnedTaxonomy(NamedTuple):
    """A taxonomy learned from a collection, and what there is to say about it."""

    taxonomy: Taxonomy
    summary: dict[str, Any]


def learn_taxonomy(
    data: str | Path,
    target: str | Path,
    target_format: str | None = None,
    step: Step | None = None,
    jobs: int = 1,
    features: str = "auto",
    feature_parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> LearnedTaxonomy:
    """Learn a taxonomy from the training part of a collection and write it.

    A collection without a taxonomy will do; where there is one, the classes are its leaves and the
    inner nodes that carry labels of their own.

    features, feature_parameters : as in `linnaeus.model.train`
    options : of `linnaeus.induction.learn_taxonomy`
    """
    from linnaeus.induction import learn_taxonomy as learn
    from linnaeus.induction import sibling_agreement
    from linnaeus.taxonomy.formats import check_target

    check_target(target, target_format)
    from linnaeus.workflow.parts import features_of, training_part

    given, part = training_part(Path(data))
    kind, X = features_of(part, features, feature_parameters)
    y: Any = part.labels
    if given is not None:
        own = given.most_specific(given.encode(y))
        used = given.class_numbers(own.indices)
        y, options["classes"] = own[:, used], given.names(used.tolist())
    if options.get("method") == "confusion":
        from linnaeus import FlatSVM

        options["estimator"] = FlatSVM(n_jobs=jobs, random_state=options.get("random_state", 0))
    if step is not None:
        options["callback"] = lambda done, total: step("learn", done, total)
    found = learn(X, y, **options)
    if given is not None:
        titles = {v: given.titles[v] for v in found.leaves if v in given.titles}
        found = Taxonomy.from_edges(found.edges, titles=titles)
    found.write(target, target_format)
    compared = given is not None and given.edges and len(found.leaves) > 1
    agreement = sibling_agreement(found, given) if compared and given is not None else None
    told = {"path": str(target), "rows": len(part), "features": kind}
    return LearnedTaxonomy(found, {**told, **_shape(found), "agreement": agreement})


def _shape(taxonomy: Taxonomy) -> dict[str, Any]:
    """The counts that describe a learned taxonomy."""
    leaf_parents = taxonomy.tree.parent[taxonomy.leaf_numbers]
    _, sizes = np.unique(leaf_parents, return_counts=True)
    return {
        "classes": len(taxonomy.leaves),
        "clusters": len(taxonomy) - len(taxonomy.leaves) - 1,
        "levels": [len(level) for level in taxonomy.levels],
        "cluster_sizes": sorted(sizes.tolist(), reverse=True),
    }


def path_of_titles(taxonomy: Taxonomy, node: Any) -> str:
    """The titles from a root down to a node, by the first of several parents."""
    path = [node]
    while above := taxonomy.parents(path[-1]):
        path.append(above[0])
    return " > ".join(map(taxonomy.title, reversed(path)))
