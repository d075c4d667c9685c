"""Writes one short newspaper story about given topics, of what newsroom.toml holds.

A story is a headline and two to five sentences. Each phrase is taken from the words of its topic,
or, so that the task is not too easy, from a node above it or beside it (a sibling; below it too
for an inner node). Some sentences are about another topic altogether, some about nothing.

Chance comes only from `random.Random.random`, whose numbers are the same in all versions of
Python: a seed gives the same bytes everywhere.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from datetime import date
from functools import cache
from importlib import resources
from random import Random
from typing import Any, NamedTuple, TypeVar

from linnaeus.taxonomy import Taxonomy

T = TypeVar("T")

_DEEDS = 0.85, 0.10  # how often people and deeds are of the topic itself, and of nodes above
_THINGS = 0.62, 0.23  # the same for things; what is left comes from nodes beside the topic
_DISTRACTOR, _NEUTRAL = 0.14, 0.12  # kinds of sentences after the first; the rest on the topic
_DESK = 0.25  # share of the sentences on the topic that only its desk would print


class Words(NamedTuple):
    """The vocabulary of a node."""

    who: tuple[str, ...]  # people, without an article
    what: tuple[str, ...]  # things, with the article they need
    did: tuple[str, ...]  # what people did: past tense, without a subject


class Story(NamedTuple):
    headline: str
    body: str


class Pools(NamedTuple):
    """Where the phrases of a topic come from."""

    above: tuple[str, ...]
    beside: tuple[str, ...]
    desks: tuple[str, ...]


@cache
def vocabulary() -> dict[str, Words]:
    """The words of every node."""
    nodes = material()["nodes"].items()
    return {node: Words(*(tuple(words[kind]) for kind in Words._fields)) for node, words in nodes}


def named(kind: str, desk: str = "") -> list[str]:
    """Names of a kind: first_names, surnames, places, days, few, or organisations of a desk."""
    return _listed("names", kind, desk)


def patterns(kind: str, desk: str = "") -> list[str]:
    """Sentences of a kind, with fields: headlines, leads, links, or desk_follows of a desk."""
    return _listed("patterns", kind, desk)


def _listed(section: str, kind: str, desk: str) -> list[str]:
    found = material()[section][kind]
    return list(found[desk] if desk else found)


@cache
def _pools(topic: str) -> Pools:
    taxonomy = newsroom_taxonomy()
    above = taxonomy.ancestors(topic)
    beside = [c for p in taxonomy.parents(topic) for c in taxonomy.children(p) if c != topic]
    beside += taxonomy.children(topic)
    desks = tuple(v for v in above if v in taxonomy.roots)
    return Pools(above[:-1] or (topic,), tuple(beside) or (topic,), desks)


def write_story(topics: Sequence[str], when: date, rng: Random) -> Story:
    """A story about the topics, the first of which has the headline."""
    return _Writer(when, rng).story(topics)


class _Writer:
    """The state of one story: its place and person, and the phrases used up so far."""

    def __init__(self, when: date, rng: Random) -> None:
        self._rng = rng
        self._used: set[str] = set()
        first, last = self.pick(named("first_names")), self.pick(named("surnames"))
        self.facts = {
            "name": f"{first} {last}",
            "surname": last,
            "place": self.pick(named("places")),
            "day": named("days")[when.weekday()],
        }

    def story(self, topics: Sequence[str]) -> Story:
        news = _Fields(self, topics[0])
        headline = self.write(patterns("headlines"), news)
        sentences = [self.write(patterns("leads"), news)]
        sentences += [self.write(patterns("links"), _Fields(self, topic)) for topic in topics[1:]]
        n_more = 1 + int(self._rng.random() * (5 - len(sentences)))
        sentences += [self._next(topics) for _ in range(n_more)]
        return Story(headline, " ".join(sentences))

    def _next(self, topics: Sequence[str]) -> str:
        kind = self._rng.random()
        topic = self.pick(topics)
        fields = _Fields(self, topic)
        if kind < _DISTRACTOR:
            fields = _Fields(self, self.pick(newsroom_taxonomy().nodes))
            choice = patterns("distractors")
        elif kind < _DISTRACTOR + _NEUTRAL:
            choice = patterns("neutral")
        elif self._rng.random() < _DESK:
            fields.desks = (self.pick(fields.desks),)
            choice = patterns("desk_follows", fields.desks[0])
        else:
            choice = patterns("follows")
        return self.write(choice, fields)

    def write(self, choice: Sequence[str], fields: _Fields) -> str:
        """A sentence from a pattern that the story has not used yet."""
        sentence = self.fresh(choice).format_map(fields)
        start = next(i for i, letter in enumerate(sentence) if letter.isalnum())
        return sentence[:start] + sentence[start].upper() + sentence[start + 1 :]

    def pick(self, choice: Sequence[T]) -> T:
        return choice[int(self._rng.random() * len(choice))]

    def fresh(self, choice: Sequence[str]) -> str:
        """One of the phrases that the story has not used yet, if there is any."""
        phrase = self.pick([c for c in choice if c not in self._used] or choice)
        self._used.add(phrase)
        return phrase

    def source(self, topic: str, shares: tuple[float, float]) -> str:
        """The topic, or a node above or beside it."""
        own, above = shares
        where, pools = self._rng.random(), _pools(topic)
        if where < own:
            return topic
        return self.pick(pools.above if where < own + above else pools.beside)


class _Fields(dict[str, Any]):
    """The fields of one sentence, chosen when the pattern asks for them."""

    def __init__(self, writer: _Writer, topic: str) -> None:
        super().__init__(writer.facts)
        self._writer, self._topic = writer, topic
        self.desks = _pools(topic).desks

    def __missing__(self, field: str) -> str:
        kind = field.rstrip("2")
        self[field] = getattr(self, f"_{kind}")(field.removeprefix(kind))
        value: str = self[field]
        return value

    def _actor(self, which: str) -> str:
        """A person; what the same person did is chosen along, from the same words."""
        node = self._writer.source(self._topic, _DEEDS)
        self.desks = _pools(node).desks
        self[f"event{which}"] = self._writer.fresh(vocabulary()[node].did)
        return self._writer.fresh(vocabulary()[node].who)

    def _an_actor(self, which: str) -> str:
        return with_article(self[f"actor{which}"])

    def _thing(self, which: str) -> str:
        return self._writer.fresh(vocabulary()[self._writer.source(self._topic, _THINGS)].what)

    def _bare(self, which: str) -> str:
        return re.sub(r"^(the|an?) ", "", self._thing(which))

    def _place(self, which: str) -> str:
        return self._writer.pick([p for p in named("places") if p != self["place"]])

    def _person(self, which: str) -> str:
        others = [s for s in named("surnames") if s != self["surname"]]
        return f"{self._writer.pick(named('first_names'))} {self._writer.pick(others)}"

    def _org(self, which: str) -> str:
        return self._writer.pick(named("organisations", self._writer.pick(self.desks)))

    def _few(self, which: str) -> str:
        return self._writer.pick(named("few"))

    def _n(self, which: str) -> str:
        return str(self._writer.pick(range(11, 60)))

    def _hour(self, which: str) -> str:
        return self._writer.pick(named("few"))


def with_article(noun: str) -> str:
    """The noun with a or an before it."""
    sounds_open = noun[0] in "aeiou" and not re.match(r"uni|uti|use|eu|one", noun)
    return f"an {noun}" if sounds_open else f"a {noun}"


# -- material -------------------------------------------------------------------------------------


@cache
def material() -> dict[str, Any]:
    """Names, sentences and nodes with their words, as the file has them."""
    return tomllib.loads(resources.files(__package__).joinpath("newsroom.toml").read_text("utf-8"))


@cache
def newsroom_taxonomy() -> Taxonomy:
    """The taxonomy of the newsroom: four levels, several nodes with two parents.

    Returns
    -------
    Taxonomy

    Examples
    --------
    >>> newsroom_taxonomy().parents("sports-business")
    ('companies', 'sport')
    """
    nodes, related = material()["nodes"], material()["taxonomy"]["related"]
    edges = [(p, v) for v, node in nodes.items() for p in (node["parents"] or (None,))]
    titles = {v: node["title"] for v, node in nodes.items()}
    return Taxonomy.from_edges(edges, related=related, titles=titles)
