"""SKOS thesauri, as Turtle or RDF/XML.

Nodes are the resources of type ``skos:Concept``. ``skos:broader`` and the inverse of
``skos:narrower`` together are the hierarchy, ``skos:related`` the related links. The title is the
``skos:prefLabel``: in English, else without a language, else the first in alphabetical order of
languages. The id of a concept is what follows the last ``/`` or ``#`` of its URI, where that is
unique in the file; otherwise all ids are whole URIs.

Our own files say so by a concept scheme with a fixed URI. In them ids that are no URIs stand
percent-encoded behind ``urn:linnaeus:``, and ids that are URIs are kept whole.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from xml.sax import SAXParseException

from linnaeus.errors import FormatError, MissingExtraError, cut
from linnaeus.files import read_text
from linnaeus.taxonomy.formats.draft import Terms
from linnaeus.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    from rdflib import Graph

NAMESPACE = "http://www.w3.org/2004/02/skos/core#"
OWN_SCHEME = "urn:x-linnaeus:taxonomy"
OWN_PREFIX = "urn:linnaeus:"
_XML = re.compile(r"\s*<(?:\?xml|!--|!DOCTYPE|(?:\w+:)?RDF\b)")


def read(path: Path, language: str = "en") -> Taxonomy:
    """Read concepts; `language` is preferred for titles."""
    graph = _parse(path, read_text(path))
    from rdflib.namespace import RDF, SKOS

    concepts = list(dict.fromkeys(graph.subjects(RDF.type, SKOS.Concept)))
    ids = _ids(path, graph, concepts)
    terms = Terms(path)
    for concept in concepts:
        labels = list(graph.objects(concept, SKOS.prefLabel))
        terms.declare(ids[concept], title=_best_label(labels, language))
        above = [*graph.objects(concept, SKOS.broader), *graph.subjects(SKOS.narrower, concept)]
        for parent in dict.fromkeys(above):
            terms.edge(ids.get(parent, str(parent)), ids[concept])
        for child in graph.objects(concept, SKOS.narrower):
            if child not in ids:
                terms.edge(ids[concept], str(child))
    links = list(graph.subject_objects(SKOS.related))
    terms.related = [(ids[a], ids[b]) for a, b in links if a in ids and b in ids]
    if len(terms.related) < len(links):
        warnings.warn(
            f"{path}: {len(links) - len(terms.related)} of {len(links)} related links are left "
            f"out because the file does not declare their concepts.",
            stacklevel=2,
        )
    return terms.build()


def _parse(path: Path, text: str) -> Graph:
    try:
        from rdflib import Graph
        from rdflib.plugins.parsers.notation3 import BadSyntax
    except ImportError:
        raise MissingExtraError("Reading SKOS", "rdflib", "formats") from None
    is_xml = _XML.match(text) is not None
    line: int | None = None
    try:
        return Graph().parse(data=text, format="xml" if is_xml else "turtle")
    except BadSyntax as error:
        reason, line = error._why, int(error.lines) + 1
    except SAXParseException as error:
        reason, line = error.getMessage(), error.getLineNumber()
    except Exception as error:  # the parsers raise many kinds, none of them ours to list
        reason = f"{type(error).__name__}: {error}"
    raise FormatError(
        path,
        f"this is not valid {'RDF/XML' if is_xml else 'Turtle'} ({cut(str(reason), 200)}). "
        f"Fix it there, or get the file again.",
        line,
    )


def _ids(path: Path, graph: Graph, concepts: list[Any]) -> dict[Any, str]:
    """The id of every concept."""
    from rdflib import BNode, URIRef
    from rdflib.namespace import RDF, SKOS

    if any(isinstance(concept, BNode) for concept in concepts):
        raise FormatError(path, "a concept has no URI. Give every skos:Concept one.")
    uris = [str(concept) for concept in concepts]
    if (URIRef(OWN_SCHEME), RDF.type, SKOS.ConceptScheme) not in graph:
        tails = [re.split(r"[/#]", uri)[-1] for uri in uris]
        if all(tails) and len(set(tails)) == len(tails):
            uris = tails
    names = [
        unquote(uri.removeprefix(OWN_PREFIX)) if uri.startswith(OWN_PREFIX) else uri for uri in uris
    ]
    return dict(zip(concepts, names, strict=True))


def _best_label(labels: list[Any], language: str) -> str | None:
    """The label in the wanted language, in English, without one, or the first by language."""

    def rank(label: Any) -> tuple[int, str, str]:
        tag, wanted = (label.language or "").lower(), language.lower()
        fits = [tag == wanted, tag.startswith(f"{wanted}-"), tag == "en", tag.startswith("en-")]
        return [*fits, tag == "", True].index(True), tag, str(label)

    return str(min(labels, key=rank)) if labels else None
