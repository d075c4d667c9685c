"""Pages: well formed, self-contained, and safe with any text."""

from html.parser import HTMLParser

import pytest
from test_explain import TEXT, TREE, corpus

from linnaeus.explanation import explain, explain_node, explanation_html, node_html
from linnaeus.model import train

VOID = {"meta", "br", "hr"}


class Checker(HTMLParser):
    """Keeps open tags and all text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def checked(page):
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert "script" not in checker.tags and "link" not in checker.tags
    assert "http" not in page
    return "".join(checker.text)


@pytest.fixture(scope="module")
def model():
    return train(corpus(), TREE, "rr-svm", rule="argmax")


def test_texts_are_escaped(model):
    evil = f"<script>alert('goal')</script> {TEXT} &amp; \"quoted\""
    page = explanation_html(explain(model, evil, nodes=["weather"]))
    assert "<script>" not in page and "&lt;script&gt;" in page
    text = checked(page)
    assert evil in text
    assert "Football <b>" in text and "Football <b>" not in page


def test_words_are_coloured_by_what_they_add(model):
    page = explanation_html(explain(model, TEXT))
    assert 'rgba(34, 139, 84, 0.60)" title="+' in page
    assert "from Sport &amp; games" in page


def test_nodes(model):
    text = checked(node_html(explain_node(model, "football", top=3)))
    assert "Sport & games › Football <b>" in text
    assert "Against tennis" in text and "12 training rows" in text
    flat = train(corpus(), TREE, "msvm")
    assert "no weights for this node" in checked(node_html(explain_node(flat, "news")))
