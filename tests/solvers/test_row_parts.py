"""Passes in parts of the rows: the same bits for any number of workers, and as without parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from linnaeus import HBLR, HM3, MulticlassLogistic, RecursiveLogistic, Taxonomy, execution
from linnaeus.execution import executor, values
from linnaeus.execution.engines import ENGINE
from linnaeus.solvers.markov import hm3
from linnaeus.solvers.numerics import row_parts
from linnaeus.solvers.numerics.examples import Rows
from linnaeus.solvers.numerics.row_parts import RowParts

TAX = Taxonomy.from_edges([("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1")])
CASES = {
    "rr-lr": lambda **o: RecursiveLogistic(TAX, C=0.5, **o),
    "rr-lr, exact": lambda **o: RecursiveLogistic(TAX, tol=1e-9, dtype="float64", **o),
    "hblr": lambda **o: HBLR(TAX, **o),
    "hblr, binary": lambda **o: HBLR(TAX, link="binary", **o),
    "hblr, paper": lambda **o: HBLR(TAX, schedule="paper", max_iter=3, **o),
    "hblr, parity": lambda **o: HBLR(TAX, schedule="parity", max_iter=3, **o),
    "mlr": lambda **o: MulticlassLogistic(TAX, C=0.3, **o),
    "mlr, large C": lambda **o: MulticlassLogistic(TAX, C=30.0, tol=1e-8, dtype="float64", **o),
    "hm3": lambda **o: HM3(TAX, **o),
    "hm3, kernel": lambda **o: HM3(TAX, kernel="precomputed", **o),
    "hm3, edges": lambda **o: HM3(TAX, slack="edge", **o),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    t = rng.integers(0, 3, size=90)
    X = np.abs(rng.normal(size=(90, 25)) * (rng.random((90, 25)) < 0.3))
    X[np.arange(90), t] += 1.0
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.array(TAX.leaves)[t]


@pytest.fixture
def small(monkeypatch):
    """Parts of a few rows, and the numbers of tasks that went to threads."""
    monkeypatch.setattr(row_parts, "LEAST", 64)
    monkeypatch.setattr(row_parts, "SUMS", 1)
    monkeypatch.setattr(hm3, "BLOCK", 32)
    monkeypatch.setattr(hm3, "PART", 8)
    sizes, own = [], execution.Threads.map

    def counted(self, function, references, blocks):
        sizes.append(len(blocks))
        return own(self, function, references, blocks)

    monkeypatch.setattr(execution.Threads, "map", counted)
    return sizes


def fitted(name, data, **options):
    X, y = data
    model = CASES[name](random_state=0, **options).fit(X @ X.T if "kernel" in name else X, y)
    return model, np.asarray(model.dual_coef_ if "kernel" in name else model.coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CASES)
def test_any_number_of_threads_gives_the_same_bits(name, data, small):
    one, W = fitted(name, data, n_jobs=1)
    assert not small
    for n in (2, 3):
        other, V = fitted(name, data, n_jobs=n)
        assert_array_equal(V, W)
        assert_array_equal(other.intercept_, one.intercept_)
    assert max(small) > 1  # threads had something to do


class Elsewhere(execution.Serial):
    """An engine whose tasks share no memory with the fit: all goes through files."""

    is_far = True

    def __init__(self, folder):
        self.folder, self.names = folder, []

    def sent(self, value):
        values.write(self.folder / "value", value)
        return values.read(self.folder / "value")

    def put(self, array):
        return self.sent(array)

    def map(self, function, references, blocks):
        if not getattr(function, "is_task", False):
            yield from super().map(function, references, blocks)
            return
        for block in blocks:
            self.names.append(function.__name__)
            yield self.sent(function(*references, self.sent(block)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [n for n in CASES if n.startswith("hblr")])
def test_far_workers_give_the_same_bits(name, data, small, tmp_path):
    here, W = fitted(name, data)
    elsewhere = Elsewhere(tmp_path)
    token = ENGINE.set(lambda n_jobs: elsewhere)
    try:
        there, V = fitted(name, data)
    finally:
        ENGINE.reset(token)
    assert_array_equal(V, W)
    assert_array_equal(there.intercept_, here.intercept_)
    assert {"_losses", "_products"} <= set(elsewhere.names)


@pytest.mark.parametrize("name", ["rr-lr, exact", "mlr, large C"])
def test_parts_find_the_same_optimum(name, data, request):
    whole, W = fitted(name, data)
    request.getfixturevalue("small")
    other, V = fitted(name, data)
    assert_allclose(other.objective_, whole.objective_, rtol=1e-7)
    assert_allclose(V, W, atol=1e-3)


@pytest.mark.parametrize("n_rows", [0, 1, 5, 200])
def test_parts_cover_every_row_once(n_rows, small):
    rng = np.random.default_rng(n_rows)
    X = sp.csr_array(rng.random((n_rows, 6)) * (rng.random((n_rows, 6)) < 0.5))
    over = RowParts(Rows.of(X, float), (6, 8), executor(2))
    seen = over.each(lambda part, rows: (part, rows.indptr.size - 1))
    assert [n for _, n in seen] == [part.stop - part.start for part, _ in seen]
    rows = np.concatenate([np.arange(n_rows)[part] for part, _ in seen])
    assert_array_equal(rows, np.arange(n_rows))
    total = np.ones(6)

    def add(part, rows, out):
        for i in range(rows.indptr.size - 1):
            here = slice(rows.indptr[i], rows.indptr[i + 1])
            out[rows.indices[here]] += rows.data[here]

    for _ in range(2):  # sums are used again
        over.summed(add, total)
    assert_allclose(total, 1 + 2 * X.sum(axis=0))
