"""Writing SKOS: Turtle and RDF/XML, concepts in node order, without any library."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TextIO
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from linnaeus.taxonomy.formats.skos import NAMESPACE, OWN_PREFIX, OWN_SCHEME
from linnaeus.taxonomy.formats.writing import reject_characters
from linnaeus.taxonomy.taxonomy import Taxonomy

_URI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://|urn:[a-z0-9-]+:)[^\x00-\x20<>\"{}|\\^`\x7f]+")
_CONTROL = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF]))
_TURTLE = str.maketrans(
    {c: f"\\u{ord(c):04x}" for c in _CONTROL}
    | {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
)


def uri(name: str) -> str:
    """A URI as it is; any other name percent-encoded behind ``urn:linnaeus:``."""
    is_uri = _URI.fullmatch(name) and not name.startswith(OWN_PREFIX)
    return name if is_uri else OWN_PREFIX + quote(name, safe=":")


def _links(taxonomy: Taxonomy) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Every node with its (property, other node) pairs; a related link is said once."""
    related = defaultdict(list)
    for a, b in taxonomy.related:
        related[b].append(a)
    for name in taxonomy.nodes:
        above = [("broader", p) for p in taxonomy.parents(name)]
        yield name, above + [("related", a) for a in related[name]]


def write_turtle(taxonomy: Taxonomy, handle: TextIO) -> None:
    """Write Turtle."""
    handle.write(f"@prefix skos: <{NAMESPACE}> .\n\n<{OWN_SCHEME}> a skos:ConceptScheme .\n")
    for name, links in _links(taxonomy):
        says = ["a skos:Concept"]
        if name in taxonomy.titles:
            says.append(f'skos:prefLabel "{taxonomy.titles[name].translate(_TURTLE)}"')
        says += [f"skos:{kind} <{uri(other)}>" for kind, other in links]
        handle.write(f"\n<{uri(name)}> " + " ;\n    ".join(says) + " .\n")


def write_xml(taxonomy: Taxonomy, handle: TextIO) -> None:
    """Write RDF/XML."""
    reject_characters(taxonomy, _CONTROL, "a control character", "ttl or json")
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    handle.write(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF xmlns:rdf="{rdf}"\n'
        f'         xmlns:skos="{NAMESPACE}">\n<skos:ConceptScheme rdf:about="{OWN_SCHEME}"/>\n'
    )
    for name, links in _links(taxonomy):
        handle.write(f"<skos:Concept rdf:about={quoteattr(uri(name))}>\n")
        if name in taxonomy.titles:
            title = escape(taxonomy.titles[name], {"\r": "&#13;"})
            handle.write(f"  <skos:prefLabel>{title}</skos:prefLabel>\n")
        for kind, other in links:
            handle.write(f"  <skos:{kind} rdf:resource={quoteattr(uri(other))}/>\n")
        handle.write("</skos:Concept>\n")
    handle.write("</rdf:RDF>\n")
