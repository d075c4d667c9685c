"""The rows that each option of the features makes: once for all folds, forgotten after the last.

Features learn from all training rows, but not from their labels.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

from linnaeus.collection import Part
from linnaeus.features import make_features
from linnaeus.model.model import inputs_of


class Stock:
    """Feature rows of a part by option; safe to ask from several threads."""

    def __init__(self, part: Part, kind: str, fixed: Mapping[str, Any]) -> None:
        self.part, self.kind, self.fixed = part, kind, dict(fixed)
        self._wanted: Counter[str] = Counter()
        self._locks: dict[str, Lock] = {}
        self._rows: dict[str, Any] = {}

    def expect(self, options: Iterable[Mapping[str, Any]]) -> None:
        """Tell which options will be asked for, each as often as it will be."""
        self._wanted = Counter(_key(option) for option in options)
        self._locks = {key: Lock() for key in self._wanted}
        self._rows = {key: rows for key, rows in self._rows.items() if key in self._wanted}

    @contextmanager
    def rows(self, option: Mapping[str, Any]) -> Iterator[Any]:
        """The rows of an option, as long as they are needed."""
        key = _key(option)
        with self._locks[key]:
            if key not in self._rows:
                features = make_features(self.kind, self.part, {**self.fixed, **option})
                self._rows[key] = features.fit_transform(inputs_of(self.part))
            found = self._rows[key]
        try:
            yield found
        finally:
            with self._locks[key]:
                self._wanted[key] -= 1
                if not self._wanted[key]:
                    del self._rows[key]


def _key(option: Mapping[str, Any]) -> str:
    return json.dumps(option, sort_keys=True)
