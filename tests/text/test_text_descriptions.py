"""Descriptions of classes beside the attributes of the taxonomy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import CountVectorizer

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.losses import class_attributes, class_kernel
from linnaeus.text import TfidfVectorizer, class_descriptions, description_attributes

TAXONOMY = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2")],
    titles={"A": "cats", "a1": "big cats", "a2": "house cats", "b1": "big dogs", "B": "dogs"},
)
TITLES = ["big cats", "house cats", "big dogs", "b2"]


@pytest.mark.parametrize("beta", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("scheme", [None, "ones", "perclass", np.eye(4)])
def test_the_class_kernel_is_the_mixture(beta, scheme):
    attributes = description_attributes(TAXONOMY, beta, scheme=scheme)
    text = TfidfVectorizer(dtype=np.float64).fit_transform(TITLES)
    K_tax = class_kernel(class_attributes(TAXONOMY, "depth" if scheme is None else scheme))
    expected = (1 - beta) * K_tax + beta * class_kernel(text)
    assert_allclose(class_kernel(attributes), expected, atol=1e-12)
    if scheme is None:
        assert_allclose(np.diag(class_kernel(attributes)), 1.0)


def test_descriptions():
    assert class_descriptions(TAXONOMY) == TITLES
    whole = class_descriptions(TAXONOMY, ancestors=True)
    assert whole == ["r cats big cats", "r cats house cats", "r dogs big dogs", "r dogs b2"]
    grown = TAXONOMY.with_misc(["A"])
    assert class_descriptions(grown) == [*TITLES, "cats"]
    assert class_descriptions(grown, ancestors=True)[-1] == "r cats"


def test_other_vectorisers_and_dags():
    counts = CountVectorizer(binary=True)
    attributes = description_attributes(TAXONOMY, 1.0, vectorizer=counts)
    assert class_kernel(attributes)[0, 1] == pytest.approx(1)  # one word in common
    dag = Taxonomy.from_edges([("a", "big cat"), ("b", "big cat"), ("b", "small cat")])
    K = class_kernel(description_attributes(dag, 0.0))
    assert_allclose(K, class_kernel(class_attributes(dag, "perclass")), atol=1e-12)


def test_beta_is_a_share():
    with pytest.raises(UserError, match="beta is 2. The share of the descriptions"):
        description_attributes(TAXONOMY, 2)
