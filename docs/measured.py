"""``python -m docs.measured``: the table of measured results in the README, from the records.

What stands between the two markers is made here and nowhere else. Speed and certificates come from
``benchmarks/results`` (``python -m benchmarks linear``), quality from the matrix of all methods on
all collections. A figure that no record holds is not shown.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BENCHMARKS = ROOT / "benchmarks" / "results"
STUDIES = ROOT / "studies" / "records"
MARKS = ("<!-- measured: made by python -m docs.measured -->", "<!-- end of measured -->")
PAIRS = (  # a model of ours, and the peer that solves the same problem
    ("FlatSVM, gap 1e-3, squared_hinge", "scikit-learn LinearSVC"),
    ("MulticlassSVM", "scikit-learn crammer_singer"),
)
ALONE = ("RecursiveSVM, gap 1e-2, squared_hinge",)  # no peer has it
FLAT = ("svm", "logistic", "msvm", "mlr")  # methods that know no hierarchy


def main() -> None:
    README.write_text(filled(README.read_text("utf-8"), measured()), encoding="utf-8")
    print(f"wrote the table of measured results into {README.relative_to(ROOT)}")


def filled(page: str, made: str) -> str:
    """A page with a new text between the markers.

    >>> filled(f"a\\n{MARKS[0]}\\nold\\n{MARKS[1]}\\nb", "new").splitlines()[2]
    'new'
    """
    begin, end = map(re.escape, MARKS)
    found = re.compile(f"({begin}\\n).*?({end})", re.DOTALL)
    if not found.search(page):
        raise ValueError(f"The page lacks the markers {MARKS[0]} and {MARKS[1]}.")
    return found.sub(lambda match: f"{match[1]}{made}\n{match[2]}", page)


def measured() -> str:
    """Speed with certificates, then quality, each with its origin."""
    return "\n\n".join([_speed(), _quality()])


# -- speed and certificates -----------------------------------------------------------------


def _speed() -> str:
    small, large = _read(BENCHMARKS / "linear_S.json"), _read(BENCHMARKS / "linear_M.json")
    head = ["problem", "model", "fit, CPU s", "gap to the optimum", "micro F1", "macro F1"]
    lines = [_row(head), _row(["---", "---", *["---:"] * 4])]
    lines += [_speed_row("S", *pair) for pair in _compared(small)]
    lines += [_speed_row("M", *pair) for pair in _compared(large)]
    about = "; ".join(f"{record['title']} ({record['date'][:10]})" for record in (small, large))
    return "\n".join(
        [
            "**Speed and certificates.** CPU seconds of a fit beside the peer that solves the same "
            "problem, both in one run; the gap bounds how far the objective is from its optimum.",
            "",
            *lines,
            "",
            f"{about}. {small['cpus']} cores. `python -m benchmarks linear`",
        ]
    )


def _compared(record: dict[str, Any]) -> list[tuple[dict[str, Any], float | None]]:
    """The rows to show, a peer below ours, with how many times as long it took."""
    rows = {row[0]: dict(zip(record["columns"], row, strict=True)) for row in record["rows"]}
    found: list[tuple[dict[str, Any], float | None]] = []
    for ours, peer in PAIRS:
        if ours in rows:
            found.append((rows[ours], None))
            if peer in rows:
                found.append((rows[peer], rows[peer]["fit CPU s"] / rows[ours]["fit CPU s"]))
    return found + [(rows[name], None) for name in ALONE if name in rows]


def _speed_row(problem: str, values: dict[str, Any], times: float | None) -> str:
    name = values["model"]
    model = name if times is not None else f"`{name.partition(',')[0]}`"
    seconds = _figure(values["fit CPU s"]) + (f" ({times:.1f} ×)" if times is not None else "")
    gap = "none given" if values["gap"] is None else f"{values['gap']:.0e}"
    return _row([problem, model, seconds, gap, f"{values['micro']:.3f}", f"{values['macro']:.3f}"])


def _figure(value: float) -> str:
    """Two decimals for seconds, one for tens of seconds.

    >>> _figure(0.721), _figure(40.39)
    ('0.72', '40.4')
    """
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


# -- quality --------------------------------------------------------------------------------


def _quality() -> str:
    runs = [unit["facts"] for unit in _read(STUDIES / "matrix.json")["units"].values()]
    runs = [run for run in runs if "figures" in run]
    head = ["collection", "rows", "nodes", "labels a row", "best flat", "best with the hierarchy"]
    lines = [_row(head), _row(["---", *["---:"] * 3, "---", "---"])]
    for name in dict.fromkeys(run["collection"] for run in runs):
        lines.append(_quality_row(name, [run for run in runs if run["collection"] == name]))
    gaps = [run["gap"] for run in runs if run.get("gap") is not None]
    return "\n".join(
        [
            "**Quality.** Hierarchical F1 on test rows ± one standard error. Every method has its "
            "default parameters and the decision rule that held-out scores prefer; of each kind "
            "the one with the best figure is shown.",
            "",
            *lines,
            "",
            f"{len(runs)} runs of {len({run['method'] for run in runs})} methods; {len(gaps)} end "
            f"with a certificate, a duality gap of {max(gaps):.1%} at most.",
        ]
    )


def _quality_row(name: str, runs: list[dict[str, Any]]) -> str:
    data = runs[0]["data"]
    flat = [run for run in runs if run["method"] in FLAT]
    others = [run for run in runs if run["method"] not in FLAT]
    counts = [f"{data['rows']:,}", f"{data['nodes']:,}", f"{data['labels_per_row']:.2f}"]
    return _row([name, *counts, _best(flat), _best(others)])


def _best(runs: list[dict[str, Any]]) -> str:
    best = max(runs, key=lambda run: run["figures"]["hierarchical_f1"])
    value, error = best["figures"]["hierarchical_f1"], best["errors"]["hierarchical_f1"]
    return f"{value:.3f} ±{error:.3f} {best['method']}"


# -- files ----------------------------------------------------------------------------------


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
