"""Made-up data: exact models, text-like collections of any size, and a small newsroom."""

from linnaeus.synthetic.hierarchical import make_hierarchical
from linnaeus.synthetic.newsroom import newsroom, newsroom_taxonomy
from linnaeus.synthetic.taxonomies import random_edges, random_taxonomy
from linnaeus.synthetic.textlike import TextSource, make_text_like

__all__ = [
    "TextSource",
    "make_hierarchical",
    "make_text_like",
    "newsroom",
    "newsroom_taxonomy",
    "random_edges",
    "random_taxonomy",
]
