"""Where work runs."""

from __future__ import annotations

from threadpoolctl import threadpool_info

from linnaeus.execution import engines, one_blas_thread


def test_one_blas_thread_is_lifted_by_the_last_to_leave():
    def limits():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before = limits()
    with one_blas_thread():
        with one_blas_thread():
            assert limits() <= {1}
        assert limits() <= {1}
    assert limits() == before


def test_libraries_of_linear_algebra_are_not_looked_for_every_time(monkeypatch):
    looked = []
    find = engines.ThreadpoolController
    monkeypatch.setattr(engines, "ThreadpoolController", lambda: looked.append(0) or find())
    for _ in range(5):
        with one_blas_thread():
            pass
    assert len(looked) <= 1
