"""A given division in blocks of test rows, and standard errors of any figures made of sums."""

import numpy as np
import pytest

from linnaeus import RankingSVM, Taxonomy
from linnaeus.errors import UserError
from linnaeus.experiments import (
    cross_validate_ranking,
    held_out_ranking,
    paired_test,
    spread_of_sums,
)

TAX = Taxonomy.from_edges([("a", "x"), ("a", "y"), ("b", "z")])
TRAIN, TEST = np.arange(30), np.arange(30, 50)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.array(["x", "y", "z"])[rng.integers(0, 3, 50)]
    return (y[:, None] == np.array(["x", "y", "z"])) + rng.normal(size=(50, 3)), y


def test_blocks_have_the_figures_of_all_test_rows_together(data):
    X, y = data
    models = {"m": RankingSVM(TAX, random_state=0), "flat": RankingSVM(None, random_state=0)}
    study = held_out_ranking(models, X, y, TAX, train=TRAIN, test=TEST, blocks=4)
    once = cross_validate_ranking(models, X, y, TAX, folds=[(TRAIN, TEST)])
    for method in models:
        for metric, values in study.values["blocks"][method].items():
            assert values.size == 4  # of 5 rows each
            assert values.mean() == pytest.approx(once.mean(method, metric))
            assert study.mean(method, metric, "all") == pytest.approx(once.mean(method, metric))
    rows = paired_test(study, "m", "flat").rows
    assert {row.condition for row in rows} == {"all", "blocks"}


def test_a_model_is_fitted_once(data):
    X, y = data
    told = []
    held_out_ranking(
        RankingSVM(TAX, random_state=0), X, y, TAX, train=TRAIN, test=TEST, blocks=20,
        callback=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told == [(1, 1)]


@pytest.mark.parametrize("blocks", [0, 21])
def test_as_many_blocks_as_rows_at_most(data, blocks):
    X, y = data
    with pytest.raises(UserError, match=f"blocks is {blocks}, but there are 20 test rows. Use 1"):
        held_out_ranking(RankingSVM(TAX), X, y, TAX, train=TRAIN, test=TEST, blocks=blocks)


def test_spread_of_a_mean_is_its_standard_error():
    x = np.random.default_rng(0).normal(size=(400, 1))
    found = spread_of_sums(x, lambda sums: sums / 400, 4000)
    assert found[0] == pytest.approx(x.std() / 20, rel=0.05)


def test_spread_needs_two_draws():
    with pytest.raises(UserError, match="at least 2 draws"):
        spread_of_sums(np.ones((3, 1)), lambda sums: sums, 1)
