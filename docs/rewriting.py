"""The extension of griffe that makes Markdown of docstrings while the site is built."""

from __future__ import annotations

from typing import Any

from griffe import Extension, Object

from docs.docstrings import as_markdown


class Docstrings(Extension):
    """Rewrites every docstring when it has been loaded."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
