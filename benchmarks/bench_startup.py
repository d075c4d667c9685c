"""How long until the first answer: ``linnaeus --help``, and importing what people import.

Each in a fresh process, the best of several; scikit-learn's own import stands beside ours.
"""

from __future__ import annotations

import subprocess
import sys
import time

REPEATS = 7
CASES = {
    "python -c pass": ["-c", "pass"],
    "linnaeus --help (limit 0.5 s)": ["-m", "linnaeus.cli.main", "--help"],
    "import linnaeus": ["-c", "import linnaeus"],
    "import sklearn.svm": ["-c", "import sklearn.svm"],
    "import sklearn.svm, all of linnaeus": [
        "-c",
        "import sklearn.svm; from linnaeus import Taxonomy, decisions, io, metrics, splits, text",
    ],
}


def main() -> None:
    print(f"{'what':38} {'seconds':>8}")
    for name, arguments in CASES.items():
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            times.append(time.perf_counter() - start)
        print(f"{name:38} {min(times):8.3f}")


if __name__ == "__main__":
    main()
