"""What the columns of a taxonomy table are, by the names in its header.

Names are compared without case, blanks and punctuation: ``Parent ID`` is ``parent_id``. Some words
make a header wherever they stand, others (``source``, ``target``, ``label`` ...) only beside a
column for the other end of the edge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_ENDS = (
    "id", "ids", "name", "title", "label", "category", "node", "code", "class", "term", "concept",
    "key", "uid", "uuid", "slug", "group", "type", "number", "no", "uri",
)  # fmt: skip
_PARENTS = {start + end for start in ("parent", "broader") for end in ("", "s", *_ENDS)}
_PARENTS |= {"super", *(f"{end}parent" for end in _ENDS)}
_CHILDREN = {start + end for start in ("child", "narrower") for end in _ENDS}
_PUNCTUATION = re.compile(r"[\W_]+")
_LONG, _MANY = 60, 500  # characters of a name, and columns, beyond which there is no header
_NAMED = re.compile(r"(?:name|title|label)$")

# Which of several columns is the node's id: the first of these that is there.
KINDS = ("child", "id", "node", "narrower", "category", "name", "title")
_WORDS = {
    "child": "child", "children": "child", "id": "id", "nodeid": "id", "categoryid": "id",
    "conceptid": "id", "termid": "id", "classid": "id", "identifier": "id", "node": "node",
    "narrower": "narrower", "category": "category", "categoryname": "name", "nodename": "name",
    "name": "name", "preflabel": "name", "title": "title",
}  # fmt: skip
_WEAK = {
    "target": "child", "to": "child", "subclass": "child", "subcategory": "child",
    "unterbegriff": "child", "unterkategorie": "child", "hyponym": "child", "enfant": "child",
    "hijo": "child", "figlio": "child",
    "uid": "id", "uuid": "id", "code": "id", "key": "id", "uri": "id", "notation": "id",
    "number": "id", "no": "id", "nr": "id", "nummer": "id", "slug": "id", "identifiant": "id",
    "class": "category", "concept": "category", "term": "category", "topic": "category",
    "kategorie": "category", "klasse": "category", "begriff": "category", "item": "category",
    "knoten": "node", "categorie": "category", "catégorie": "category", "categoría": "category",
    "categoria": "category", "label": "name", "nom": "name", "nombre": "name", "nome": "name",
    "bezeichnung": "name", "benennung": "name", "libellé": "name", "naam": "name",
    "titel": "title", "titre": "title", "título": "title", "titolo": "title",
}  # fmt: skip
_WEAK_PARENT = {
    "source", "from", "superclass", "supercategory", "supertype", "hypernym", "subclassof",
    "subcategoryof", "childof", "isa", "partof", "belongsto", "bt", "above", "upper",
    "oberbegriff", "oberkategorie", "oberklasse", "übergeordnet", "elternknoten", "eltern", "père",
    "padre", "genitore", "ouder", "parente", "catégorieparente", "categoríapadre", "categoriapadre",
}  # fmt: skip


_TITLES = ("title", "name", "category", "node")  # of the other columns, the first is the title


class Roles(NamedTuple):
    """Which column is what (numbers from 0); several may be the parent."""

    parents: tuple[int, ...]
    node: int
    kind: str  # of the node's column, one of KINDS
    title: int = -1
    relation: int = -1


def plain(cell: str) -> str:
    """A name in a header without case, blanks and punctuation; nothing where it is too long."""
    return "" if len(cell) > _LONG else _PUNCTUATION.sub("", cell.casefold())


def plain_names(cells: Sequence[str]) -> list[str]:
    """The names of a header; none where there are too many for one."""
    return [plain(cell) for cell in cells] if len(cells) <= _MANY else []


def is_header(cells: Sequence[str]) -> bool:
    """Whether a first row names columns: one sure word, or a word for either end of the edge."""
    names = plain_names(cells)
    sure = any(_sure(name) for name in names)
    both = any(map(is_parent, names)) and any(map(_kind, names))
    return sure or both


def _sure(name: str) -> bool:
    return name in _WORDS or (is_parent(name) and name not in _WEAK_PARENT) or _is_child(name)


def is_parent(name: str) -> bool:
    """Whether a plain name stands for the parent."""
    return name in _PARENTS or name in _WEAK_PARENT


def _is_child(name: str) -> bool:
    return name in _CHILDREN


def _kind(name: str) -> str | None:
    """Which of KINDS a plain name stands for."""
    if _is_child(name):
        return "name" if _NAMED.search(name) else "child"
    return _WORDS.get(name) or _WEAK.get(name)


def roles(cells: Sequence[str]) -> Roles | None:
    """What the columns of a header are; None where the parent or the node is missing."""
    names = plain_names(cells)
    parents = tuple(i for i, name in enumerate(names) if is_parent(name))
    kinds = [(KINDS.index(kind), i) for i, name in enumerate(names) if (kind := _kind(name))]
    kinds = [(rank, i) for rank, i in kinds if i not in parents]
    if not parents or not kinds:
        return None
    rank, node = min(kinds)
    rest = [(_TITLES.index(KINDS[r]), i) for r, i in kinds if i != node and KINDS[r] in _TITLES]
    title = min(rest)[1] if rest else -1
    relation = names.index("relation") if "relation" in names else -1
    return Roles(parents, node, KINDS[rank], title, relation)


def known_names() -> dict[str, list[str]]:
    """The names of columns by what they stand for, as they are compared: small, without blanks."""
    found = {"parent": ["parent", "parents", "broader", "super", *sorted(_WEAK_PARENT)]}
    for kind in KINDS:
        found[kind] = [word for word, k in (_WORDS | _WEAK).items() if k == kind]
    return found


def understood() -> str:
    """What a header may say, for messages."""
    return (
        "For the parent: parent, parent_id, parent category, broader, source. For the node: child, "
        "id, node, narrower, category, name, title, target; name or title beside an id is its "
        "title. Or the levels of a path: level 1, level 2 and so on"
    )
