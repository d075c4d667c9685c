"""A beam over linear models, row by row: what the search over any models sees, and no more."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from topdown_problems import DAG, TREE, label_sets, points

from linnaeus import load
from linnaeus.estimators import topdown
from linnaeus.estimators.topdown import TopDown
from linnaeus.inference import paths
from linnaeus.storage import arrays

TAXONOMIES = pytest.mark.parametrize("tax", [TREE, DAG], ids=["tree", "dag"])


def fitted(tax, several=False, **options):
    X, y = points(tax, seed=5)
    model = TopDown(tax, decode="beam", random_state=0, **options)
    return model.fit(X, label_sets(tax, y) if several else y), X


def by_any_models(model, X):
    """The search that asks a function for every family."""
    rows = sp.csr_array(X)
    return model.decoder_.ways(model.models_.scorer(rows), X.shape[0], "beam", model.beam)


@TAXONOMIES
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("beam", [1, 2, 50])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_sees_what_the_search_over_any_models_sees(tax, several, beam, dtype):
    model, X = fitted(tax, several, beam=beam, dtype=dtype)
    expected = by_any_models(model, X).score
    found = model._ways(model.models_, X, "beam").score
    assert_array_equal(np.isfinite(found), np.isfinite(expected))
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@TAXONOMIES
@pytest.mark.parametrize("beam", [1, 2, 50])
def test_answers_are_those_of_all_that_was_seen(tax, beam, monkeypatch):
    model, X = fitted(tax, beam=beam)
    labels, (best, value) = model.predict(X), model.top_k(X, 3)
    monkeypatch.setattr(TopDown, "_in_one_piece", lambda *_: None)
    assert_array_equal(labels, model.predict(X))
    expected, theirs = model.top_k(X, 3)
    assert_array_equal(best, expected)
    assert_allclose(value, theirs, rtol=1e-9, atol=1e-12)


def test_rows_in_any_form_and_number(monkeypatch):
    model, X = fitted(TREE, beam=2)
    best, value = model.top_k(X, 2)
    monkeypatch.setattr(topdown, "SEARCHED", 7)
    monkeypatch.setattr(paths, "ROOM", 1)
    for again in (X, sp.csr_array(X), np.asfortranarray(X)):
        for jobs in (1, 2):
            found = model.set_params(n_jobs=jobs).top_k(again, 2)
            assert_array_equal(found[0], best)
            assert_array_equal(found[1], value)


def test_weights_of_a_file_stay_there(tmp_path):
    model, X = fitted(TREE, beam=2)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    piece = again.models_.in_one_piece()
    assert arrays.file_of(piece.weights) is not None
    assert arrays.file_of(model.models_.in_one_piece().weights) is None
    for found, expected in zip(again.top_k(X, 2), model.top_k(X, 2), strict=True):
        assert_array_equal(found, expected)


def test_the_piece_is_made_once_for_the_models_and_goes_with_them():
    model, X = fitted(TREE)
    before = set(vars(model))
    model.top_k(X, 1)
    made = topdown._PIECES[model][1]
    model.predict(X)
    assert topdown._PIECES[model][1] is made and set(vars(model)) == before
    model.fit(X, np.roll(points(TREE, seed=5)[1], 1)).predict(X)
    assert topdown._PIECES[model][1] is not made
    model = weakref.ref(model)
    gc.collect()
    assert model() is None  # what is kept for it does not keep it


def test_two_classes_have_one_model_and_take_the_other_way():
    X = np.random.default_rng(0).normal(size=(30, 4))
    model = TopDown(decode="beam").fit(X, X[:, 0] > 0)
    assert model.models_.in_one_piece() is None
    assert (model.predict(X) == (X[:, 0] > 0)).mean() > 0.9
