"""The driver of rounds: when it stops, what it writes down, and sums of traces."""

import pytest

from linnaeus.solvers.numerics.rounds import Rounds, joined_traces, record


def halved(rounds, objective=8.0):
    """Rounds whose gap is 4, 2, 1, ..."""
    gap = 8.0
    for _ in rounds:
        gap /= 2
        rounds.note(objective, gap)
    return rounds


def test_rounds_go_on_until_the_gap_is_small_enough():
    rounds = halved(Rounds(100, tol=0.25))
    assert rounds.n == 2 and rounds.done
    assert [entry["gap"] for entry in rounds.trace] == [0.5, 0.25]
    assert rounds.gap == rounds.target == 2.0


def test_there_are_as_many_rounds_as_allowed():
    rounds = halved(Rounds(3, tol=1e-9))
    assert rounds.n == len(rounds.trace) == 3
    assert not rounds.done and not rounds.go_on() and rounds.left == 0
    assert halved(Rounds(0)).trace == []


def test_a_round_that_ends_early_counts():
    rounds = Rounds(10)
    for n in rounds:
        if n == 2:
            break
    assert rounds.n == 2


@pytest.mark.parametrize(("objective", "n"), [(1e-3, 4), (-1e-3, 4), (-16.0, 1)])
def test_small_objectives_count_as_much_as_the_floor(objective, n):
    assert halved(Rounds(100, tol=0.25, floor=2.0), objective).n == n


def test_a_trace_is_in_the_units_of_the_caller_and_its_gap_is_relative():
    rounds = Rounds(1, tol=0.25, unit=4.0)
    assert rounds.note(32.0, 8.0, psi=0.5)
    assert rounds.trace[0] == {
        "seconds": rounds.trace[0]["seconds"], "objective": 8.0, "gap": 0.25, "psi": 0.5,
    }  # fmt: skip
    assert not rounds.note(2.0, 1.0)
    assert rounds.trace[1]["gap"] == 0.5  # of 0.5, however small


def test_other_certificates_say_themselves_when_they_are_done():
    rounds = Rounds(10)
    for n in rounds:
        rounds.enter(updates=float(3 - n))
        rounds.done = n == 3
    assert [entry["updates"] for entry in rounds.trace] == [2.0, 1.0, 0.0]
    seconds = [entry["seconds"] for entry in rounds.trace]
    assert seconds == sorted(seconds)


def test_a_restart_counts_anew_and_keeps_the_trace():
    rounds = halved(Rounds(100, tol=0.25))
    rounds.restart(1, 0.0)
    assert halved(rounds).n == 1
    assert len(rounds.trace) == 3


def test_traces_of_problems_side_by_side_add_up():
    short = [record(1.0, 4.0, 2.0)]
    long = [record(1.0, 10.0, 6.0), record(3.0, 6.0, 0.5)]
    total = joined_traces([short, long])
    assert [(t["seconds"], t["objective"]) for t in total] == [(2.0, 14.0), (4.0, 10.0)]
    assert [t["gap"] * t["objective"] for t in total] == pytest.approx([8.0, 2.5])
    assert [t["seconds"] for t in joined_traces([short, long], seconds=2.0)] == [1.0, 2.0]
