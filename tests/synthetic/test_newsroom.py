"""The newsroom: its taxonomy, its words, its stories."""

import re
from collections import Counter
from datetime import date
from random import Random

import numpy as np
import pytest

from linnaeus.errors import UserError
from linnaeus.synthetic import newsroom, newsroom_taxonomy
from linnaeus.synthetic.newsroom_writer import (
    material,
    named,
    patterns,
    vocabulary,
    with_article,
    write_story,
)


@pytest.fixture(scope="module")
def archive():
    return newsroom(n_train=3000, n_test=500, n_valid=100, random_state=0)


# -- the taxonomy and the words -------------------------------------------------------------


def test_taxonomy_shape():
    taxonomy = newsroom_taxonomy()
    assert 75 <= len(taxonomy) <= 90
    assert 3 <= len(taxonomy.levels) <= 4
    assert (taxonomy.n_parents == 2).sum() >= 5
    assert len(taxonomy.related) >= 10
    assert set(taxonomy.titles) == set(taxonomy.nodes)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", v) for v in taxonomy.nodes)
    assert taxonomy.parents("climate-policy") == ("politics", "environment")


def test_related_topics_are_not_above_each_other():
    taxonomy = newsroom_taxonomy()
    for a, b in taxonomy.related:
        assert a not in taxonomy.ancestors(b) and b not in taxonomy.ancestors(a)


def test_every_node_has_words_enough():
    taxonomy, words = newsroom_taxonomy(), vocabulary()
    assert set(words) == set(taxonomy.nodes)
    for node, (who, what, did) in words.items():
        n = len(who) + len(what) + len(did)
        assert (12 <= n <= 25) if node in taxonomy.leaves else (8 <= n <= 15), node
        assert all(phrase and phrase == phrase.strip() for phrase in who + what + did)
        assert not any(re.match(r"(the|an?) ", phrase) for phrase in who), node
        assert len(set(who + what + did)) == n, node


def test_siblings_share_words():
    shared = Counter(p for words in vocabulary().values() for p in {*words.who, *words.what})
    assert sum(n > 1 for n in shared.values()) >= 10


def test_desks_have_organisations_and_patterns():
    roots = set(newsroom_taxonomy().roots)
    assert set(material()["names"]["organisations"]) == roots
    assert set(material()["patterns"]["desk_follows"]) == roots


def test_leads_introduce_the_person_of_the_story():
    assert all("{name}" in p and "{event}" in p for p in patterns("leads"))


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("actor", "an actor"),
        ("nurse", "a nurse"),
        ("union organiser", "a union organiser"),
        ("utility director", "a utility director"),
        ("understudy", "an understudy"),
    ],
)
def test_articles(noun, expected):
    assert with_article(noun) == expected


# -- the stories ----------------------------------------------------------------------------


def test_parts(archive):
    assert [(name, len(part)) for name, part in archive.parts()] == [
        ("train", 3000),
        ("valid", 100),
        ("test", 500),
    ]
    ids = [i for _, part in archive.parts() for i in part.ids]
    assert len(set(ids)) == len(ids) and ids[0] == "news-0001"
    assert newsroom(n_train=5, n_test=0).test is None
    assert archive.taxonomy == newsroom_taxonomy()


def test_labels_are_most_specific_nodes(archive):
    for name, part in archive.parts():
        Y = archive.Y(name)
        assert (archive.taxonomy.most_specific(Y) != Y).nnz == 0
        assert archive.taxonomy.decode(Y) == part.labels
        assert all(part.labels)


def test_rates_of_two_labels_and_of_partial_paths(archive):
    leaves = set(archive.taxonomy.leaves)
    labels = archive.train.labels
    assert np.mean([len(row) == 2 for row in labels]) == pytest.approx(0.25, abs=0.03)
    assert np.mean([not leaves.issuperset(row) for row in labels]) == pytest.approx(0.12, abs=0.02)


def test_every_leaf_occurs_and_sizes_differ(archive):
    count = Counter(v for row in archive.train.labels for v in row)
    sizes = [count[v] for v in archive.taxonomy.leaves]
    assert min(sizes) >= 10
    assert max(sizes) > 2 * min(sizes)
    assert all(count[v] for v in archive.taxonomy.nodes)


def test_texts_are_distinct_and_well_formed(archive):
    texts = [t for _, part in archive.parts() for t in part.texts]
    assert len(set(texts)) == len(texts)
    for text in texts:
        headline, body = text.split("\n\n")
        assert headline and body[-1] in '."'
        assert not re.search(r"[{};]\s*$|[{}]|  |\.\.|,,| ,|\bNone\b", text), text
        assert not re.search(r"\ba (?=[aeio])(?!one)", text), text
        assert not re.search(r"\ban (?![aeiou]|ho)", text), text
        assert 2 <= len(re.findall(r'[.]"?(?= [A-Z"]|$)', body)) <= 5, text


def test_metadata_agrees_with_the_text(archive):
    for text, row in zip(archive.train.texts, archive.train.metadata, strict=True):
        assert text.startswith(row["headline"] + "\n")
        day = named("days")[date.fromisoformat(row["date"]).weekday()]
        mentioned = {d for d in named("days") if re.search(rf"\b{d}\b(?!s)", text)}
        assert mentioned - {day} <= {"Thursday"}  # net zero by a Thursday


def test_same_seed_same_bytes():
    first, again, other = (newsroom(40, 10, random_state=s) for s in (3, 3, 4))
    assert first == again
    assert first.train.texts != other.train.texts
    longer = newsroom(60, 0, random_state=3)
    assert longer.train.texts[:40] == first.train.texts
    assert longer.train.texts[40:50] == first.test.texts


def test_a_generator_may_be_the_seed():
    a = newsroom(5, 0, random_state=np.random.default_rng(1))
    b = newsroom(5, 0, random_state=np.random.default_rng(1))
    assert a == b


def test_stories_use_the_words_of_their_topics():
    """Over many stories a topic's own words are much more common than another's."""
    rng = Random(0)
    text = " ".join(write_story(["tennis"], date(2024, 5, 1), rng).body for _ in range(200)).lower()

    def mentions(topic):
        return sum(text.count(p.lower()) for p in vocabulary()[topic].what)

    assert mentions("tennis") > 5 * mentions("sport") / 2 > 0
    assert mentions("tennis") > 20 * mentions("poetry")


def test_negative_size_is_an_error():
    with pytest.raises(UserError, match=r"n_test is -1; it must not be negative"):
        newsroom(10, -1)
