"""What is searched: the usual values, one's own grid, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus.errors import UserError
from linnaeus.experiments import make_space, parse_grid
from linnaeus.experiments.best_c import CS
from linnaeus.io.collection import Part
from linnaeus.model.methods import METHODS
from linnaeus.synthetic import newsroom

NEWS = newsroom(30, 1)


def space(method="svm", kind="words", several=True, part=NEWS.train, **more):
    return make_space(method, part, kind, several, **more)


def test_a_grid_is_read():
    given = ["C=0.1,1", "loss=hinge, squared_hinge", "features.ngram_range=[1,1],[1, 2]"]
    assert parse_grid(given) == {
        "C": [0.1, 1],
        "loss": ["hinge", "squared_hinge"],
        "features.ngram_range": [[1, 1], [1, 2]],
    }
    assert parse_grid(["a=null,true,x=y"]) == {"a": [None, True, "x=y"]}


@pytest.mark.parametrize("text", ["C", "C=", "=1", "C=1,,2", ""])
def test_a_grid_that_is_not_written_so_is_refused(text):
    with pytest.raises(UserError, match="is not written name=value,value"):
        parse_grid([text])
    with pytest.raises(UserError, match="names 'C' twice"):
        parse_grid(["C=1", "C=2"])


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"lss": ["hinge"]}, r"names 'lss', .* 'svm' .* 'words' .*did you mean 'loss'"),
        ({"features.ngram_rnge": [1]}, r"did you mean 'features.ngram_range'"),
        ({"random_state": [1]}, r"names 'random_state'"),
        ({"C": [1, -1]}, r"C is -1. It must be a positive number"),
        ({"C": ["one"]}, r"C is 'one'"),
        ({"C": [True]}, r"C is True"),
        ({"C": []}, r"no value of C"),
        ({"rule": []}, r"no value of rule"),
        ({"rule": ["instanc"]}, r"'instanc' is not known .*did you mean 'instance'"),
    ],
)
def test_mistakes_in_a_grid_are_named(grid, message):
    with pytest.raises(UserError, match=message):
        space(grid=grid)


def test_what_is_fixed_is_not_searched():
    found = space(parameters={"C": 3, "loss": "hinge"}, feature_parameters={"min_df": 2})
    assert found.Cs == (3.0,) and not found.parameters and not found.refine
    assert "min_df" not in found.features and "ngram_range" in found.features
    with pytest.raises(UserError, match=r"C is both fixed \(to 3\) and searched"):
        space(parameters={"C": 3}, grid={"C": [1]})
    with pytest.raises(UserError, match=r"features.min_df is both fixed"):
        space(feature_parameters={"min_df": 2}, grid={"features.min_df": [1]})


def test_a_method_without_C_has_none():
    assert space("hblr").Cs == (None,)
    with pytest.raises(UserError, match="names 'C'"):
        space("hblr", grid={"C": [1]})


def test_ones_own_grid_is_all_that_is_searched():
    found = space(grid={"C": [10, 1, 1.0], "loss": ["hinge", "squared_hinge"]})
    assert found.Cs == (1.0, 10.0) and not found.refine and not found.features
    assert found.parameters == {"loss": ("squared_hinge", "hinge")}  # the default first
    assert found.rules is None and not found.own
    alone = space(grid={"rule": ["scut", "own", "argmax"]})
    assert alone.Cs == (1.0,) and alone.rules == ("argmax", "scut") and alone.own


def test_defaults_come_first_and_are_left_out_of_options():
    found = space(grid={"features.ngram_range": [(1, 2), (1, 1)], "features.min_df": [2, 3]})
    assert found.features == {"ngram_range": ([1, 1], [1, 2]), "min_df": (2, 3)}
    assert found.option({"ngram_range": [1, 1], "min_df": 2}) == {"min_df": 2}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_usual_values_that_begin_with_its_defaults(method):
    found = space(method)
    assert found.Cs in (CS, (None,)) and found.refine == (found.Cs == CS)
    for name, values in found.parameters.items():
        assert values[0] == found.defaults[name] and len(set(values)) == len(values) > 1
    for name, values in found.features.items():
        assert values[0] == found.defaults[f"features.{name}"] and len(values) > 1


def test_one_label_a_row_is_decided_by_the_method_itself():
    assert (space(several=False).rules, space(several=False).own) == ((), True)
    assert (space("topdown").rules, space("topdown").own) == (None, True)


def test_tables_vary_their_scale():
    dense = np.array([[1.0, -2.0], [3.0, np.nan]])

    def features(X):
        part = Part([["a"]] * len(dense), ["1", "2"], X=X)
        return space(kind="table", part=part).features

    assert features(dense) == {"scale": ("auto", "unit")}
    assert features(sp.csr_array([[1.0, 0], [0, 1.0]])) == {"idf": (False, True)}
    counts = np.eye(2, 8)
    assert features(counts) == {"scale": ("auto", "standard"), "idf": (False, True)}
