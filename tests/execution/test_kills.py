"""Fits that are killed at random moments, and started again until they end: the same bits.

LINNAEUS_KILLS says how many kills there are of each kind (5 if not set).
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.faults
KILLS = int(os.environ.get("LINNAEUS_KILLS", "5"))
FIT = """
import hashlib, sys
import linnaeus
from linnaeus.execution import checkpoints
from linnaeus.synthetic import make_text_like

kind, folder, backend = sys.argv[1:4]
checkpoints.EVERY, checkpoints.SHARE = 0.0, 1e9
X, Y, taxonomy = make_text_like(400, 800, n_leaves=200, depth=3, random_state=0, nonzeros=15)
how = {"checkpoint": folder} if folder else {}
if kind.startswith("Recursive"):
    how |= {"schedule": "parity"}
model = getattr(linnaeus, kind)(taxonomy, random_state=0, backend=backend or None, **how)
print("ready", flush=True)
model.fit(X, Y)
print(hashlib.sha256(model.decision_function(X).tobytes()).hexdigest(), model.objective_)
"""


def start(kind, folder="", backend=""):
    call = [sys.executable, "-W", "ignore", "-c", FIT, kind, str(folder), backend]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def ended(process):
    answer = process.communicate()[0]
    assert process.returncode == 0
    return answer


@pytest.mark.parametrize("kind", ["FlatSVM", "TopDown", "RecursiveSVM", "RecursiveLogistic"])
def test_a_driver_that_is_killed_again_and_again_ends_with_the_same_bits(kind, tmp_path):
    began = time.time()
    whole = ended(start(kind))
    seconds = time.time() - began
    rng = random.Random(0)
    for n in range(KILLS):
        folder = tmp_path / str(n // 3)  # three kills of one fit, then another fit
        process = start(kind, folder)
        time.sleep(rng.random() * 0.3 * seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()  # and close its pipe
        if n % 3 == 2 or n == KILLS - 1:
            assert ended(start(kind, folder)) == whole
