"""Where work runs."""

from __future__ import annotations

from threadpoolctl import threadpool_info

from linnaeus.execution import one_blas_thread


def test_one_blas_thread_is_lifted_by_the_last_to_leave():
    def limits():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before = limits()
    with one_blas_thread():
        with one_blas_thread():
            assert limits() <= {1}
        assert limits() <= {1}
    assert limits() == before
