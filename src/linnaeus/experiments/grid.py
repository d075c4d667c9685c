"""What is searched: values of C, of other parameters, of the features, and decision rules.

Without a grid of one's own everything that usually matters for a method and for the kind of the
examples is searched. With one, only what it names is; rules are searched in any case, since they
need no fits of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import scipy.sparse as sp

from linnaeus.decisions.rules import RULES
from linnaeus.errors import UserError, nearest, shorten
from linnaeus.experiments.best_c import CS
from linnaeus.io.collection import Part
from linnaeus.model.features import make_features
from linnaeus.model.methods import INFO, OWN, make, value_of
from linnaeus.model.model import check_rule
from linnaeus.model.tables import TableFeatures

PREFIX = "features."
RESERVED = ("taxonomy", "n_jobs", "random_state", "warm_start")  # set by the search itself

PARAMETERS: dict[str, dict[str, tuple[Any, ...]]] = {
    "svm": {"loss": ("squared_hinge", "hinge")},
    "topdown": {"local": ("binary", "multiclass"), "loss": (None, "logistic")},
    "rr-svm": {"loss": ("hinge", "squared_hinge")},
    "hm3": {"loss": ("delta", "unif")},
    "ranking-svm": {"rescale": ("slack", "margin")},
    "perceptron": {"variant": ("averaged", "online"), "max_iter": (20, 5, 60)},
    "hieron": {"averaged": (True, False), "max_iter": (20, 5, 60)},
    "hblr": {"model": ("M3", "M1")},
}  # the other methods: C alone, where they have it
FEATURES: dict[str, dict[str, tuple[Any, ...]]] = {
    "words": {
        "ngram_range": ([1, 1], [1, 2]),
        "stop_words": (None, "english"),
        "sublinear_tf": (True, False),
        "min_df": (1, 2, 4),
    },
    "pieces": {"ngram_range": ([1, 1], [1, 2]), "sublinear_tf": (True, False), "min_df": (1, 2, 4)},
    "characters": {"ngram_range": ([2, 4], [2, 3], [3, 5]), "sublinear_tf": (True, False)},
    "spectrum": {"p": (4, 3, 5), "presence": (False, True)},
}


@dataclass(frozen=True)
class Space:
    """All settings among which the best is sought; the search begins with the first values.

    Attributes
    ----------
    parameters : dict of str to tuple
        Values of the estimator's parameters, but for C.
    Cs : tuple of float
        Values of C, ascending; (None,) for a method without C.
    features : dict of str to tuple
        Values of the features' parameters.
    rules : tuple of str or None
        Rules to try; None for all that suit the scores.
    own : bool
        Whether the estimator's own predictions count as a rule.
    refine : bool
        Whether values between and beyond the given C may be tried.
    defaults : dict
        What `train` takes of all that is searched.
    """

    parameters: dict[str, tuple[Any, ...]]
    Cs: tuple[float | None, ...]
    features: dict[str, tuple[Any, ...]]
    rules: tuple[str, ...] | None
    own: bool
    refine: bool
    defaults: dict[str, Any]

    def option(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values of the features, without those that are the defaults.

        Parameters
        ----------
        values : dict
            Values of the features.

        Returns
        -------
        dict
        """
        return {n: v for n, v in values.items() if v != self.defaults[PREFIX + n]}

    def to_dict(self) -> dict[str, Any]:
        """Plain data.

        Returns
        -------
        dict
            Plain numbers, texts, lists and dicts, fit for JSON.
        """
        return asdict(self)


def make_space(
    method: str,
    part: Part,
    kind: str,
    several: bool,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    parameters: Mapping[str, Any] | None = None,
    feature_parameters: Mapping[str, Any] | None = None,
) -> Space:
    """The settings to search for a method, examples and a kind of features.

    Parameters
    ----------
    method : str
        Name of the method.
    part : Part
        Examples with labels.
    kind : str
        Kind of the features.
    several : bool
        Whether rows have several labels, or none.
    grid : dict or None, default=None
        {name: values}, for "features.name" of the features and for "rule".
    parameters : dict or None, default=None
        Fixed ones, which are not searched.
    feature_parameters : dict or None, default=None
        Fixed ones of the features.

    Returns
    -------
    Space

    Examples
    --------
    >>> from linnaeus.synthetic import newsroom
    >>> space = make_space("svm", newsroom(10, 1).train, "words", True, grid={"C": [10, 1]})
    >>> space.Cs, space.parameters, space.features
    ((1.0, 10.0), {}, {})
    """
    fixed = {**(parameters or {}), **{PREFIX + k: v for k, v in (feature_parameters or {}).items()}}
    defaults = _defaults(method, part, kind, parameters or {}, feature_parameters or {})
    asked = None if grid is None else {name: list(values) for name, values in grid.items()}
    rules = None if asked is None else asked.pop("rule", None)
    if asked is not None:
        _check(asked, method, kind, fixed, defaults)
    found = _usual(method, part, kind) if asked is None else asked
    found = {n: values for n, values in found.items() if n in defaults and n not in fixed}
    Cs = _checked_Cs(found.pop("C", [defaults["C"]])) if "C" in defaults else (None,)
    searched = {name: _first(defaults[name], values) for name, values in found.items()}
    chosen, own = _rules(rules, several, INFO[method].decides)
    return Space(
        {name: v for name, v in searched.items() if not name.startswith(PREFIX)},
        Cs,
        {name[len(PREFIX) :]: v for name, v in searched.items() if name.startswith(PREFIX)},
        chosen, own, asked is None and len(Cs) > 1,
        {name: defaults[name] for name in (*searched, "C") if name in defaults},
    )  # fmt: skip


def parse_grid(given: Iterable[str]) -> dict[str, list[Any]]:
    """Values to search, written name=value,value; lists in brackets.

    Parameters
    ----------
    given : iterable of str
        Words name=value,value.

    Returns
    -------
    dict of str to list

    Examples
    --------
    >>> parse_grid(["C=0.1,1", "loss=hinge", "features.ngram_range=[1,1],[1,2]"])
    {'C': [0.1, 1], 'loss': ['hinge'], 'features.ngram_range': [[1, 1], [1, 2]]}
    """
    found: dict[str, list[Any]] = {}
    for text in given:
        name, _, values = text.partition("=")
        pieces = _pieces(values)
        if not name or not all(pieces):
            raise UserError(
                f"The grid {shorten(text)} is not written name=value,value. "
                f"Use for example C=0.1,1,10 or features.ngram_range=[1,1],[1,2]."
            )
        if name in found:
            raise UserError(f"The grid names {shorten(name)} twice. Give all its values at once.")
        found[name] = [value_of(piece) for piece in pieces]
    return found


def _pieces(text: str) -> list[str]:
    """A text cut at the commas outside brackets."""
    out, depth = [""], 0
    for sign in text:
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth == 0:
            out.append("")
        else:
            out[-1] += sign
    return [piece.strip() for piece in out]


def _defaults(
    method: str, part: Part, kind: str, parameters: Mapping[str, Any], features: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything that can be searched, with the values that `train` takes."""
    of_method = make(method, parameters=parameters).get_params(deep=False)
    of_features = make_features(kind, part, features).get_params()
    found = {name: v for name, v in of_method.items() if name not in RESERVED}
    return found | {PREFIX + name: plain(v) for name, v in of_features.items()}


def _usual(method: str, part: Part, kind: str) -> dict[str, Sequence[Any]]:
    features = _table_values(part) if kind == "table" else FEATURES[kind]
    return {
        "C": CS,
        **PARAMETERS.get(method, {}),
        **{PREFIX + name: values for name, values in features.items()},
    }


def _table_values(part: Part) -> dict[str, tuple[Any, ...]]:
    """Another scale for dense tables, weights of columns for those whose rows get length 1."""
    unit = TableFeatures().fit(part.X).scale_ == "unit"
    idf = {"idf": (False, True)} if unit else {}
    if sp.issparse(part.X):
        return idf
    return {"scale": ("auto", "standard" if unit else "unit"), **idf}


def _check(
    asked: Mapping[str, Sequence[Any]], method: str, kind: str, fixed: Mapping[str, Any],
    known: Mapping[str, Any],
) -> None:  # fmt: skip
    """Refuse names that do not exist or are fixed, and lists without values."""
    for name, values in asked.items():
        if name not in known:
            names = ("rule", *known)
            raise UserError(
                f"The grid names {shorten(name)}, which neither the method {method!r} nor the "
                f"features {kind!r} have{nearest(name, names)}. Use one of: {', '.join(names)}."
            )
        if name in fixed:
            raise UserError(
                f"{name} is both fixed (to {shorten(fixed[name])}) and searched. "
                f"Leave out one of the two."
            )
        if not values:
            raise UserError(f"The grid has no value of {name}. Give at least one.")


def _checked_Cs(values: Iterable[Any]) -> tuple[float, ...]:
    found = set()
    for C in values:
        if isinstance(C, bool) or not isinstance(C, int | float) or not 0 < C < float("inf"):
            raise UserError(f"C is {shorten(C)}. It must be a positive number.")
        found.add(float(C))
    return tuple(sorted(found))


def _first(default: Any, values: Iterable[Any]) -> tuple[Any, ...]:
    """The values without repetition, the default in front if it is among them."""
    found: list[Any] = []
    for value in map(plain, values):
        if value not in found:
            found.append(value)
    return tuple(sorted(found, key=lambda value: value != default))


def _rules(
    asked: Iterable[str] | None, several: bool, decides: bool
) -> tuple[tuple[str, ...] | None, bool]:
    """Which rules to try, and whether to try the estimator's own predictions."""
    if asked is None:
        return (None, decides) if several else ((), True)
    wanted = list(asked)
    if not wanted:
        raise UserError("The grid has no value of rule. Give at least one.")
    for name in wanted:
        check_rule(name, {})
    return tuple(name for name in RULES if name in wanted), OWN in wanted


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    return [plain(v) for v in value] if isinstance(value, tuple | list) else value
