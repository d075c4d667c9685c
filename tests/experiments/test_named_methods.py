"""Who takes part, and with which parameters and taxonomy."""

import numpy as np
import pytest

from comparisons import small_taxonomy
from linnaeus.errors import UserError
from linnaeus.experiments.named_methods import onto, parse_methods
from linnaeus.io.collection import Part

TAX = small_taxonomy()


def test_parameters_go_to_the_methods_that_have_them():
    given = {"C": 2.0, "topdown.loss": "hinge", "variant": "online"}
    svm, topdown, perceptron = parse_methods(["svm", "topdown:flat", "perceptron"], TAX, given)
    assert svm.parameters == {"C": 2.0}
    assert topdown.parameters == {"C": 2.0, "loss": "hinge"}
    assert perceptron.parameters == {"variant": "online"}
    assert (topdown.name, topdown.method, topdown.variant) == ("topdown:flat", "topdown", "flat")


@pytest.mark.parametrize(
    ("methods", "parameters", "message"),
    [
        ([], {}, "No methods are given. Give a list of names"),
        ("svm", {}, "No methods are given"),
        (["svm", "svm"], {}, "'svm' is given twice. Name every method once"),
        (["svn"], {}, r"'svn' is not known \(did you mean 'svm'\?\)"),
        (["svm:flut"], {}, r"variant 'flut' of 'svm:flut' is not known \(did you mean 'flat'\?\)"),
        (["svm"], {"max_itr": 3}, r"None of the methods svm has the parameter 'max_itr' \(did you"),
        (["svm"], {"topdown.C": 3}, "None of the methods svm has the parameter 'topdown.C'"),
        (["svm"], {"svm.D": 3}, "The method 'svm' has no parameter 'D'"),
    ],
)
def test_mistakes_show_before_the_first_fit(methods, parameters, message):
    with pytest.raises(UserError, match=message):
        parse_methods(methods, TAX, parameters)


@pytest.mark.parametrize("variant", ["flat", "random", "learned"])
def test_variants_are_taught_with_the_same_classes(variant):
    labels = [["a", "a1", "x"], ["y"], ["u", "v"], ["a2"], ["z"], ["w"]]
    part = Part(labels, list("123456"), X=np.eye(6))
    (method,) = parse_methods([f"svm:{variant}"], TAX)
    taxonomy, taught = method.taught(TAX, part, part.X, seed=0)
    assert taught.labels == [["x"], ["y"], ["u", "v"], ["a2"], ["z"], ["w"]]
    assert {v for row in taught.labels for v in row} <= set(taxonomy.nodes)
    assert taught.X is part.X
    if variant == "flat":
        assert set(taxonomy.nodes) == {*TAX.leaves, "a2"}
        assert taxonomy.leaves == taxonomy.nodes


def test_without_a_variant_nothing_changes():
    part = Part([["x"]], ["1"], X=np.eye(1))
    (method,) = parse_methods(["svm"], TAX)
    assert method.taught(TAX, part, part.X, 0) == (TAX, part)


def test_sets_over_another_taxonomy_are_closed_in_this_one():
    from linnaeus import Taxonomy

    other = Taxonomy.from_edges([("cluster 1", "x"), ("cluster 1", "u"), ("cluster 2", "v")])
    sets = other.closure(other.encode([["x"], ["u", "v"], ["cluster 2"], []]))
    found = onto(TAX, other, sets)
    assert TAX.decode(found) == [["a", "a1", "x"], ["b", "u", "v"], [], []]
    assert onto(TAX, TAX, found) is found
