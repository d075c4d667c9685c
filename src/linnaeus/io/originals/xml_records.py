"""Small XML files from elsewhere, read without ever following what they point at.

A reference to a DTD is allowed, since many files carry one; it is not fetched. Declarations inside
the file, by which entities can be made to grow or to name other files, are refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from linnaeus.errors import FormatError, shorten


def read_xml(path: Path) -> Element:
    """The top element of a file."""
    parser, builder = expat.ParserCreate(), TreeBuilder()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data

    def refuse(what: str) -> NoReturn:
        raise FormatError(
            path,
            f"the file declares {what}, which is refused because declarations can name other files "
            f"or grow without limit. Remove what is in brackets after DOCTYPE.",
            parser.CurrentLineNumber,
        )

    def doctype(name: str, system: str | None, public: str | None, internal: int) -> None:
        if internal:
            refuse(f"its own parts in DOCTYPE {name}")

    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = lambda name, *rest: refuse(f"the entity {shorten(name)}")
    parser.SkippedEntityHandler = lambda name, is_parameter: builder.data(" ")
    try:
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        raise FormatError(
            path,
            f"malformed XML ({expat.ErrorString(error.code)}). Fetch the file again.",
            error.lineno,
        ) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(path, f"the encoding cannot be read ({error}). Use UTF-8.") from None
    return builder.close()
