"""Ourselves among the peers on problem S, each by its own script in a process of its own.

PEERS names a copy of the peers' scripts with their data. A peer runs in ``venvs/<name>`` of that
folder where it exists, else in this environment if its package is here; the row of one that is
nowhere says so. All are timed, cut and judged by the same ``common.py``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.recording import publish

OURS = Path(__file__).resolve().parent / "run_linnaeus.py"
LIMIT = 300  # seconds
# A process inherits the peak memory (ru_maxrss) of the one it replaces: a shell is a small one.
SHELL = ("sh", "-c", '"$@"; exit $?', "sh")


class Peer(NamedTuple):
    """A script with its variant, the environment it wants and the package it needs."""

    script: str
    variant: str
    venv: str
    package: str


PEERS = (
    *(Peer("", v, "", "linnaeus") for v in ("flat", "pruned", "topdown", "recursive", "crammer")),
    Peer("run_sklearn.py", "direct", "skl", "sklearn"),
    Peer("run_sklearn.py", "crammer", "skl", "sklearn"),
    Peer("run_liblinear.py", "", "liblinear", "liblinear"),
    Peer("run_pecos.py", "taxo", "pecos", "pecos"),
    Peer("run_napkinxc.py", "", "napkinxc", "napkinxc"),
    Peer("run_omikuji.py", "", "omikuji", "omikuji"),
)
VALUES = ("fit_wall", "fit_cpu", "pred_wall", "self_maxrss_mb", "micro", "macro", "hF1")


def interpreter(peer: Peer, folder: Path) -> str | None:
    """The Python that has the peer, or None."""
    own = folder / "venvs" / peer.venv / "bin" / "python"
    if peer.script and own.exists():
        return str(own)
    return sys.executable if importlib.util.find_spec(peer.package) else None


def row(peer: Peer, folder: Path) -> list[Any]:
    name = f"{peer.package} {peer.variant}".strip()
    python = interpreter(peer, folder)
    if python is None:
        return [name, "not installed", *[None] * len(VALUES)]
    script = folder / peer.script if peer.script else OURS
    command = [*SHELL, python, str(script), "S", *([peer.variant] if peer.variant else [])]
    environment = {**os.environ, "PEERS": str(folder)}
    try:
        run = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return [name, f"over {LIMIT} s", *[None] * len(VALUES)]
    for line in run.stdout.splitlines():
        if line.startswith("RESULT "):
            result = json.loads(line.removeprefix("RESULT "))
            result["fit_cpu"] = result["fit_user"] + result["fit_sys"]
            return [name, "measured", *(result.get(value) for value in VALUES)]
    last = (run.stderr.strip().splitlines() or ["no result"])[-1]
    return [name, f"failed: {last}", *[None] * len(VALUES)]


def main() -> None:
    folder = Path(os.environ.get("PEERS", "peers")).resolve()
    if not (folder / "common.py").exists():
        print("skipped: set PEERS to a folder with the peers' scripts and data")
        return
    publish(
        "peers",
        "Among the peers, on S",
        ["", "state", "fit wall s", "fit CPU s", "predict s", "peak MB", "micro-F1", "macro-F1",
         "hF1"],
        [row(peer, folder) for peer in PEERS],
        notes="One run each. Peak: of the whole process, the data included.",
        needs="PEERS=peers",
    )  # fmt: skip


if __name__ == "__main__":
    main()
