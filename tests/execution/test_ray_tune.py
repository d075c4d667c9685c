"""Tuning on serial, threads and Ray: the same figures."""

from __future__ import annotations

import pytest

from linnaeus.execution import engine, ray_engine
from linnaeus.experiments import tune
from small_data import TREE, stories

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    slower, ray_engine.SLOWER = ray_engine.SLOWER, float("inf")  # small tasks go to workers too
    yield ray_engine.connected(None, 2)
    ray_engine.SLOWER = slower
    ray.shutdown()


def tuned(backend, grid, folds=3, part=None):
    with engine(backend, workers=2):
        found = tune(part or stories(60), TREE, "svm", grid=grid, folds=folds, with_model=False)
    return [{k: v for k, v in row.items() if k != "seconds"} for row in found.table]


@pytest.mark.parametrize(
    ("grid", "folds"),
    [
        ({"C": [0.1, 1], "loss": ["hinge", "squared_hinge"], "rule": ["zero", "scut"]}, 3),
        ({"C": [1], "features.ngram_range": [[1, 1], [1, 2]]}, 2),
        ({"C": [0.1, 1]}, 1),  # fewer units than workers: the fits divide their own work
    ],
)
def test_all_engines_find_the_same(grid, folds):
    assert tuned("ray", grid, folds) == tuned("serial", grid, folds) == tuned(None, grid, folds)


def test_one_label_a_row_is_sent_as_it_is():
    part = stories(60, labels=lambda row: row[:1])
    grid = {"C": [0.1, 1]}
    assert tuned("ray", grid, 3, part) == tuned("threads", grid, 3, part)
