"""A cluster as a discrete-event simulation: tasks over machines with a network that may fail.

A job is a list of phases. Workers (machines x cores) take the tasks of a phase in order, as they
become free; the next phase begins when all are done and the driver has made its step. One phase is
the shape of independent blocks, many are the rounds of a recursive model.

Every machine has a link, and so has the server (the driver, or the file system), each way. A
transfer waits for both links, first come first served, and takes each of them for its bytes by its
bandwidth. A machine that fails loses what it is working on and what it has in memory; that work is
done again by whoever is free. Results that are written are kept. Equal seeds give equal outcomes.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Handler = Callable[[int, int], None]  # what happens to a machine and a task


class Cluster(NamedTuple):
    """Machines and what connects them; bandwidths in bytes a second, each way."""

    machines: int = 1
    cores: int = 1
    latency: float = 0.0  # seconds that a message takes beside its bytes
    bandwidth: float = math.inf  # of each machine
    server: float = math.inf  # of the driver or the file system
    dispatch: float = 0.0  # seconds of the driver for each task
    failures: float = 0.0  # per machine and hour
    restart: float = 0.0  # seconds until a machine that failed works again
    kept: bool = True  # whether results survive the machine that made them, as files do
    seed: int = 0

    @property
    def workers(self) -> int:
        return self.machines * self.cores


class Phase(NamedTuple):
    """Tasks side by side, then a step of the driver."""

    seconds: Sequence[float]  # of each task on one core
    bytes_in: float = 0.0  # of each task
    bytes_out: float = 0.0
    broadcast: float = 0.0  # bytes to each machine before its first task of the phase
    driver: float = 0.0  # seconds of the driver at the end


class Job(NamedTuple):
    """Phases one after the other."""

    phases: list[Phase]
    shared: float = 0.0  # bytes that each machine loads once, and again after it failed

    @property
    def work(self) -> float:
        """Seconds on one core, the network and failures left out."""
        return sum(float(np.sum(phase.seconds)) + phase.driver for phase in self.phases)


class Outcome(NamedTuple):
    """What came of a job."""

    seconds: float  # from the first to the last
    busy: float  # core-seconds of tasks that were kept
    lost: float  # core-seconds of tasks that a failure ended or undid
    n_failures: int
    n_redone: int
    moved: float  # bytes over the server's link, both ways


def simulate(job: Job, cluster: Cluster) -> Outcome:
    """Run a job on a cluster."""
    run = _Run(job, cluster)
    for number, phase in enumerate(job.phases):
        run.phase(number, phase)
    return Outcome(run.now, run.busy, run.lost, run.n_failures, run.n_redone, run.moved)


class _Machine:
    """What a machine has, and is doing."""

    def __init__(self) -> None:
        self.life = 0  # events of earlier lives count no more
        self.phase = -1  # the last whose broadcast it has
        self.ready = 0.0  # when its data are there
        self.loaded = False
        self.link = {"in": 0.0, "out": 0.0}  # when it is free
        self.running: dict[int, float] = {}  # tasks, and since when they compute
        self.made: list[int] = []  # tasks of this phase that are done


class _Run:
    """A job while it runs: a clock, a heap of what comes, and the tasks that wait."""

    def __init__(self, job: Job, cluster: Cluster) -> None:
        self.job, self.cluster, self.now, self.driver = job, cluster, 0.0, 0.0
        self.rng = np.random.default_rng(cluster.seed)
        self.machines = [_Machine() for _ in range(cluster.machines)]
        self.link = {"in": 0.0, "out": 0.0}  # of the server
        self.events: list[tuple[float, int, Handler, int, int, int]] = []
        self.n_events, self.left = 0, 0
        self.waiting: deque[int] = deque()
        self.idle = deque((m, 0) for _ in range(cluster.cores) for m in range(cluster.machines))
        self.busy = self.lost = self.moved = 0.0
        self.n_failures = self.n_redone = 0
        for m in range(cluster.machines):
            self._expect_failure(m, 0.0)

    def phase(self, number: int, phase: Phase) -> None:
        """All tasks, and the driver's step."""
        self.current, self.number = phase, number
        self.seconds = np.asarray(phase.seconds, dtype=float).tolist()
        while self.events and self.events[0][0] <= self.now:
            self._next()  # what failed while the driver worked
        self.left, self.waiting = len(self.seconds), deque(range(len(self.seconds)))
        for machine in self.machines:
            machine.made = []
        self._assign()
        while self.left:
            self._next()
        self.now += phase.driver

    # -- events -----------------------------------------------------------------------------

    def _at(self, time: float, what: Handler, m: int, task: int = -1) -> None:
        self.n_events += 1  # ties go to what was said first
        life = self.machines[m].life
        heapq.heappush(self.events, (time, self.n_events, what, m, life, task))

    def _next(self) -> None:
        time, _, what, m, life, task = heapq.heappop(self.events)
        if life == self.machines[m].life:
            self.now = max(self.now, time)
            what(m, task)

    def _computed(self, m: int, task: int) -> None:
        self._at(self._send("out", m, self.now, self.current.bytes_out), self._written, m, task)

    def _written(self, m: int, task: int) -> None:
        machine = self.machines[m]
        del machine.running[task]
        machine.made.append(task)
        self.busy += self.seconds[task]
        self.left -= 1
        self.idle.append((m, machine.life))
        self._assign()

    def _failed(self, m: int, task: int) -> None:
        machine, n_before = self.machines[m], len(self.waiting)
        self.n_failures += 1
        for number, since in machine.running.items():
            self.lost += min(max(self.now - since, 0.0), self.seconds[number])
            self.waiting.appendleft(number)
        if not self.cluster.kept and self.left:
            self._undo(machine)
        self.n_redone += len(self.waiting) - n_before
        machine.life += 1
        machine.running, machine.made, machine.loaded, machine.phase = {}, [], False, -1
        self._at(self.now + self.cluster.restart, self._up, m)
        self._assign()

    def _undo(self, machine: _Machine) -> None:
        """Results that only this machine had."""
        undone = sum(self.seconds[task] for task in machine.made)
        self.busy, self.lost = self.busy - undone, self.lost + undone
        self.left += len(machine.made)
        self.waiting.extendleft(machine.made)

    def _up(self, m: int, task: int) -> None:
        self._expect_failure(m, self.now)
        self.idle.extend((m, self.machines[m].life) for _ in range(self.cluster.cores))
        self._assign()

    def _expect_failure(self, m: int, since: float) -> None:
        if self.cluster.failures > 0:
            wait = self.rng.exponential(3600.0 / self.cluster.failures)
            self._at(since + wait, self._failed, m)

    # -- work and transfers -----------------------------------------------------------------

    def _assign(self) -> None:
        """Tasks that wait to cores that are free."""
        while self.waiting and self.idle:
            m, life = self.idle.popleft()
            if life == self.machines[m].life:
                self._begin(m, self.waiting.popleft())

    def _begin(self, m: int, task: int) -> None:
        machine, phase = self.machines[m], self.current
        self.driver = max(self.driver, self.now) + self.cluster.dispatch
        self._load(m)
        arrived = self._send("in", m, self.driver, phase.bytes_in)
        start = max(arrived, machine.ready)
        machine.running[task] = start
        self._at(start + self.seconds[task], self._computed, m, task)

    def _load(self, m: int) -> None:
        """What all tasks of a machine share: once in its life, and once a phase."""
        machine = self.machines[m]
        n_bytes = 0.0 if machine.loaded else self.job.shared
        n_bytes += 0.0 if machine.phase == self.number else self.current.broadcast
        machine.loaded, machine.phase = True, self.number
        machine.ready = max(machine.ready, self._send("in", m, self.driver, n_bytes))

    def _send(self, way: str, m: int, time: float, n_bytes: float) -> float:
        """When so many bytes have arrived; none take no time."""
        if n_bytes <= 0:
            return time
        mine, cluster = self.machines[m].link, self.cluster
        first = max(time, self.link[way])
        self.link[way] = first + n_bytes / cluster.server
        mine[way] = max(self.link[way], max(first, mine[way]) + n_bytes / cluster.bandwidth)
        self.moved += n_bytes
        return mine[way] + cluster.latency


def saturation(seconds: float, n_bytes: float, server: float) -> float:
    """The number of workers beyond which tasks of that length wait for the server's link.

    A worker computes for t seconds and then moves b bytes: (t + b / s) / (b / s) of them keep a
    link of s bytes a second busy.

    >>> saturation(9.0, 100.0, 100.0)
    10.0
    """
    return math.inf if n_bytes <= 0 else seconds * server / n_bytes + 1.0


def greedy_bounds(seconds: Any, workers: int) -> tuple[float, float]:
    """Within what the time of independent tasks lies, taken in any order by whoever is free.

    At least the mean load and the longest task; at most the mean load and what is left of one task
    (Graham): sum / N + (1 - 1 / N) max.
    """
    load, longest = float(np.sum(seconds)) / workers, float(np.max(seconds))
    return max(load, longest), load + (1 - 1 / workers) * longest


def best_machines(work: float, shared: float, server: float, cores: int) -> tuple[float, float]:
    """How many machines are best where each loads its data from one server, and the seconds.

    The i-th begins after i X / s seconds (X bytes, s a second), so W core-seconds on m machines of
    c cores end after W / (m c) + (m + 1) X / (2 s). Beyond m = (2 W s / (c X))^(1/2) the last ones
    get their data when all is done.

    >>> best_machines(work=5000.0, shared=1.0, server=1.0, cores=1)
    (100.0, 100.5)
    """
    m = math.sqrt(2 * work * server / (cores * shared))
    return m, work / (m * cores) + (m + 1) * shared / (2 * server)
