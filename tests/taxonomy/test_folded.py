"""A taxonomy in a notebook: HTML whose elements are the nodes, nested as they are."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from linnaeus import Taxonomy
from linnaeus.taxonomy import draw
from strategies import edge_lists


class Tree(HTMLParser):
    """The (parent, child) pairs of the names in nested <details>, and whether tags balance."""

    def __init__(self):
        super().__init__()
        self.open, self.path, self.pairs, self.unfolded, self.more = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "details":
            self.path.append(None)
            self.unfolded.append(("open", None) in attributes)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "details":
            self.path.pop()

    def handle_data(self, text):
        if self.open[-1] == "summary":
            self.pairs.append((self.path[-2] if len(self.path) > 1 else None, text))
            self.path[-1] = text
        elif self.open[-1] == "div":
            self.pairs.append((self.path[-1] if self.path else None, text.strip()))
        elif text.startswith("..."):
            self.more.append(text)


def read(text):
    tree = Tree()
    tree.feed(text)
    assert not tree.open
    return tree


@settings(max_examples=50, deadline=None)
@given(edge_lists())
def test_every_edge_is_shown_once(edges):
    tax = Taxonomy.from_edges(edges)
    tree = read(tax._repr_html_())
    roots = [(None, str(v)) for v in tax.roots]
    edges = [(str(p), str(c)) for p, c in tax.edges]
    assert sorted(tree.pairs, key=str) == sorted(roots + edges, key=str)


def test_names_are_escaped_and_titles_stand_before_ids():
    tax = Taxonomy.from_edges([("<b>", "a&b")], titles={"a&b": "<script>"})
    text = tax._repr_html_()
    assert "<script" not in text and "<b>" not in text
    assert read(text).pairs == [(None, "<b>"), ("<b>", "<script> [a&b]")]


def test_a_node_with_two_parents_is_unfolded_once():
    tax = Taxonomy.from_edges([("a", "c"), ("b", "c"), ("c", "d")])
    assert tax._repr_html_().count("(see above)") == 1


@pytest.mark.parametrize("n", [5, 60])
def test_large_ones_are_folded_below_their_roots(n):
    tax = Taxonomy.from_edges([("r", f"a{i}") for i in range(n)] + [("a0", "x"), ("x", "y")])
    assert read(tax._repr_html_()).unfolded == [True, n == 5, n == 5]


def test_what_is_left_out_is_counted():
    tax = Taxonomy.from_edges([("r", i) for i in range(30)] + [(0, f"x{i}") for i in range(4000)])
    tree = read("".join(draw.folded(tax, most=31)))
    assert len(tree.pairs) == 31 and tree.more == ["... 4,000 more"]
    assert len(tax._repr_html_()) < 100_000
