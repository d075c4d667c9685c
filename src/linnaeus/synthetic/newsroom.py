"""A small newspaper archive that needs no file: short stories filed under a taxonomy.

The taxonomy has some ninety nodes on four levels, eleven of them with two parents, and related
links. Of the stories a quarter have two labels, and one in eight is filed under an inner node
because it is not about anything more special. Sizes of topics fall as (rank + 10)^-0.8. The second
topic of a story is often a related or a neighbouring one.
"""

from __future__ import annotations

from bisect import bisect
from datetime import date, timedelta
from functools import cache
from itertools import accumulate
from numbers import Integral
from random import Random
from typing import Any

import numpy as np

from linnaeus.errors import UserError
from linnaeus.io.collection import Collection, Part
from linnaeus.synthetic.newsroom_writer import newsroom_taxonomy, write_story

__all__ = ["newsroom", "newsroom_taxonomy"]

_TWO_TOPICS = 0.25
_INNER = 0.12
_NEIGHBOUR = 0.5  # how often a second topic is related to the first or a sibling of it
_FIRST_DAY = date(2024, 1, 1)
_DAYS = 366


def newsroom(
    n_train: int = 800, n_test: int = 200, n_valid: int = 0, random_state: Any = 0
) -> Collection:
    """Write a collection of stories; every part has texts, ids, labels and metadata.

    Labels are the most specific nodes. The metadata of a story are its headline and date.
    The same `random_state` gives the same stories, to the letter.

    Parameters
    ----------
    n_train : int, default=800
        Training stories.
    n_test : int, default=200
        Test stories.
    n_valid : int, default=0
        Validation stories.
    random_state : int or None, default=0
        Seed.

    Returns
    -------
    Collection

    Examples
    --------
    >>> archive = newsroom(n_train=3, n_test=1)
    >>> archive.train.ids
    ['news-0001', 'news-0002', 'news-0003']
    """
    sizes = {"train": n_train, "valid": n_valid, "test": n_test}
    for name, size in sizes.items():
        if size < 0:
            raise UserError(f"n_{name} is {size}; it must not be negative.")
    stories = _stories(sum(sizes.values()), Random(_seed(random_state)))
    ends = dict(zip(sizes, accumulate(sizes.values()), strict=True))
    parts = {
        name: stories.take(range(ends[name] - size, ends[name]))
        for name, size in sizes.items()
        if size
    }
    return Collection(newsroom_taxonomy(), name="newsroom", **parts)


def _seed(random_state: Any) -> int:
    """An integer as it is; anything else is what ``numpy.random.default_rng`` makes of it."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(np.random.default_rng(random_state).integers(2**63))


def _stories(n: int, rng: Random) -> Part:
    labels, texts, metadata = [], [], []
    for _ in range(n):
        topics = _choose_topics(rng)
        when = _FIRST_DAY + timedelta(days=int(rng.random() * _DAYS))
        story = write_story(topics, when, rng)
        labels.append(sorted(topics, key=newsroom_taxonomy().index))
        texts.append(f"{story.headline}\n\n{story.body}")
        metadata.append({"headline": story.headline, "date": when.isoformat()})
    ids = [f"news-{i:04d}" for i in range(1, n + 1)]
    return Part(labels=labels, ids=ids, texts=texts, metadata=metadata)


def _choose_topics(rng: Random) -> list[str]:
    """One topic, sometimes an inner node; sometimes a second, neither above nor below it."""
    first = _draw(*_sizes(inner=rng.random() < _INNER), rng)
    if rng.random() >= _TWO_TOPICS:
        return [first]
    related, comparable = _neighbours(first)
    while True:
        if rng.random() < _NEIGHBOUR and related:
            second = related[int(rng.random() * len(related))]
        else:
            second = _draw(*_sizes(inner=False), rng)
        if second not in comparable:
            return [first, second]


@cache
def _sizes(inner: bool) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The leaves or the inner nodes, most common first, and their cumulated sizes."""
    taxonomy = newsroom_taxonomy()
    nodes = [v for v in taxonomy.nodes if (v not in taxonomy.leaves) == inner]
    shuffled = Random(1758)
    order = sorted(nodes, key=lambda v: shuffled.random())
    return tuple(order), tuple(accumulate((rank + 10) ** -0.8 for rank in range(len(order))))


def _draw(nodes: tuple[str, ...], cumulated: tuple[float, ...], rng: Random) -> str:
    return nodes[bisect(cumulated, rng.random() * cumulated[-1])]


@cache
def _neighbours(topic: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Leaves that are related to the topic or beside it; and the nodes above and below it."""
    taxonomy = newsroom_taxonomy()
    comparable = frozenset(taxonomy.ancestors(topic)) | frozenset(taxonomy.descendants(topic))
    linked = [b if a == topic else a for a, b in taxonomy.related if topic in (a, b)]
    siblings = [c for p in taxonomy.parents(topic) for c in taxonomy.children(p)]
    leaves = [v for v in linked + siblings if v in taxonomy.leaves and v not in comparable]
    return tuple(leaves), comparable
