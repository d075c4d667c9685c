"""Objects to plain data; see `linnaeus.storage.state` for what comes out."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from linnaeus.errors import UserError, shorten
from linnaeus.storage import arrays, made, registry, state
from linnaeus.taxonomy import Taxonomy

_FUNCTIONS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial, np.ufunc,
)  # fmt: skip
_MEASURED = f"/{made.MEASURED}"


class Encoder:
    """Encodes one object; an object inside that is met again is written as "the same as"."""

    def __init__(self) -> None:
        self.texts: dict[str, list[Any]] = {}
        self.arrays: dict[str, arrays.Array] = {}
        self.taxonomy: Taxonomy | None = None  # the first one met
        self.seconds: dict[str, float] = {}  # what was measured, by path
        self._seen: dict[int, tuple[Any, str]] = {}  # objects are kept, so that no id comes again
        self._by_type: dict[type, Callable[[Any, str], Any]] = {
            list: self._list,
            tuple: lambda value, path: {"$tuple": self._items(value, path)},
            dict: self._dict,
            set: lambda value, path: {"$set": self._items(_in_order(value), path)},
            frozenset: lambda value, path: {"$frozenset": self._items(_in_order(value), path)},
            np.ndarray: self._array,
            np.memmap: self._array,
            np.random.RandomState: self._random_state,
            Taxonomy: self._taxonomy,
            **dict.fromkeys(state.SPARSE.values(), self._sparse),
        }

    def encode(self, value: Any, path: str) -> Any:
        """A value as JSON; `path` says where it is."""
        kind = type(value)
        if value is None or kind in (str, bool):
            return value
        if kind in (int, float):
            return self._measured(value, path) or _number(value, path)
        if isinstance(value, np.generic | np.dtype) or kind in (type, slice, range):
            return self._small(value, path)
        if id(value) in self._seen:
            return {"$same": self._seen[id(value)][1]}
        self._seen[id(value)] = (value, path)
        if path.count("/") > state.DEEPEST:
            raise UserError(f"{_shown(path)} is too deep inside the object to be saved.")
        return self._by_type.get(kind, self._object)(value, path)

    def _small(self, value: Any, path: str) -> Any:
        """Things of NumPy's and Python's that are a number or a few."""
        if isinstance(value, slice | range):
            tag = "$slice" if isinstance(value, slice) else "$range"
            return {tag: [self.encode(v, path) for v in (value.start, value.stop, value.step)]}
        if isinstance(value, np.dtype) and value.kind in "biufUO":
            return {"$dtype": _code(value)}
        if isinstance(value, np.generic) and (
            value.dtype.name in arrays.DTYPES or value.dtype.kind == "U"
        ):
            return {"$scalar": self.encode(value.item(), path), "dtype": _code(value.dtype)}
        for name, known in state.TYPES.items():
            if value is known:
                return {"$type": name}
        _refuse(value, path)

    def _measured(self, value: int | float, path: str) -> dict[str, None] | None:
        """A place for a time, which goes to a file of its own; None for other numbers."""
        if not (isinstance(value, float) and math.isfinite(value) and path.endswith(_MEASURED)):
            return None
        self.seconds[path] = value
        return {"$seconds": None}

    # -- containers -------------------------------------------------------------------------

    def _items(self, values: Sequence[Any], path: str) -> Any:
        """Values one by one; many plain ones go to a file of their own."""
        if len(values) >= state.MANY and state.are_plain(values):
            self.texts[path] = list(values)
            return {"$text": path}
        return [self.encode(value, f"{path}/{i}") for i, value in enumerate(values)]

    def _list(self, value: list[Any], path: str) -> Any:
        items = self._items(value, path)
        return items if isinstance(items, list) else {"$list": items}

    def _dict(self, value: dict[Any, Any], path: str) -> Any:
        if not all(type(key) is str for key in value):
            pairs = enumerate(value.items())
            return {
                "$dict": [
                    [self.encode(k, f"{path}/{i}:key"), self.encode(v, f"{path}/{i}")]
                    for i, (k, v) in pairs
                ]
            }
        if len(value) >= state.MANY and _are_terms(value):
            return {"$terms": self._items(list(value), path)}
        inner = self._named(value, path)
        return {"$names": inner} if any(key.startswith("$") for key in value) else inner

    def _named(self, values: dict[str, Any], path: str) -> dict[str, Any]:
        return {key: self.encode(v, state.below(path, key)) for key, v in values.items()}

    # -- arrays -----------------------------------------------------------------------------

    def _array(self, value: arrays.Array, path: str) -> Any:
        if value.dtype.kind in "UO":
            items = self._items(value.ravel().tolist(), path)
            return {"$texts": items, "dtype": _code(value.dtype), "shape": list(value.shape)}
        if value.dtype.name not in arrays.DTYPES:
            _refuse(value, path)
        by_column = value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous
        name = path if path.isascii() else f"array {len(self.arrays)}"
        self.arrays[name] = value.T if by_column else value
        return {"$array": name, "order": "F"} if by_column else {"$array": name}

    def _sparse(self, value: Any, path: str) -> Any:
        tag = next(name for name, kind in state.SPARSE.items() if kind is type(value))
        held = {name: getattr(value, name) for name in ("data", "indices", "indptr")}
        return {"$sparse": tag, "shape": [int(n) for n in value.shape]} | self._named(held, path)

    # -- objects ----------------------------------------------------------------------------

    def _taxonomy(self, value: Taxonomy, path: str) -> Any:
        self.taxonomy = self.taxonomy or value
        return {"$taxonomy": self._named(state.parts(value), path)}

    def _random_state(self, value: np.random.RandomState, path: str) -> Any:
        held = value.get_state(legacy=False)
        if held["bit_generator"] != "MT19937":
            _refuse(value, path)
        return {"$random": self._named(held, path)}

    def _object(self, value: Any, path: str) -> Any:
        tag = registry.tag_of(type(value))
        if tag is None:
            _refuse(value, path)
        if isinstance(value, tuple):
            return {"$named": tag, "fields": self._named(value._asdict(), path)}  # type: ignore[attr-defined]
        version = {"version": state.sklearn_version()} if registry.is_foreign(tag) else {}
        held = registry.attributes(value, tag)
        return {"$object": tag, **version, "attributes": self._named(held, path)}


def _number(value: int | float, path: str) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if value.bit_length() > state.LONGEST:
        raise UserError(f"{_shown(path)} is an integer of {value.bit_length():,} bits: too long.")
    return value


def _code(dtype: np.dtype[Any]) -> str:
    return dtype.newbyteorder("<").str


def _in_order(values: Iterable[Any]) -> list[Any]:
    """The members of a set in an order that is the same in every run."""
    return sorted(values, key=lambda value: (type(value).__name__, repr(value)))


def _are_terms(value: dict[str, Any]) -> bool:
    """Whether the values are 0, 1, 2, ...: a vocabulary, which its words in order tell."""
    return all(type(v) is int and v == i for i, v in enumerate(value.values()))


def _shown(path: str) -> str:
    return path.replace("/", ".").replace("~1", "/").replace("~0", "~")


def _refuse(value: Any, path: str) -> NoReturn:
    where = _shown(path)
    if isinstance(value, _FUNCTIONS):
        raise UserError(
            f"{where} is a function ({getattr(value, '__name__', type(value).__name__)}), which "
            f"cannot be saved: a model on disk holds data only. Do its work before the model, for "
            f"example tokenise beforehand, or use a named option."
        )
    kind = type(value)
    what = f"a {kind.__module__}.{kind.__qualname__}"
    if kind is np.ndarray or isinstance(value, np.generic | np.dtype):
        what = f"of NumPy's type {getattr(value, 'dtype', value)}"
    elif isinstance(value, type):
        what = f"the class {value.__module__}.{value.__qualname__}"
    raise UserError(
        f"{where} is {what} ({shorten(value)}), which cannot be saved. Use classes of linnaeus, "
        f"plain values and arrays; or keep this object by other means, such as joblib."
    )
