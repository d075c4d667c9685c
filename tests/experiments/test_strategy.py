"""The order of a search: what is asked for, and that the cost told before is the cost."""

import pytest

from linnaeus.experiments import make_space
from linnaeus.experiments.strategy import FoldPath, around, exhaustive, greedy, size
from linnaeus.synthetic import newsroom

PART = newsroom(30, 1).train
FOLDS = 3


class Judge:
    """Runs nothing: the best is what a function of the setting says."""

    def __init__(self, value):
        self.value, self.paths, self.blocks, self.rows = value, [], [], []

    def __call__(self, paths):
        self.blocks.append(paths)
        self.paths += paths
        for features, parameters, Cs in paths:
            self.rows += [{"features": features, "parameters": parameters, "C": C} for C in Cs]
        return max(self.rows, key=self.value)

    def check(self, told):
        fits = [(str(p.features), str(p.parameters), C) for p in self.paths for C in p.Cs]
        assert len(fits) == len(set(fits))  # nothing is done twice
        assert FOLDS * len(fits) == told.fits and FOLDS * len(self.paths) == told.units
        assert len({FoldPath(path, 0).key for path in self.paths}) == len(self.paths)


def wants(row):
    """Best at C = 3, hinge, two words at a time, stop words left out."""
    near = -abs(row["C"] - 3)
    features = row["features"]
    good = (row["parameters"].get("loss") == "hinge") + (features.get("ngram_range") == [1, 2])
    return near + 100 * (good + (features.get("stop_words") == "english"))


def test_greedy_finds_what_blocks_can_find():
    space = make_space("svm", PART, "words", True)
    judge = Judge(wants)
    greedy(space, judge)
    judge.check(size(space, FOLDS, False))
    best = max(judge.rows, key=wants)
    assert best["C"] == 3.0 and best["parameters"] == {"loss": "hinge"}
    assert best["features"] == {"ngram_range": [1, 2], "stop_words": "english"}
    assert [path.features for path in judge.blocks[0]] == [{}, {}]
    assert judge.blocks[1][0].Cs == (0.3, 3.0)  # beside 1
    assert judge.blocks[2][0].Cs == (1.0, 3.0, 10.0)


@pytest.mark.parametrize("every", [False, True])
def test_the_cost_is_known_before(every):
    grids = [
        {"C": [1]},
        {"C": [0.1, 1, 10, 100], "features.min_df": [1, 2, 3], "loss": ["hinge"]},
        {"features.min_df": [1, 2], "features.ngram_range": [[1, 2], [1, 3]]},
    ]
    for grid in grids:
        space = make_space("svm", PART, "words", True, grid=grid)
        judge = Judge(lambda row: -abs(row["C"] - 10))
        (exhaustive if every else greedy)(space, judge)
        told = size(space, FOLDS, every)
        if every or grid is not grids[1]:
            judge.check(told)
        else:
            assert FOLDS * len(judge.rows) <= told.fits


def test_exhaustive_tries_every_combination():
    grid = {"C": [1, 10], "loss": ["hinge", "squared_hinge"], "features.min_df": [1, 2, 3]}
    space = make_space("svm", PART, "words", True, grid=grid)
    judge = Judge(wants)
    exhaustive(space, judge)
    assert len(judge.rows) == 12 and len(judge.blocks) == 1


def test_a_method_without_C_goes_the_same_way():
    space = make_space("hblr", PART, "words", True)
    judge = Judge(lambda row: row["parameters"]["model"] == "M1")
    greedy(space, judge)
    judge.check(size(space, FOLDS, False))
    assert {row["C"] for row in judge.rows} == {None}


def test_neighbours_are_half_decades_or_the_next_given():
    free = make_space("svm", PART, "words", True)
    assert around(1.0, free) == (0.3, 1.0, 3.0) and around(0.3, free) == (0.1, 0.3, 1.0)
    assert around(100.0, free) == (30.0, 100.0, 300.0) and around(0.01, free)[0] == 0.003
    given = make_space("svm", PART, "words", True, grid={"C": [1, 2, 5, 7]})
    assert around(1.0, given) == (1.0, 2.0) and around(5.0, given) == (2.0, 5.0, 7.0)
