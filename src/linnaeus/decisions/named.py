"""Decision rules by name: making one, fitting it to held-out scores, and its closed label sets.

The columns of the scores are some nodes of a taxonomy, in any order. A rule learns from

    the most specific labels, where a column scores the labels that are the node's own;
    label sets closed upwards, where all nodes have a column and were taught so (`closed=True`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from linnaeus.decisions.argmax import Argmax
from linnaeus.decisions.base import Decision
from linnaeus.decisions.closed import N_SHIFTS, ClosedArgmax
from linnaeus.decisions.consistent import TopDownConsistent
from linnaeus.decisions.instance_cut import InstanceCut
from linnaeus.decisions.rcut import RCut
from linnaeus.decisions.scut import SCut
from linnaeus.decisions.set_size import SetSize
from linnaeus.decisions.threshold import Threshold
from linnaeus.errors import UserError, check_like, nearest, shorten
from linnaeus.inference.rows import FloatArray, as_matrix
from linnaeus.labels import moved
from linnaeus.taxonomy import Taxonomy

FLOOR = 0.2  # of "scut": a label that is found less well than this gets its highest score only
SHRINK = 10.0  # of "scut": the common threshold weighs as much as so many examples of a label
MANY, TOP = 100, 20  # "set-size": from so many columns on, only so many of the highest scores
CUT_STEPS = 50  # a minimum cut on a DAG costs so many times a pass over its nodes
FIT_STEPS = 700_000_000  # nodes visited at most to fit a shift
LEAST_ROWS = 100  # but no fewer rows than these


class RuleInfo(NamedTuple):
    """A rule that has a name.

    Attributes
    ----------
    advice : str
        What it does, and when it helps.
    learns : bool
        Whether it needs held-out scores.
    make : callable
        Takes the taxonomy and the rule's own parameters by name.
    """

    advice: str
    learns: bool
    make: Callable[..., Decision]


def _common(taxonomy: Taxonomy, at_least_one: bool = False) -> Decision:
    return SCut(taxonomy=taxonomy, shrink="all", at_least_one=at_least_one)


def _scut(
    taxonomy: Taxonomy,
    floor: float = FLOOR,
    fallback: str = "best",
    shrink: float | str = SHRINK,
    top_k: int | str | None = "fit",
    at_least_one: bool = False,
) -> Decision:
    return SCut(
        taxonomy=taxonomy, floor=floor, fallback=fallback, shrink=shrink, top_k=top_k,
        at_least_one=at_least_one,
    )  # fmt: skip


def _closed(
    taxonomy: Taxonomy,
    shift: float | str = "fit",
    transform: str | None = None,
    nonempty: bool = False,
    lift: str | None = "max",
) -> Decision:
    return ClosedArgmax(
        taxonomy=taxonomy, shift=shift, transform=transform, nonempty=nonempty, lift=lift
    )


def _consistent(
    taxonomy: Taxonomy,
    floor: float = FLOOR,
    fallback: str = "best",
    shrink: float | str = SHRINK,
    top_k: int | str | None = "fit",
    at_least_one: bool = False,
    mode: str = "down",
    lift: str | None = "max",
) -> Decision:
    inner = SCut(floor=floor, fallback=fallback, shrink=shrink, top_k=top_k)
    return TopDownConsistent(
        taxonomy=taxonomy, decision=inner, mode=mode, at_least_one=at_least_one, lift=lift
    )


RULES: dict[str, RuleInfo] = {  # the simple ones first
    "argmax": RuleInfo(
        "The label with the highest score. For one label per row.",
        False, Argmax,
    ),
    "zero": RuleInfo(
        "All labels with scores above 0 (probabilities: 0.5). For calibrated scores.",
        False, Threshold,
    ),
    "rcut": RuleInfo(
        "The k highest scores of every row. For rows with about the same number of labels.",
        True, RCut,
    ),
    "common": RuleInfo(
        "One threshold for all labels, the best on held-out rows. For a start; few examples do.",
        True, _common,
    ),
    "scut": RuleInfo(
        "A threshold for each label, near the common one where examples are few.",
        True, _scut,
    ),
    "instance": RuleInfo(
        "A threshold for each row, from the shape of its scores. For varying numbers of labels.",
        True, InstanceCut,
    ),
    "set-size": RuleInfo(
        "A threshold for each row, linear in its scores. For varying numbers, with few labels.",
        True, SetSize,
    ),
    "closed": RuleInfo(
        "The best set of whole paths. When all nodes are scored, or high-up errors cost most.",
        True, _closed,
    ),
    "consistent": RuleInfo(
        "A threshold for each node; nothing below a node that is off. When all are scored.",
        True, _consistent,
    ),
}  # fmt: skip


def make_rule(name: str, taxonomy: Taxonomy, **parameters: Any) -> Decision:
    """A rule by its name, not yet fitted.

    Parameters
    ----------
    name : str
        Name in `RULES`.
    taxonomy : Taxonomy
        The taxonomy.
    **parameters : dict
        Parameters of the rule by name.

    Returns
    -------
    Decision

    Examples
    --------
    >>> tax = Taxonomy.flat(["cat", "dog", "oak"])
    >>> tax.decode(make_rule("rcut", tax, k=2).decide([[0.1, 0.7, 0.6]]))
    [['dog', 'oak']]
    """
    if name not in RULES:
        raise UserError(
            f"The rule {shorten(name)} is not known{nearest(name, RULES)}. "
            f"Use one of: {', '.join(RULES)}."
        )
    known = _parameters(name)
    for parameter, value in parameters.items():
        if parameter not in known:
            takes = f"It takes: {', '.join(known)}" if known else "It takes none"
            raise UserError(
                f"The rule {name!r} has no parameter {parameter!r}{nearest(parameter, known)}. "
                f"{takes}."
            )
        check_like(known[parameter], value, f"The parameter {parameter!r} of the rule {name!r}")
    return RULES[name].make(taxonomy=taxonomy, **parameters)


def fit_rule(
    name: str,
    scores: Any,
    Y: Any,
    taxonomy: Taxonomy,
    columns: Iterable[Any],
    *,
    closed: bool = False,
    seed: int = 0,
    **parameters: Any,
) -> Decision:
    """A rule by its name, fitted to held-out scores; what is not given suits the scores.

    Parameters
    ----------
    name : str
        Name in `RULES`.
    scores : array-like of shape (n_samples, n_columns)
        Held-out scores.
    Y : array-like, sparse matrix or list of lists
        Label sets of the same rows.
    taxonomy : Taxonomy
        The taxonomy.
    columns : iterable
        The node that each column of the scores stands for.
    closed : bool, default=False
        Whether all nodes are scored, by a model that was taught closed label sets.
    seed : int, default=0
        Seed of the rows to learn from, where a rule cannot afford all of them.
    **parameters : dict
        Parameters of the rule by name.

    Returns
    -------
    Decision
    """
    matrix, columns = as_matrix(scores), tuple(columns)
    given = taxonomy.encode(Y)
    known = _parameters(name) if name in RULES else {}
    suited = _suited(name, matrix, given, closed)
    more = {key: value for key, value in suited.items() if key in known}
    rule = make_rule(name, taxonomy, **{**more, **parameters})
    kept = affordable_rows(name, taxonomy, matrix.shape[0], seed)
    if kept is not None:
        matrix, given = matrix[kept], given[kept]
    target = taxonomy.closure(given) if closed else taxonomy.most_specific(given)
    return rule.fit_scores(matrix, target, columns)


def node_sets(rule: Decision, scores: Any, taxonomy: Taxonomy) -> sp.csr_array:
    """The label sets that a rule decides on, closed upwards: CSR over the nodes.

    Parameters
    ----------
    rule : Decision
        A fitted rule.
    scores : array-like of shape (n_samples, n_classes)
        A score for every sample and class.
    taxonomy : Taxonomy
        The taxonomy.

    Returns
    -------
    csr_array of shape (n_samples, n_nodes)
    """
    decided = rule.decide(scores)
    names = getattr(rule, "names_", None)
    if names is None:  # a rule that was never fitted: the nodes, or the leaves
        names = taxonomy.nodes if decided.shape[1] == len(taxonomy) else taxonomy.leaves
    closed: sp.csr_array = taxonomy.closure(moved(decided, names, taxonomy.nodes))
    return closed


def affordable_rows(name: str, taxonomy: Taxonomy, n: int, seed: int) -> Any:
    """The rows from which a rule learns, if it cannot afford all; else None."""
    if name != "closed":
        return None
    most = max(LEAST_ROWS, FIT_STEPS // (closed_steps(taxonomy) * (N_SHIFTS + 1)))
    if n <= most:
        return None
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def closed_steps(taxonomy: Taxonomy) -> int:
    """What the best closed set of a row costs, in visits of nodes."""
    return len(taxonomy) * (1 if taxonomy.is_tree else CUT_STEPS)


def _parameters(name: str) -> dict[str, Any]:
    """The parameters of a rule that are its own, with their defaults."""
    common = {"estimator", "taxonomy", "cv", "random_state"}
    takes = inspect.signature(RULES[name].make).parameters
    return {key: entry.default for key, entry in takes.items() if key not in common}


def _suited(name: str, scores: FloatArray, Y: sp.csr_array, closed: bool) -> dict[str, Any]:
    """Values of parameters that suit the scores; no row stays empty where none should be."""
    suited: dict[str, Any] = {"lift": "max" if closed else "always"}
    suited["at_least_one"] = suited["nonempty"] = bool((np.diff(Y.indptr) > 0).all())
    if closed and name == "argmax":
        suited["among"] = "leaves"  # else a root wins
    if name == "zero" and _probabilities(scores):
        suited["threshold"] = 0.5
    if name == "set-size" and scores.shape[1] > MANY:
        suited["top_k"] = TOP
    return suited


def _probabilities(scores: FloatArray) -> bool:
    return bool(scores.size and scores.min() >= 0 and 0 < scores.max() <= 1)
