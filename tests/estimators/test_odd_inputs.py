"""Odd inputs to every estimator: each is answered rightly, or refused with the reason."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import linnaeus
from linnaeus import HBLR, CorrelatedMNL, OrthogonalTransfer, Taxonomy, TopDown
from linnaeus.errors import UserError
from linnaeus.estimators._ranked import Ranked
from marks import slow

# Few draws are enough for what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:The chains of CorrelatedMNL")
ESTIMATORS = [
    getattr(linnaeus, name)
    for name in linnaeus.__all__
    if isinstance(getattr(linnaeus, name), type) and hasattr(getattr(linnaeus, name), "fit")
]
CASES = {estimator.__name__: estimator for estimator in ESTIMATORS} | {
    "TopDown-logistic": partial(TopDown, loss="logistic"),
    "TopDown-multiclass": partial(TopDown, local="multiclass"),
    "CorrelatedMNL": partial(CorrelatedMNL, n_burn_in=150, n_samples=200),
    "OrthogonalTransfer": partial(OrthogonalTransfer, C=50.0),  # of the mean of 50 losses
    "TopDown-softmax": partial(TopDown, local="multiclass", loss="logistic"),
}
TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), ("B", "b3")]
)
OVER_NODES = ("GraphM3", "HM3", "HierarchicalRLS")  # their classes are all nodes
CLOSE = {"rtol": 1e-7, "atol": 1e-7}
ROUNDING = 1e-9  # the gap of a closed form


@pytest.fixture(params=CASES.items(), ids=CASES)
def make(request):
    """A class that is made with a seed, and without the parameters that it does not have."""
    name, kind = request.param
    known = kind().get_params()

    def make(*arguments, **parameters):
        parameters = {"random_state": 0} | parameters
        return kind(*arguments, **{k: v for k, v in parameters.items() if k in known})

    make.name, make.known = name, known
    make.classes = TAX.nodes if name in OVER_NODES else TAX.leaves
    return make


FITTED: dict = {}


def fitted(make, X, y):
    """A model of plain numbers, fitted once for all tests that compare with it."""
    key = make.name, X.tobytes()
    if key not in FITTED:
        FITTED[key] = make(TAX).fit(X.copy(), y)
    return FITTED[key]


def points(n: int = 50, d: int = 8):
    """Five groups that are easy to tell."""
    rng = np.random.default_rng(0)
    label = np.resize(np.arange(5), n)
    X = 2 * rng.normal(size=(5, d))[label] + rng.normal(size=(n, d))
    return X, np.array(TAX.leaves)[label]


def quiet_fit(model, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **more)


def weights(model) -> np.ndarray:
    coef = model.coef_
    return coef.toarray() if sp.issparse(coef) else np.asarray(coef)


def certificate(model) -> list[float]:
    """Objective, dual value and gap, as far as a method has them."""
    names = ("objective_", "dual_objective_", "gap_")
    return [getattr(model, name) for name in names if hasattr(model, name)]


def is_certified(model) -> bool:
    if isinstance(model, HBLR):
        return bool(model.posterior_.converged)
    if not hasattr(model, "gap_"):
        return True
    return bool(0 <= model.gap_ <= model.get_params().get("tol", ROUNDING))


# -- rows, columns and classes ---------------------------------------------------------------------


def test_a_row_of_zeros(make):
    X, y = points()
    X[7] = 0
    for data in (X, sp.csr_array(X)):
        model = make(TAX).fit(data, y)
        assert is_certified(model)
        assert np.isfinite(weights(model)).all()
        zero = np.zeros((1, 8))
        assert_allclose(model.decision_function(zero), model.decision_function(data[[7]]))
        assert model.predict(zero)[0] in TAX.leaves


def test_nothing_but_zeros(make):
    _, y = points()
    X = sp.csr_array((50, 8))
    model = quiet_fit(make(TAX), X, y)
    assert_array_equal(weights(model), 0)
    assert np.isfinite(model.decision_function(X)).all()
    assert len(set(model.predict(X))) == 1


@pytest.mark.parametrize("missing", [("b3",), ("a1", "a2"), ("a1", "b1", "b2")], ids=str)
def test_classes_without_examples(make, missing):
    X, y = points()
    kept = ~np.isin(y, missing)
    model = make(TAX).fit(X[kept], y[kept])
    assert is_certified(model)
    assert list(model.classes_) == sorted(set(TAX.leaves) - set(missing))
    assert model.targets_.names == tuple(make.classes)
    assert np.isfinite(weights(model)).all()
    assert (model.predict(X[kept]) == y[kept]).mean() > 0.9
    assert not set(model.predict(X[kept])) & set(missing)


def test_one_class_only(make):
    X, _ = points()
    y = np.full(50, "b1")
    ranks = isinstance(make(), Ranked)  # without a constant, -x ranks the other way round
    model = make(TAX, **({"fit_intercept": True} if ranks else {})).fit(X, y)
    assert is_certified(model)
    assert set(model.predict(X)) == {"b1"}
    with pytest.raises(UserError, match="only one class, 'b1'. Give examples of at least two, or"):
        make().fit(X, y)


def test_a_taxonomy_of_one_node(make):
    X, _ = points()
    model = make(Taxonomy.flat(["all"])).fit(X, np.full(50, "all"))
    assert is_certified(model)
    assert model.decision_function(X).shape == (50, 1)
    assert set(model.predict(X)) == {"all"}


def test_constant_features(make):
    X, y = points()
    X[:, 0] = 3.0
    X[:, 1] = 0.0
    model = make(TAX, tol=1e-3).fit(X, y)
    assert is_certified(model)
    assert np.isfinite(weights(model)).all()
    assert_allclose(weights(model)[:, 1], 0, atol=1e-12)
    assert (model.predict(X) == y).mean() > 0.8


def test_more_features_than_anything_else(make):
    """One row with 30,000 entries among rows with a few."""
    _, y = points(n=12)
    rng = np.random.default_rng(0)
    few = sp.csr_array((rng.normal(size=33), (np.arange(33) // 3, rng.integers(30_000, size=33))),
                       shape=(11, 30_000))  # fmt: skip
    wide = sp.csr_array(rng.normal(size=(1, 30_000)))
    X = sp.csr_array(sp.vstack([few, wide]))
    model = make(TAX).fit(X, y)
    assert is_certified(model)
    assert model.predict(wide)[0] == y[-1]
    assert np.isfinite(model.decision_function(X)).all()


# -- repeated rows and weights ---------------------------------------------------------------------


def test_a_row_given_twice_is_a_row_of_weight_two(make):
    if hasattr(make(), "partial_fit"):
        pytest.skip("takes no weights: every example counts as often as it is visited")
    if isinstance(make(), CorrelatedMNL):
        pytest.skip("other roundings make other draws; see test_corrmnl_estimator")
    X, y = points(n=25)
    tol = 1e-6
    weight = np.where(np.arange(25) % 3 == 0, 2.0, 1.0)
    again = np.repeat(np.arange(25), weight.astype(int))
    tight = partial(make, TAX, C=0.1, tol=tol, max_iter=5000, dtype="float64")
    a, b = tight().fit(X, y, sample_weight=weight), tight().fit(X[again], y[again])
    assert is_certified(a) and is_certified(b)
    assert_allclose(a.objective_, b.objective_, rtol=2 * tol)
    assert_allclose(a.decision_function(X), b.decision_function(X), atol=0.02)


# -- sizes of numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e4, 1e8, 1e20, 1e150, 1e160, 1e300])
def test_huge_and_tiny_values(make, scale):
    """An answer in finite numbers, with a warning where the gap is open; or the reason why not."""
    X, y = points(n=20, d=4)
    model, X = make(TAX, max_iter=30), scale * X
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model.fit(X, y)
    except UserError as error:
        assert scale > 1e10
        assert "Scale the rows to length 1, or the columns to a range near 1." in str(error)
        return
    assert scale < 1e155
    assert np.isfinite(weights(model)).all() and np.isfinite(model.intercept_).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(certificate(model)).all()
    warned = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    if "tol" in make.known:
        assert warned != is_certified(model)
    if scale == 1e4:  # a short chain draws otherwise on another processor; by chance: 0.2
        least = 0.5 if isinstance(model, CorrelatedMNL) else 0.7
        assert (model.predict(X) == y).mean() > least


def test_one_huge_column(make):
    X, y = points(n=20, d=4)
    X[:, 2] *= 1e8
    model = quiet_fit(make(TAX, max_iter=30), X, y)
    assert np.isfinite(weights(model)).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(certificate(model)).all()


def test_values_too_large_for_float32(make):
    if "dtype" not in make.known:
        pytest.skip("always in float64")
    X, y = points(n=20, d=4)
    with pytest.raises(UserError, match=r"values of size \de\+2\d, too large to be squared in flo"):
        make(TAX, dtype="float32").fit(1e25 * X, y)


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_what_is_not_a_number(make, value, name):
    X, y = points(n=20)
    model = fitted(make, X, y)
    X[3, 2] = value
    for data in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=f"X holds [+-]?{name} in row 3, column 2"):
            make(TAX).fit(data, y)
        with pytest.raises(ValueError, match=f"X holds [+-]?{name} in row 3, column 2"):
            model.predict(data)


@pytest.mark.slow
def test_float32_and_float64_agree(make):
    """With both of `dtype`, or else of the features alone."""
    if isinstance(make(), CorrelatedMNL):
        pytest.skip("other roundings make other draws")
    X, y = points()
    exact = make(TAX, tol=1e-4, dtype="float64").fit(X, y)
    for dtype in ("float32", "float64"):
        other = make(TAX, tol=1e-4, dtype=dtype).fit(X.astype(np.float32), y)
        assert_allclose(certificate(other)[:1], certificate(exact)[:1], rtol=3e-4)
        assert_allclose(
            other.decision_function(X.astype(np.float32)), exact.decision_function(X), atol=0.05
        )
        same = other.predict(X) == exact.predict(X)
        assert np.mean(same) >= 0.95  # but for ties within the rounding


# -- forms of the same matrix ----------------------------------------------------------------------


def with_explicit_zeros(X: np.ndarray) -> sp.csr_array:
    out = sp.csr_array(np.where(X == 0, 1.0, X))
    out.data[X.ravel() == 0] = 0.0
    return out


def unsorted_with_duplicates(X: np.ndarray) -> sp.csr_array:
    """Every entry in two halves, each row from right to left."""
    row, column = X.nonzero()
    value = X[row, column]
    order = np.lexsort((-column, row))
    row, column, value = (np.repeat(a[order], 2) for a in (row, column, value))
    ptr = np.searchsorted(row, np.arange(X.shape[0] + 1))
    return sp.csr_array((value / 2, column, ptr), shape=X.shape)


FORMS = {
    "csr": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "lists": lambda X: X.tolist(),
    "explicit zeros": with_explicit_zeros,
    "unsorted, duplicates": unsorted_with_duplicates,
}


@pytest.fixture(scope="module")
def whole():
    """Whole numbers, exact in every form, a third of them zero."""
    X, y = points(n=30)
    return np.where(np.random.default_rng(1).random(X.shape) < 0.3, 0.0, X.round()), y


# Rows are read in four ways, each by one of these; the others go one of them.
READERS = {"FlatLogistic", "FlatSVM", "HM3", "HierarchicalPerceptron"}


def by_reader(values, always):
    """Every case with some of the values; those that read rows in their own way, with all."""
    return pytest.mark.parametrize(
        ("make", "value"),
        [
            (case, value) if case[0] in READERS or value in always else slow(case, value)
            for case in CASES.items()
            for value in values
        ],
        indirect=["make"],
        ids=lambda value: value[0] if isinstance(value, tuple) else value,
    )


@by_reader(FORMS, always={"csr", "unsorted, duplicates"})
def test_the_form_of_a_matrix_does_not_matter(make, whole, value):
    X, y = whole
    given = FORMS[value](X)
    before = given.copy()
    plain, model = fitted(make, X, y), make(TAX).fit(given, y)
    assert_allclose(weights(model), weights(plain), **CLOSE)
    assert_allclose(certificate(model)[:1], certificate(plain)[:1])
    assert_allclose(model.decision_function(given), plain.decision_function(X), **CLOSE)
    assert_array_equal(model.predict(given), plain.predict(X))
    if sp.issparse(given):  # nothing was sorted or summed in place
        for now, then in zip(arrays(given), arrays(before), strict=True):
            assert_array_equal(now, then)


def arrays(X) -> tuple[np.ndarray, ...]:
    return (X.data, *X.coords) if X.format == "coo" else (X.data, X.indices, X.indptr)


@by_reader(["int64", "int8", "uint16", "bool"], always={"int64"})
def test_integers(make, whole, value):
    X, y = whole
    X = (abs(X) % 2 if value == "bool" else abs(X)).astype(value)
    plain, model = fitted(make, X.astype(float), y), make(TAX).fit(X, y)
    assert_array_equal(weights(model), weights(plain))
    assert_array_equal(model.predict(sp.csr_array(X)), plain.predict(X.astype(float)))


# -- repetition ------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(make, whole):
    X, y = whole
    model = make(TAX)
    first = weights(model.fit(X, y)), model.intercept_.copy(), model.predict(X)
    others = [model.fit(X, y), make(TAX).fit(X, y)]
    if "n_jobs" in make.known:
        others += [make(TAX, n_jobs=n).fit(X, y) for n in (1, 2)]
    for other in others:
        assert_array_equal(weights(other), first[0])
        assert_array_equal(other.intercept_, first[1])
        assert_array_equal(other.predict(X), first[2])


WITH_COST = [name for name, case in CASES.items() if "C" in case(TAX).get_params()]


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("name", WITH_COST)
def test_a_cost_that_is_no_positive_number_is_refused(name, value):
    model = CASES[name](TAX).set_params(C=value)
    with pytest.raises(UserError, match=f"C is {value}. (It must be|Use) a positive number"):
        model.fit(np.eye(5), list(TAX.leaves))
