"""Fits and predictions that are killed at random moments end with the same bits.

LINNAEUS_KILLS says how many kills there are of each kind (3 if not set); there are hundreds in
`python -m benchmarks kills`, which publishes what came of them.
"""

from __future__ import annotations

import os

import pytest

from benchmarks import killing

KILLS = int(os.environ.get("LINNAEUS_KILLS", "3"))


def check(outcomes):
    """All ended with the same bits."""
    found = list(outcomes)
    assert found and {one.outcome for one in found} == {"same"}, found


@pytest.mark.faults
@pytest.mark.parametrize("kind", killing.KINDS)
def test_a_driver_that_is_killed_again_and_again_ends_with_the_same_bits(kind):
    check(killing.kill_drivers(KILLS, (kind,)))


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore")
class TestCluster:
    @pytest.fixture(autouse=True)
    def ray(self):
        pytest.importorskip("ray")

    def test_a_driver_on_a_cluster_ends_with_the_same_bits(self):
        with killing.two_machines() as cluster:
            check(killing.kill_drivers(KILLS, ("FlatSVM", "predict"), (("ray", cluster.address),)))

    def test_work_survives_the_loss_of_workers(self):
        check(killing.kill_workers(KILLS))

    def test_work_survives_the_loss_of_a_machine(self):
        check(killing.kill_machines(max(1, KILLS // 3)))
