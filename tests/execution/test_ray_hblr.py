"""Variational inference on serial, threads and Ray: the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import HBLR
from linnaeus.execution import ray_engine, values
from linnaeus.solvers.bayes import hblr_diagonal, hblr_full, hblr_variational
from linnaeus.solvers.bayes.hblr_model import LEAVES
from linnaeus.synthetic import make_text_like

FITS = [
    {"covariance": "full", "link": "softmax"},
    {"covariance": "diagonal", "link": "binary", "model": "M2"},
]


@pytest.fixture(scope="module")
def data():
    """More examples than are looked at at once, and more leaves than are updated at once."""
    X, Y, taxonomy = make_text_like(
        600, 12, n_leaves=LEAVES + 3, depth=2, random_state=0, nonzeros=5
    )
    return X, np.array(taxonomy.nodes)[Y.indices[Y.indptr[:-1]]], taxonomy


def posterior(data, backend, **how):
    X, y, taxonomy = data
    model = HBLR(taxonomy, inference="variational", prior=(1.0, 1.0), max_iter=2, tol=1e3,
                 backend=backend, n_jobs=2, **how)  # fmt: skip
    found = model.fit(X, y).posterior_
    return values.digest(list(found[:5]), found.bounds)


@pytest.mark.parametrize("how", FITS)
def test_threads_give_the_same_bits(how, data):
    assert posterior(data, "serial", **how) == posterior(data, "threads", **how)


@pytest.mark.cluster
@pytest.mark.parametrize("how", FITS)
def test_ray_gives_the_same_bits(how, data, monkeypatch):
    monkeypatch.setattr(ray_engine, "SLOWER", np.inf)  # small tasks go to workers too
    assert posterior(data, "serial", **how) == posterior(data, "ray", **how)


def test_what_is_much_work_is_a_task():
    heavy = [
        hblr_variational._look_at, hblr_full._second_moments, hblr_full._inverted,
        hblr_diagonal._by_gradients,
    ]  # fmt: skip
    assert all(getattr(function, "is_task", False) for function in heavy)
