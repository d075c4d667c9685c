"""Names of a package that are loaded when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Parameters
    ----------
    package : str
        Its full name.
    homes : mapping of str to str
        The module, by its full name, in which each name is; or which it names.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        found = importlib.import_module(home)
        if home != f"{package}.{name}":
            found = getattr(found, name)
        setattr(sys.modules[package], name, found)
        return found

    return load
