"""Time and memory of work."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

from linnaeus.experiments import cost
from linnaeus.experiments.cost import GROWTH, PEAK, array_bytes, mean_cost, measure


def test_time_is_that_of_the_work():
    result, found = measure(lambda: time.sleep(0.05) or "done")
    assert result == "done"
    assert 0.05 <= found.wall_seconds < 5
    assert found.cpu_seconds < found.wall_seconds


def test_memory_is_that_of_the_work_alone():
    def work(n):
        return float(np.ones(n).sum())

    _, large = measure(lambda: work(8_000_000))
    if large.memory_by != PEAK:
        pytest.skip("the peak cannot be set back on this system")
    _, small = measure(lambda: work(10))
    assert 60e6 < large.memory_bytes < 90e6
    assert small.memory_bytes < 8e6


def test_where_the_peak_cannot_be_set_back_its_growth_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(cost, "_CLEAR", tmp_path / "no" / "such" / "file")
    _, found = measure(lambda: None)
    assert found.memory_by == GROWTH
    assert found.memory_bytes == 0


def test_errors_pass_through():
    with pytest.raises(KeyboardInterrupt):
        measure(lambda: (_ for _ in ()).throw(KeyboardInterrupt))


def test_means_and_the_largest_memory():
    costs = [cost.Cost(1.0, 2.0, 10.0, PEAK), cost.Cost(3.0, 4.0, 5.0, PEAK)]
    assert mean_cost(costs) == cost.Cost(2.0, 3.0, 10.0, PEAK)


def test_arrays_are_counted_once_at_any_depth():
    a = np.zeros(10)
    matrix = sp.csr_array(np.eye(4))
    parts = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    assert array_bytes({"a": a, "again": [a, (a,)], "m": matrix, "text": "x"}) == 80 + parts


def test_the_arrays_of_a_fitted_estimator_are_found():
    from linnaeus import FlatSVM

    model = FlatSVM(random_state=0).fit(np.eye(3), ["a", "b", "c"])
    assert array_bytes(model) >= model.coef_.nbytes
