"""MulticlassSVM and MulticlassLogistic: one class is answered, in the form that was taught."""

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus import MulticlassLogistic, MulticlassSVM, Taxonomy

TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2")]
)
BOTH = pytest.mark.parametrize("estimator", [MulticlassSVM, MulticlassLogistic])


def points(n=40, d=5, seed=0):
    """Classes that overlap: many examples have no positive score, or several."""
    rng = np.random.default_rng(seed)
    t = np.resize(np.arange(4), n)
    return rng.normal(size=(4, d))[t] + 1.5 * rng.normal(size=(n, d)), t


@BOTH
def test_an_indicator_is_answered_by_the_best_class_alone(estimator):
    X, t = points()
    Y = np.eye(4, dtype=int)[t]
    model = estimator(random_state=0).fit(X, Y)
    scores, predicted = model.decision_function(X), model.predict(X)
    assert ((scores > 0).sum(axis=1) != 1).any()  # signs alone would say something else
    assert (predicted.sum(axis=1) == 1).all()
    assert (predicted.argmax(axis=1) == scores.argmax(axis=1)).all()
    plain = estimator(random_state=0).fit(X, t)
    assert (plain.predict(X) == predicted.argmax(axis=1)).all()


@BOTH
def test_two_columns_are_answered_by_one(estimator):
    X, t = points()
    model = estimator(random_state=0).fit(X, np.eye(2, dtype=int)[t % 2])
    predicted = model.predict(X)
    assert predicted.shape == (40, 2) and (predicted.sum(axis=1) == 1).all()
    assert (predicted.argmax(axis=1) == model.decision_function(X).argmax(axis=1)).all()


@BOTH
def test_with_a_taxonomy_the_ancestors_come_back_where_they_were_taught(estimator):
    X, t = points()
    names = np.array(TAX.leaves)[t]
    plain = estimator(TAX, random_state=0).fit(X, names).predict(X)
    single = estimator(TAX, random_state=0).fit(X, TAX.encode(names)).predict(X)
    assert sp.issparse(single) and [one for (one,) in TAX.decode(single)] == list(plain)
    closed = estimator(TAX, random_state=0).fit(X, TAX.closure(TAX.encode(names))).predict(X)
    assert (closed != TAX.closure(TAX.encode(plain))).nnz == 0
    assert (np.diff(closed.indptr) == 3).all()  # a leaf, its parent and the root
