"""Collections as their makers publish them, read into a `Collection`.

The papers worked on collections that may not be passed on here. Whoever has a copy can read it:

==========  =====================================================================================
rcv1        RCV1-v2, from scikit-learn's cache; topics as a tree
newsgroups  20 newsgroups by date: folders of raw posts, or Rennie's matlab files
lshtc       the LSHTC challenges: DMOZ and Wikipedia, with their cat_hier.txt
wipo        WIPO-alpha: patents as XML files, main groups of the IPC as classes
ohsumed     OHSUMED with the MeSH trees
clus        ARFF files of the Clus collections, by their names
==========  =====================================================================================

Each module says what its files look like. `READERS` maps these names to the readers; the command
``linnaeus import`` writes what they read as a collection folder.
"""

from __future__ import annotations

from collections.abc import Callable

from linnaeus.io.collection import Collection
from linnaeus.io.originals.clus import read_clus
from linnaeus.io.originals.lshtc import read_lshtc
from linnaeus.io.originals.newsgroups import read_newsgroups
from linnaeus.io.originals.ohsumed import read_ohsumed
from linnaeus.io.originals.rcv1 import read_rcv1
from linnaeus.io.originals.wipo import read_wipo

READERS: dict[str, Callable[..., Collection]] = {
    "rcv1": read_rcv1,
    "newsgroups": read_newsgroups,
    "lshtc": read_lshtc,
    "wipo": read_wipo,
    "ohsumed": read_ohsumed,
    "clus": read_clus,
}

__all__ = [
    "READERS",
    "read_clus",
    "read_lshtc",
    "read_newsgroups",
    "read_ohsumed",
    "read_rcv1",
    "read_wipo",
]
