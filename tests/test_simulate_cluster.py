"""The simulated cluster against closed forms: sums, greedy bounds, saturation, failures."""

import doctest
import math
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import linnaeus
from linnaeus import execution
from linnaeus.estimators import svm as svm_estimator
from linnaeus.solvers.linear import svm

sys.path.append(str(Path(__file__).resolve().parent.parent))

from benchmarks import bench_growth as growth
from benchmarks import cluster, limits, scale, simulate_cluster
from benchmarks import cluster_tasks as tasks
from benchmarks.cluster import (
    Cluster,
    Job,
    Phase,
    best_machines,
    greedy_bounds,
    saturation,
    simulate,
)
from benchmarks.scale import Sizes

times = st.lists(st.floats(0.0, 10.0), min_size=1, max_size=30)


def flat(seconds, **more):
    return Job([Phase(seconds, **more)])


@given(times)
def test_one_worker_takes_the_sum(seconds):
    assert simulate(flat(seconds), Cluster()).seconds == pytest.approx(sum(seconds))


@given(times, st.integers(1, 4), st.integers(1, 4))
def test_several_workers_keep_the_greedy_bounds(seconds, machines, cores):
    found = simulate(flat(seconds), Cluster(machines, cores))
    least, most = greedy_bounds(seconds, machines * cores)
    assert least - 1e-9 <= found.seconds <= most + 1e-9
    assert found.busy == pytest.approx(sum(seconds)) and found.lost == 0 and found.moved == 0


@given(times, st.integers(1, 6))
def test_greedy_is_that_of_a_plain_loop(seconds, workers):
    free = [0.0] * workers
    for s in seconds:
        k = free.index(min(free))
        free[k] += s
    assert simulate(flat(seconds), Cluster(cores=workers)).seconds == pytest.approx(max(free))


def test_equal_tasks_take_whole_waves():
    assert simulate(flat([2.0] * 7), Cluster(3, 1)).seconds == pytest.approx(6.0)


@given(st.lists(times, min_size=1, max_size=4), st.floats(0, 2))
def test_phases_wait_for_each_other_and_for_the_driver(phases, driver):
    job = Job([Phase(seconds, driver=driver) for seconds in phases])
    everybody = simulate(job, Cluster(cores=30)).seconds
    assert everybody == pytest.approx(sum(map(max, phases)) + driver * len(phases))
    assert simulate(job, Cluster()).seconds == pytest.approx(job.work)


def test_one_transfer_takes_latency_and_the_narrower_link():
    job = flat([1.0], bytes_in=100.0)
    for bandwidth, server in ((10.0, 50.0), (50.0, 10.0)):
        found = simulate(job, Cluster(latency=0.5, bandwidth=bandwidth, server=server))
        assert found.seconds == pytest.approx(0.5 + 10.0 + 1.0) and found.moved == 100.0


def test_shared_data_come_once_a_machine_and_broadcasts_once_a_phase():
    job = Job([Phase([1.0] * 8, broadcast=3.0)] * 2, shared=10.0)
    found = simulate(job, Cluster(machines=2, cores=2, server=1.0))
    assert found.moved == 2 * (10 + 3 + 3)
    assert found.seconds > 2 * 13  # the second machine waits for the first one's


@pytest.mark.parametrize("n_bytes", [10.0, 40.0])
def test_speed_up_ends_where_the_server_is_saturated(n_bytes):
    """Beyond that point throughput is bandwidth / bytes; far below it is N / (t + b/s)."""
    t, server, n_tasks = 1.0, 100.0, 4000
    job, limit = flat([t] * n_tasks, bytes_out=n_bytes), saturation(t, n_bytes, server)
    assert limit == pytest.approx(1 + t * server / n_bytes)
    few = max(1, int(limit // 2))
    slow = simulate(job, Cluster(few, 1, server=server)).seconds
    assert slow == pytest.approx(n_tasks * (t + n_bytes / server) / few, rel=0.03)
    for workers in (int(2 * limit), int(8 * limit)):
        fast = simulate(job, Cluster(workers, 1, server=server)).seconds
        assert fast == pytest.approx(n_tasks * n_bytes / server, rel=0.03)


def test_dispatch_bounds_the_rate_of_tasks():
    found = simulate(flat([0.001] * 1000), Cluster(cores=500, dispatch=0.01))
    assert found.seconds == pytest.approx(10.0, rel=0.01)


def test_loading_the_data_sets_the_best_number_of_machines():
    job = Job([Phase([0.5] * 4000)], shared=4.0)
    best, seconds = best_machines(job.work, 4.0, 2.0, cores=2)

    def at(machines):
        return simulate(job, Cluster(machines, 2, server=2.0)).seconds

    assert at(round(best)) == pytest.approx(seconds, rel=0.05)
    few = round(best / 3)
    assert at(few) == pytest.approx(job.work / (2 * few) + few + 1, rel=0.05)
    assert at(few) > 1.5 * at(round(best)) and at(round(3 * best)) > 0.95 * at(round(best))


def test_without_bytes_nothing_saturates():
    assert math.isinf(saturation(1.0, 0.0, 1.0))


@settings(max_examples=20)
@given(st.integers(0, 5))
def test_equal_seeds_give_equal_outcomes_and_rate_zero_none(seed):
    job = flat(np.linspace(1, 40, 60))
    rough = Cluster(3, 2, failures=30.0, restart=5.0, seed=seed)
    assert simulate(job, rough) == simulate(job, rough)
    calm = rough._replace(failures=0.0)
    found = simulate(job, calm)
    assert found.n_failures == found.n_redone == 0 and found.lost == 0.0
    assert found.seconds == simulate(job, calm._replace(seed=99)).seconds


def failing(rate, **more):
    """Means over seeds of a job of 400 tasks of 10 s on 4 x 2 cores."""
    job = flat([10.0] * 400)
    runs = [simulate(job, Cluster(4, 2, failures=rate, seed=s, **more)) for s in range(40)]
    return np.mean([run[:5] for run in runs], axis=0)


def test_failures_cost_what_their_rate_says():
    """Machines fail rate x hours times; each time two tasks are lost, half done on average."""
    rate = 20.0
    seconds, busy, lost, n_failures, n_redone = failing(rate)
    assert busy == pytest.approx(4000.0)
    assert n_failures == pytest.approx(4 * rate * seconds / 3600, rel=0.1)
    assert n_redone == pytest.approx(2 * n_failures, rel=0.05)
    assert lost == pytest.approx(n_redone * 5.0, rel=0.1)
    assert seconds == pytest.approx((busy + lost) / 8, rel=0.03)
    assert failing(2 * rate)[2] == pytest.approx(2 * lost, rel=0.2)


def test_a_restart_takes_the_cores_away():
    quick, slow = (failing(20.0, restart=restart)[0] for restart in (0.0, 30.0))
    down = 20.0 / 3600 * 30.0  # the share of time that a machine is away, to first order
    assert slow == pytest.approx(quick * (1 + down), rel=0.05)


def test_results_that_are_not_written_are_made_again():
    kept, gone = (failing(5.0, kept=kept) for kept in (True, False))
    assert gone[2] > 5 * kept[2] and gone[0] > 1.1 * kept[0]
    assert gone[1] == pytest.approx(kept[1])


def test_a_machine_that_failed_loads_its_data_again():
    job = Job([Phase([10.0] * 100)], shared=50.0)
    found = simulate(job, Cluster(2, 1, server=1e9, failures=60.0, seed=1))
    assert found.n_failures > 3
    assert 100 + 50 * (found.n_failures - 2) <= found.moved <= 100 + 50 * found.n_failures


@pytest.mark.parametrize("module", [cluster, scale, growth])
def test_examples_in_the_docstrings(module):
    assert doctest.testmod(module).failed == 0


# -- formulas and measurements ---------------------------------------------------------------


KNOWN = scale.Constants(
    nonzero=2.0, feature=20.0, nonzero_high=6.0, visits=1.2, ratio=2.0, ratio_high=3.0,
    kept=1000.0, support=500.0, touched=5000.0, task_row=4.0, answer_row=4.0, node=700.0,
    json_class=20.0, pair=2e-5, spread=[0.8, 1.0, 1.2],
    calls={"first_visit": [16, 64, 1.0], "visit": [96, 384, 4.0], "sweep": [2, 128, 1.0]},
    call_blocks=64,
)  # fmt: skip
SOME = Sizes(6400, 10_000, 3_000, 600_000, 8_000, 20_000)


def test_work_is_that_of_the_formula():
    flat, recursive = (scale.estimate(SOME, KNOWN, m) for m in ("flat", "recursive"))
    seconds = 1e-9 * 6400 * (2 * 600_000 + 20 * 3_000)
    assert flat.core_hours == pytest.approx(seconds / 3600)
    assert flat.core_hours_high == pytest.approx(1e-9 * 6400 * 6 * 600_000 / 3600)
    assert recursive.core_hours == pytest.approx(2 * flat.core_hours)
    assert recursive.weights == pytest.approx(8 * 1000 * (6400 + 2 * 1600))
    assert flat.memory(4) == flat.examples + 4 * flat.block and flat.files == 200


def test_jobs_hold_all_the_work():
    flat = scale.flat_job(SOME, KNOWN)
    assert flat.work == pytest.approx(3600 * scale.estimate(SOME, KNOWN).core_hours)
    recursive = scale.recursive_job(SOME, KNOWN)
    assert recursive.work == pytest.approx(2 * flat.work)
    assert [len(p.seconds) for p in recursive.phases] == [12] * (16 + 96) + [200] * 2
    pairs = scale.recursive_job(SOME, KNOWN, quadratic=True).work - recursive.work
    assert pairs == pytest.approx((16 + 96) * 2e-5 * 12**2 / 2)


def test_a_running_block_takes_what_the_formula_says():
    X = sp.csr_array(sp.random(300, 200, 0.1, random_state=0, dtype=np.float32))
    Y = sp.csr_array(np.eye(32, dtype=np.int8)[np.arange(300) % 32])
    options = svm.SvmOptions(True, 1.0, 1e-2, 5, 0, 0.0, False)
    shared = svm.shared_arrays(X, np.ones(300), 1.0, np.float32)
    (task,) = svm._tasks(Y, 1.0, 1.0, None, None, None, np.float32, options)
    run = svm.SvmRun(*shared[:3], 200, task)
    large = [run.sign, run.alpha, run.needed, run.kept, run.W, run.WT]
    sizes = Sizes(32, 300, 200, X.nnz, 40, 300)
    assert sum(array.nbytes for array in large) == scale.estimate(sizes, KNOWN).block
    assert tasks.n_bytes(shared) == scale.estimate(sizes, KNOWN).examples + 8  # one pointer more


def test_a_limit_is_met_where_its_amount_is():
    found = {limit.what: limit for limit in limits.limits(KNOWN)}
    dense = found["dense weights of the classes"]
    times = limits.MACHINE / (4 * 6400 * 3_000)
    assert dense.reached(SOME) == pytest.approx(times, rel=1e-3)
    nonzeros = found["nonzeros of X, counted by 32 bits"]
    assert nonzeros.reached(SOME) == pytest.approx(2**31 / 600_000, rel=1e-3)
    tasks_ = found["tasks under way and their answers"]  # no more of them with more classes
    times = limits.MACHINE / (8 * 1e4 * scale.IN_HAND)
    assert tasks_.reached(SOME) == pytest.approx(times, rel=1e-2)


@pytest.mark.parametrize("name", ["FlatSVM", "RecursiveSVM"])
def test_a_watched_fit_is_the_same_and_replays_to_its_own_work(name):
    taxonomy, X, y = tasks.made_up(200, 300, 70, 15)
    make = partial(getattr(linnaeus, name), taxonomy, tol=0.1, random_state=0)
    fit, plain = make(n_jobs=2), make().fit(X, y)
    found = tasks.fitted(fit, X, y)
    assert np.array_equal(fit.coef_, plain.coef_)
    assert svm_estimator.executor is execution.executor  # nobody is watched any more
    assert {len(call.tasks) for call in found.calls} <= {1, 2, 3}
    assert all(task.bytes_in > 0 and task.cpu >= 0 for call in found.calls for task in call.tasks)
    assert simulate(found.job(), Cluster()).seconds >= found.cpu - 1e-9
    assert simulate(found.replay(2), Cluster(cores=2)).seconds > 0
    alone = tasks.fitted(make(n_jobs=1), X, y)
    assert simulate(alone.replay(1), Cluster()).seconds <= alone.wall + 1e-9


def test_the_command_tells_what_is_needed(monkeypatch):
    monkeypatch.setattr(scale.Constants, "measured", classmethod(lambda cls: KNOWN))
    words = ["--classes", "1e5", "--rows", "2e5", "--nonzeros", "12e6", "--features", "2e5"]
    words += ["--machines", "8"]
    flat = simulate_cluster.answer(words)
    assert "100,000 classes, 200,000 rows, 200,000 features" in flat and "on 8 x 8 cores" in flat
    assert "files              3,125" in flat
    assert "recursive" in simulate_cluster.answer([*words, "--method", "recursive"])


# -- growth ----------------------------------------------------------------------------------


def test_sizes_that_the_budget_does_not_allow_are_left_out(monkeypatch):
    monkeypatch.setattr(growth, "fit_seconds", lambda name, data, **options: data.X.shape[0] / 100)
    plan = growth.Plan(["FlatSVM"], {"examples": [100, 200, 400]}, {"examples": 1, "classes": 5,
                       "nonzeros": 10}, 100, 2, 4.0, {})  # fmt: skip
    rows = growth.measured(plan)
    assert [row[2:5] for row in rows] == [[100, 1.0, None], [200, 2.0, 2.0]]
    assert growth.exponents(rows)["examples"]["FlatSVM"] == pytest.approx([1.0, 1.0])


def test_variables_choose_what_grows(monkeypatch):
    for name, value in {"CLASSES": "10,20", "NONZEROS": "", "OPTIONS": '{"A": {"b": 1}}'}.items():
        monkeypatch.setenv(name, value)
    plan = growth.Plan.asked()
    assert plan.sizes["classes"] == [10, 20] and "nonzeros" not in plan.sizes
    assert plan.options == {"A": {"b": 1}}
    assert growth.variables() == """CLASSES=10,20 NONZEROS= OPTIONS='{"A": {"b": 1}}'"""


def test_the_larger_half_has_an_exponent_of_its_own():
    rows = [["m", "classes", k, s] for k, s in ((1, 1.0), (2, 1.0), (4, 2.0), (8, 4.0))]
    whole, half = growth.exponents(rows)["classes"]["m"]
    assert half == pytest.approx(1.0) and whole < 1


def test_noise_is_the_spread_of_one_fit_over_the_axes():
    rows = [["m", "classes", 5, 2.0], ["m", "classes", 9, 7.0], ["m", "examples", 8, 3.0]]
    assert growth.noise(rows, {"classes": 5, "examples": 8}) == {"m": 1.5}
