"""What the parameters of an estimator may be: a table beside its constructor, checked by `fitting`.

    limits = Limits(C=POSITIVE, loss=choice("hinge", "squared_hinge"), slope=POSITIVE | NONE)

An estimator has its own limits and those of its bases, so what several share is said once. What
depends on other parameters, or on the data, is checked where it is used.
"""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from numbers import Integral, Real
from os import PathLike
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from linnaeus.errors import UserError, nearest, shorten
from linnaeus.execution import CHECKPOINT, Checkpoint, Stopped, checkpointing, engine
from linnaeus.execution.memory import is_size
from linnaeus.execution.watching import FIT, WATCH
from linnaeus.labels import parse, read_paths
from linnaeus.taxonomy.taxonomy import Taxonomy

P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[Concatenate[Any, P], T]


class Limit(NamedTuple):
    """Values that a parameter may have: the words for each kind of them, and a test."""

    words: tuple[str, ...]
    holds: Callable[[Any], bool]
    texts: tuple[str, ...] = ()  # the words among them that are values

    def __or__(self, other: Limit) -> Limit:
        return Limit(
            (*self.words, *other.words),
            lambda value: self.holds(value) or other.holds(value),
            (*self.texts, *other.texts),
        )

    def check(self, name: str, value: Any) -> None:
        """Refuse a value that is none of these, by the name of the parameter."""
        if self.holds(value):
            return
        words, typed = _either(self.words), _either(_typed(self.words))
        if isinstance(value, str) and self.texts:
            said = f"{name}={shorten(value)} is not known{nearest(value, self.texts)}. Use "
            raise UserError(f"{said}{words}.", f"{said}{typed}.")
        shown = " ".join(shorten(value).split())
        raise UserError(
            f"{name} is {shown}. It must be {words}.",
            f"{_OPTIONS.get(name, name)} is {_AT_SHELL.get(shown, shown)}. It must be {typed}.",
        )


_OPTIONS = {"n_jobs": "--jobs", "random_state": "--seed"}
_AT_SHELL = {"None": "null", "True": "true", "False": "false"}
_UNTYPED = ("a dict", "a function", "a linnaeus.", "a scikit-learn", "an array", "a matrix")


def _either(words: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _typed(words: Sequence[str]) -> Sequence[str]:
    """What of this can be typed at the shell, as one types it there."""
    kept = [_AT_SHELL.get(w, w) for w in words if not w.startswith(_UNTYPED)]
    return [w.replace("2**32 - 1", f"{2**32 - 1}") for w in kept] or ["left out"]


class Limits(dict[str, Limit]):
    """The limits of parameters, by their names."""


def limits_of(kind: type) -> Mapping[str, Limit]:
    """The limits of an estimator and of its bases, those of the nearest first."""
    return ChainMap(*(vars(base).get("limits", {}) for base in kind.__mro__))


def check_values(kind: type, values: Mapping[str, Any]) -> None:
    """Refuse values of an estimator's parameters that are outside of its limits.

    kind : its class;  values : by name; what is left out, or as the constructor has it, is right
    """
    for name, limit, default in _limits_in_order(kind):
        if values.get(name, default) is not default:
            limit.check(name, values[name])


@functools.cache
def _limits_in_order(kind: type) -> list[tuple[str, Limit, Any]]:
    """The limits of the parameters that a constructor has, with their defaults."""
    limits, takes = limits_of(kind), inspect.signature(kind).parameters
    return [(name, limits[name], takes[name].default) for name in sorted(takes) if name in limits]


def fitting(method: Method[P, T]) -> Method[P, T]:
    """A `fit` or `partial_fit` of checked parameters, which whoever watches can stop."""

    @functools.wraps(method)
    def run(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        check_values(type(self), vars(self))
        named = any(getattr(self, name, None) is not None for name in ("backend", "checkpoint"))
        watch = WATCH.get()
        if watch is None or FIT.get() is not None:  # nobody watches, or sees the fit around this
            with _placed(self) if named else nullcontext():
                return method(self, *args, **kwargs)
        with watch.fit(type(self).__name__) as fit, _placed(self) if named else nullcontext():
            done = method(self, *args, **kwargs)
        if fit.asked:
            if (kept := CHECKPOINT.get()) is not None:
                raise Stopped(kept.folder)
            warnings.warn(_interrupted(self, fit.stopped), ConvergenceWarning, stacklevel=2)
        return done

    return cast("Method[P, T]", run)


@contextmanager
def _placed(estimator: Any) -> Iterator[None]:
    """Where a fit runs and what it keeps, as its parameters say."""
    folder = getattr(estimator, "checkpoint", None)
    if folder is None or CHECKPOINT.get() is not None:
        with engine(getattr(estimator, "backend", None)):
            yield
        return
    checkpoint = Checkpoint(folder)
    with engine(estimator.backend), checkpointing(checkpoint):
        yield
    checkpoint.clean()


def _interrupted(estimator: Any, stopped: bool) -> str:
    name, gap = type(estimator).__name__, getattr(estimator, "gap_", None)
    if not stopped:
        return f"{name} was interrupted, but had no rounds to leave out: the fit is whole."
    at = "" if gap is None else f" at a relative duality gap of {gap:.2e}"
    return f"{name} was interrupted and stopped{at} with what it had. Fit it again to go on."


# -- kinds of values ------------------------------------------------------------------------------


def choice(*texts: str) -> Limit:
    """One of some texts."""
    return Limit(tuple(map(repr, texts)), lambda v: isinstance(v, str) and v in texts, texts)


def thing(words: str, holds: Callable[[Any], bool]) -> Limit:
    """What passes a test of its own."""
    return Limit((words,), holds)


def number(words: str, holds: Callable[[float], bool]) -> Limit:
    """A finite number; neither a text nor True or False is one."""
    return thing(words, lambda v: _is(v, Real) and _is_finite(v) and holds(v))


def whole(least: int) -> Limit:
    """A whole number that is large enough."""
    words = {0: "a whole number of 0 or more", 1: "a positive whole number"}
    default = f"a whole number of {least} or more"
    return thing(words.get(least, default), lambda v: _is(v, Integral) and v >= least)


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _is_float_type(value: Any) -> bool:
    try:
        return np.dtype(value) in (np.float32, np.float64)
    except TypeError:
        return False


def _is_seed(value: Any) -> bool:
    if _is(value, Integral):
        return bool(0 <= value < 2**32)
    return isinstance(value, np.random.RandomState) or value is np.random


def _is_array(value: Any, n_dimensions: int) -> bool:
    if sp.issparse(value):
        return bool(value.ndim == n_dimensions)
    try:
        return np.asarray(value, dtype=float).ndim == n_dimensions
    except (TypeError, ValueError, OverflowError):
        return False


def _is_iterable(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


NONE = thing("None", lambda v: v is None)
FLAG = Limit(("True", "False"), lambda v: isinstance(v, bool | np.bool_))
FINITE = number("a finite number", lambda v: True)
POSITIVE = number("a positive number", lambda v: v > 0)
NOT_NEGATIVE = number("a number of 0 or more", lambda v: v >= 0)
SHARE = number("a number between 0 and 1", lambda v: 0 < v < 1)
COUNT = whole(1)
PATH = thing("a folder", lambda v: isinstance(v, str | PathLike) and str(v) != "")
MEMORY = thing("a size such as '8G' or a number of bytes", is_size)
JOBS = COUNT | thing("-1 for all cores", lambda v: _is(v, Integral) and v == -1) | NONE
SEED = thing("a whole number from 0 to 2**32 - 1", _is_seed) | NONE
FLOAT_TYPE = thing("'float32', 'float64'", lambda v: v is not None and _is_float_type(v)) | NONE
MAPPING = thing("a dict", lambda v: isinstance(v, Mapping))
MATRIX = thing("a matrix of numbers", lambda v: _is_array(v, 2))
ROW = thing("a list of numbers", lambda v: _is_array(v, 1))
LISTS = thing("a list", _is_iterable)
FUNCTION = thing("a function", lambda v: callable(v) and not isinstance(v, type))
ESTIMATOR = thing(
    "a scikit-learn estimator", lambda v: hasattr(v, "fit") and not isinstance(v, type)
)
TAXONOMY = (
    thing("a linnaeus.Taxonomy", lambda v: hasattr(v, "leaf_numbers")) | choice("infer") | NONE
)


# -- the taxonomy ---------------------------------------------------------------------------------


def settled(taxonomy: Any, y: Any) -> tuple[Taxonomy | None, Any]:
    """What the parameter `taxonomy` means for labels; and these, understood where they had to be.

    taxonomy : None, a taxonomy, or "infer"
    """
    if taxonomy is None or isinstance(taxonomy, Taxonomy):
        return taxonomy, y
    if not is_inferred(taxonomy):
        raise UserError(
            f"taxonomy is {shorten(taxonomy)}, of type {type(taxonomy).__name__}. Give a "
            f"linnaeus.Taxonomy, 'infer' or None."
        )
    y = y if hasattr(y, "__len__") else list(y)
    rows = read_paths(y).content.paths
    made = Taxonomy.from_paths([path for row in rows for path in row])
    return made, parse(y, made, paths=True)


def is_inferred(taxonomy: Any) -> bool:
    """Whether a taxonomy is to be made from the labels."""
    return isinstance(taxonomy, str) and taxonomy == "infer"
