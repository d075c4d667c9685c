"""RCV1-v2 (Lewis, Yang, Rose and Li, 2004): 804,414 Reuters stories, 103 topics in a tree.

The vectors come from scikit-learn's ``fetch_rcv1``, which keeps them as ``RCV1/*.pkl`` in its data
folder (`data_home`). These are pickles, which may run code when they are read: use a cache that
scikit-learn made on a machine of yours, not one from elsewhere.

The split is LYRL2004: stories with ids up to 26150 (the first 23,149) are for training, the later
ones for testing. Label sets are closed upwards, as published.

The hierarchy is ``rcv1.topics.hier.orig``, a line for each topic:

    parent: CCAT   child: C11   child-description: STRATEGY/PLANS

Without that file it follows from the codes: a topic lies below the longest code that begins its
own (C1511 below C151), else below the top of its letter (C11 and all of C below CCAT).

[Rousu2006] section 6 works on the family CCAT: ``select="CCAT"`` keeps all stories, and of their
labels those of the family, so that many stories have none.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.files import open_lines
from linnaeus.io.collection import Collection, Part
from linnaeus.io.find import listing
from linnaeus.io.originals.source import check_parts
from linnaeus.taxonomy import Taxonomy

LAST_TRAINING_ID = 26150
TOPS = ("CCAT", "ECAT", "GCAT", "MCAT")
_CODES = (
    "C11 C12 C13 C14 C15 C151 C1511 C152 C16 C17 C171 C172 C173 C174 C18 C181 C182 C183 C21 C22 "
    "C23 C24 C31 C311 C312 C313 C32 C33 C331 C34 C41 C411 C42 E11 E12 E121 E13 E131 E132 E14 E141 "
    "E142 E143 E21 E211 E212 E31 E311 E312 E313 E41 E411 E51 E511 E512 E513 E61 E71 G15 G151 G152 "
    "G153 G154 G155 G156 G157 G158 G159 GCRIM GDEF GDIP GDIS GENT GENV GFAS GHEA GJOB GMIL GOBIT "
    "GODD GPOL GPRO GREL GSCI GSPO GTOUR GVIO GVOTE GWEA GWELF M11 M12 M13 M131 M132 M14 M141 "
    "M142 M143"
)
_LINE = re.compile(r"\s*parent:\s*(\S+)\s+child:\s*(\S+)\s*(?:child-description:\s*(.*))?")
_ORIGIN = (
    "scikit-learn fetches the collection: call sklearn.datasets.fetch_rcv1(data_home=...) once, or "
    "pass download=True."
)
_AT_SHELL = (
    "Name the folder of data that scikit-learn keeps, scikit_learn_data in your home, where it "
    "puts the collection when it fetches it."
)


def read_rcv1(
    path: str | Path | None = None,
    *,
    hierarchy: str | Path | None = None,
    select: str | None = None,
    parts: Any = ("train", "test"),
    download: bool = False,
    dtype: Any = np.float32,
) -> Collection:
    """Read RCV1-v2 from scikit-learn's data folder.

    Parameters
    ----------
    path : str, Path or None, default=None
        The folder (`data_home`); None for scikit-learn's own.
    hierarchy : str, Path or None, default=None
        The file rcv1.topics.hier.orig; without it the tree follows from the codes.
    select : str or None, default=None
        A topic; labels outside its family are removed, stories are not.
    parts : sequence of str, default=('train', 'test')
        Train, test or both.
    download : bool, default=False
        Let scikit-learn fetch what the folder lacks.
    dtype : dtype, default=float32
        Type of the features.

    Returns
    -------
    Collection
    """
    wanted = check_parts(parts)
    taxonomy = topic_tree() if hierarchy is None else read_topic_tree(hierarchy)
    if select is not None:
        taxonomy = taxonomy.subtree(select)
    data = _fetch(path, download)
    names = [str(name) for name in data.target_names]
    if select is None:
        _check_known(names, taxonomy)
    training = np.asarray(data.sample_id) <= LAST_TRAINING_ID
    read = {
        name: _part(data, np.flatnonzero(training == (name == "train")), names, taxonomy, dtype)
        for name in wanted
        if name != "valid"
    }
    return Collection(taxonomy, **read, name="rcv1" if select is None else f"rcv1-{select}")


def topic_tree() -> Taxonomy:
    """The 103 topics, their tree rebuilt from the codes."""
    codes = _CODES.split()
    known = set(codes)
    edges: list[tuple[str | None, str]] = [(None, top) for top in TOPS]
    for code in codes:
        above = (code[:k] for k in range(len(code) - 1, 1, -1))
        edges.append((next((c for c in above if c in known), f"{code[0]}CAT"), code))
    return Taxonomy.from_edges(edges)


def read_topic_tree(path: str | Path) -> Taxonomy:
    """Read rcv1.topics.hier.orig; its artificial top (Root, below None) is left out."""
    edges: list[tuple[str | None, str]] = []
    titles: dict[str, str] = {}
    with open_lines(path) as lines:
        for line in lines:
            if not line.strip():
                continue
            match = _LINE.fullmatch(line)
            if match is None:
                raise lines.error(
                    f"{shorten(line)} is not a line such as 'parent: CCAT child: C11 "
                    f"child-description: STRATEGY/PLANS'. Is it rcv1.topics.hier.orig?"
                )
            parent, child, title = match.groups(default="")
            if parent == "None":
                continue
            edges.append((None if parent == "Root" else parent, child))
            if title.strip():
                titles[child] = title.strip()
    if not edges:
        raise UserError(f"{path} names no topic. Give the file rcv1.topics.hier.orig.")
    return Taxonomy.from_edges(edges, titles=titles)


def _fetch(path: str | Path | None, download: bool) -> Any:
    """What scikit-learn has, with an error that says where it was looked for."""
    from sklearn.datasets import fetch_rcv1

    home = os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data") if path is None else path
    cache = Path(home).expanduser() / "RCV1"
    if not (download or cache.is_dir()):
        beside = f" {listing(cache.parent)}" if cache.parent.is_dir() else ""
        said = f"There is no folder {cache}.{beside} "
        raise UserError(said + _ORIGIN, said + _AT_SHELL)
    try:
        return fetch_rcv1(data_home=str(cache.parent), download_if_missing=download)
    except FileNotFoundError as error:
        there = listing(cache) if cache.is_dir() else ""
        said = f"{cache} lacks {Path(error.filename).name}. {there} "
        raise UserError(said + _ORIGIN, said + _AT_SHELL) from None


def _check_known(names: list[str], taxonomy: Taxonomy) -> None:
    unknown = [name for name in names if name not in taxonomy]
    if unknown:
        raise UserError(
            f"The hierarchy lacks {len(unknown)} of the {len(names)} topics of the stories, the "
            f"first {shorten(unknown[0])}. Give the whole rcv1.topics.hier.orig."
        )


def _part(data: Any, rows: Any, names: list[str], kept: Taxonomy, dtype: Any) -> Part:
    """The stories of these rows, with those of their labels that the taxonomy has."""
    Y = sp.csr_array(data.target)[rows]
    Y.sort_indices()
    columns = Y.indices.tolist()
    return Part(
        labels=[
            [names[j] for j in columns[a:b] if names[j] in kept]
            for a, b in pairwise(Y.indptr.tolist())
        ],
        ids=[str(i) for i in np.asarray(data.sample_id)[rows].tolist()],
        X=sp.csr_array(data.data)[rows].astype(dtype),
    )
