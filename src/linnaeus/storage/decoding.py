"""Plain data to objects; see `linnaeus.storage.state`. Nothing that it reads is ever run."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from linnaeus.errors import UserError, shorten
from linnaeus.storage import registry, state, upgrades

_DTYPE = re.compile(r"[<|]([biuf][1248]|b1|U\d{1,7}|O)")
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_TROUBLE = (
    TypeError, KeyError, IndexError, AttributeError, ValueError, OverflowError, MemoryError,
    RecursionError, ImportError,
)  # fmt: skip


def decoded(found: state.State, check: bool) -> Any:
    """The object of a state; a `UserError` if the state is not one."""
    try:
        return _Decoder(found, check).decode(found.tree, state.ROOT)
    except UserError:
        raise
    except _TROUBLE as error:
        raise UserError(f"it is no state of an object ({type(error).__name__}: {error}).") from None


class _Decoder:
    def __init__(self, found: state.State, check: bool) -> None:
        self._state, self._check = found, check
        self._known: dict[str, Any] = {}  # by path
        self._makers: dict[str, Callable[[Any, str], Any]] = {
            "$tuple": lambda node, path: tuple(self._items(node["$tuple"], path)),
            "$set": lambda node, path: set(self._items(node["$set"], path)),
            "$frozenset": lambda node, path: frozenset(self._items(node["$frozenset"], path)),
            "$list": lambda node, path: self._fill_list([], node["$list"], path),
            "$dict": self._dict,
            "$names": lambda node, path: self._fill_dict({}, node["$names"], path),
            "$terms": self._terms,
            "$float": lambda node, path: _FLOATS[node["$float"]],
            "$seconds": lambda node, path: self._state.seconds.get(path, math.nan),
            "$scalar": self._scalar,
            "$dtype": lambda node, path: _dtype(node["$dtype"]),
            "$type": lambda node, path: state.TYPES[node["$type"]],
            "$slice": lambda node, path: slice(*self._items(node["$slice"], path)),
            "$range": lambda node, path: range(*self._items(node["$range"], path)),
            "$array": self._array,
            "$texts": self._texts,
            "$sparse": self._sparse,
            "$taxonomy": self._taxonomy,
            "$random": self._random_state,
            "$named": self._named_tuple,
            "$object": self._object,
            "$same": lambda node, path: self._known[node["$same"]],
        }

    def decode(self, node: Any, path: str) -> Any:
        """The value of a node of the tree."""
        if path.count("/") > state.DEEPEST:
            raise UserError("it is nested too deeply.")
        if isinstance(node, list):
            return self._fill_list([], node, path)
        if not isinstance(node, dict):
            return node
        tag = next(iter(node), "")
        if not tag.startswith("$"):
            return self._fill_dict({}, node, path)
        if tag not in self._makers:
            raise UserError(f"it uses {shorten(tag)}, which this version does not know.")
        value = self._makers[tag](node, path)
        self._known[path] = value
        return value

    # -- containers: known before they are filled, so that they may hold themselves ----------

    def _items(self, node: Any, path: str) -> list[Any]:
        if isinstance(node, dict):
            held: Any = self._state.texts[node["$text"]]
            if not isinstance(held, list) or not state.are_plain(held):
                raise UserError(f"its list {shorten(node['$text'])} does not hold plain values.")
            return held
        return [self.decode(part, f"{path}/{i}") for i, part in enumerate(node)]

    def _fill_list(self, out: list[Any], node: Any, path: str) -> list[Any]:
        self._known[path] = out
        out.extend(self._items(node, path))
        return out

    def _fill_dict(self, out: dict[str, Any], node: Any, path: str) -> dict[str, Any]:
        self._known[path] = out
        for key, part in node.items():
            out[key] = self.decode(part, state.below(path, key))
        return out

    def _dict(self, node: Any, path: str) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        self._known[path] = out
        for i, (key, part) in enumerate(node["$dict"]):
            name = self.decode(key, f"{path}/{i}:key")
            out[name] = self.decode(part, f"{path}/{i}")
        return out

    def _terms(self, node: Any, path: str) -> dict[str, int]:
        return {term: i for i, term in enumerate(self._items(node["$terms"], path))}

    def _fields(self, node: Any, path: str) -> dict[str, Any]:
        return {key: self.decode(part, state.below(path, key)) for key, part in node.items()}

    # -- arrays -----------------------------------------------------------------------------

    def _scalar(self, node: Any, path: str) -> Any:
        return _dtype(node["dtype"]).type(self.decode(node["$scalar"], path))

    def _array(self, node: Any, path: str) -> Any:
        array = self._state.arrays[node["$array"]]
        return array.T if node.get("order") == "F" else array

    def _texts(self, node: Any, path: str) -> Any:
        items, dtype = self._items(node["$texts"], path), _dtype(node["dtype"])
        shape = tuple(node["shape"])
        if math.prod(shape) != len(items):
            raise UserError(f"an array of the shape {shape} has {len(items)} items.")
        if dtype.kind == "O":
            return np.fromiter(items, object, len(items)).reshape(shape)
        if set(map(type, items)) - {str}:
            raise UserError("an array of texts holds something else.")
        if len(items) * dtype.itemsize > 2**20 + 4000 * sum(map(len, items)):
            raise UserError(f"an array of texts claims the type {dtype.str}, far too long.")
        return np.array(items, dtype).reshape(shape)

    def _sparse(self, node: Any, path: str) -> Any:
        parts = [
            self.decode(node[name], state.below(path, name))
            for name in ("data", "indices", "indptr")
        ]
        if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts):
            raise UserError("a sparse matrix is not made of arrays.")
        if any(part.dtype.name not in ("int32", "int64") for part in parts[1:]):
            raise UserError("the indices of a sparse matrix are no integers.")
        rows, columns = node["shape"]
        matrix = state.SPARSE[node["$sparse"]]((int(rows), int(columns)), dtype=parts[0].dtype)
        matrix.data, matrix.indices, matrix.indptr = parts
        matrix.check_format(full_check=self._check)
        return matrix

    # -- objects ----------------------------------------------------------------------------

    def _taxonomy(self, node: Any, path: str) -> Any:
        return state.rebuilt(self._fields(node["$taxonomy"], path))

    def _random_state(self, node: Any, path: str) -> np.random.RandomState:
        held = self._fields(node["$random"], path)
        if not 0 <= held["state"]["pos"] <= 624:
            raise UserError("the state of a generator of random numbers has no such place.")
        out = np.random.RandomState(0)
        out.set_state(held)
        return out

    def _class(self, name: Any) -> tuple[str, Any]:
        """The tag and the class of what the file names."""
        tag = upgrades.tag_named(name, self._state.version)
        return tag, registry.class_of(tag)

    def _named_tuple(self, node: Any, path: str) -> Any:
        tag, kind = self._class(node["$named"])
        if not issubclass(kind, tuple):
            raise UserError(f"{shorten(node['$named'])} is not a named tuple.")
        found = upgrades.upgraded(self._fields(node["fields"], path), tag, self._state.version)
        fields = kind._field_defaults | found
        if fields.keys() != set(kind._fields):
            raise UserError(f"{shorten(node['$named'])} has other fields in this version.")
        return kind._make(fields[name] for name in kind._fields)

    def _object(self, node: Any, path: str) -> Any:
        tag, kind = self._class(node["$object"])
        if issubclass(kind, tuple):
            raise UserError(f"{shorten(node['$object'])} is a named tuple, and has no attributes.")
        if registry.is_foreign(tag) and node.get("version") != state.sklearn_version():
            warnings.warn(
                f"The model holds a {kind.__name__} of scikit-learn "
                f"{node.get('version')}; installed is {state.sklearn_version()}. If its answers "
                f"differ, install that version or train again.",
                stacklevel=2,
            )
        out = object.__new__(kind)
        self._known[path] = out
        held = self._fields(node["attributes"], path)
        vars(out).update(upgrades.upgraded(held, tag, self._state.version))
        registry.settle(out, tag)
        return out


def _dtype(code: Any) -> np.dtype[Any]:
    if not isinstance(code, str) or not _DTYPE.fullmatch(code):
        raise UserError(f"it names NumPy's type {shorten(code)}, which a model may not hold.")
    return np.dtype(code).newbyteorder("=")
