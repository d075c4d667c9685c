"""``python -m docs.scale``: the figures of ``docs/scale.md``, from the records.

What stands between two markers is made here and nowhere else; the words around it are written by
hand and hold no figures of measurements.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks import bench_growth as growth
from benchmarks import limits, recording, scale
from benchmarks.cluster import best_machines
from benchmarks.scale import LWIKI, Constants, Sizes, as_bytes, as_time

PAGE = Path(__file__).resolve().parent / "scale.md"
BLOCK = re.compile(r"(<!-- scale: ([\w ]+) -->\n).*?(<!-- end of scale -->)", re.DOTALL)
PLAN = (1, 8, 64)  # machines
CORES = 8
EXAMPLES = {  # classes, rows, features, nonzeros, nodes, labels
    "support mail": Sizes(100, 20_000, 40_000, 600_000, 120, 20_000),
    "a shop": Sizes(5_000, 500_000, 100_000, 10_000_000, 6_000, 500_000),
    "a library": Sizes(50_000, 2_000_000, 500_000, 80_000_000, 60_000, 6_000_000),
    "100,000 classes": Sizes(100_000, 200_000, 200_000, 12_000_000, 140_000, 200_000),
    "LWIKI": LWIKI,
    "ten times LWIKI": LWIKI.times(10),
}


def main() -> None:
    PAGE.write_text(filled(PAGE.read_text("utf-8")), encoding="utf-8")
    print(f"wrote the figures of docs/{PAGE.name}")


def filled(page: str) -> str:
    """The page with everything between markers made anew."""
    known = Constants.measured()
    return BLOCK.sub(lambda found: f"{found[1]}{MADE[found[2]](known)}\n{found[3]}", page)


def _table(head: list[str], rows: list[list[str]], left: int = 1, words: int = 0) -> str:
    """Markdown; the first columns and so many of the last to the left, figures to the right."""
    figures = len(head) - left - words
    lines = [head, ["---"] * left + ["---:"] * figures + ["---"] * words, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _span(low: float, high: float) -> str:
    """Hours from to.

    >>> _span(0.5, 1.0), _span(2.0, 2.0)
    ('30 to 60 min', '2 h')
    """
    one, other = as_time(low), as_time(high)
    if one == other:
        return one
    same = one.split()[-1] == other.split()[-1] and not one.startswith("under")
    return f"{one.split()[0] if same else one} to {other}"


def _problems(known: Constants) -> str:
    rows = []
    for name, sizes in EXAMPLES.items():
        flat, recursive = (scale.estimate(sizes, known, m) for m in ("flat", "recursive"))
        rows.append([
            name, f"{sizes.classes:,}", f"{sizes.rows:,}", f"{sizes.nonzeros:.2g}",
            as_bytes(flat.memory(CORES)), as_bytes(flat.driver), as_bytes(flat.disk),
            _span(flat.core_hours / CORES, flat.core_hours_high / CORES),
            _span(recursive.core_hours / CORES, recursive.core_hours_high / CORES),
        ])  # fmt: skip
    head = ["problem", "classes", "rows", "nonzeros", "memory to solve", "memory of the driver",
            "disk", "flat", "recursive"]  # fmt: skip
    return _table(head, rows)


def _formulas(known: Constants) -> str:
    return _table(
        ["what", "formula", "constants measured"],
        [
            ["work, flat", "10⁻⁹ K (a z + b d) seconds on one core",
             f"a = {known.nonzero:.2g}, b = {known.feature:.2g}; other problems took up to "
             f"{known.nonzero_high:.2g} K z"],
            ["work, recursive", "r times that",
             f"r = {known.ratio:.2g} (gap 1e-2, where flat has 1e-3 or 1e-2), at most "
             f"{known.ratio_high:.2g} (1e-2 for both)"],
            ["X on each machine", "8 z + 16 n bytes", ""],
            ["a running block (one core)", "32 (10 n + 8 d) bytes", ""],
            ["driver", f"{scale.IN_HAND} (t + u) n + v nodes + 12 labels + 24 K bytes",
             f"t = {known.task_row:.2g}, u = {known.answer_row:.2g}, v = {known.node:.3g}"],
            ["weights on disk", "8 w K bytes",
             f"w = {known.kept:,.0f} of {LWIKI.features:,} (those of at least 0.01)"],
            ["dual variables on disk", "8 s K bytes", f"s = {known.support:,.0f} rows a class"],
            ["arithmetic", "4 p K z operations", f"p = {known.visits:.2g} visits to a row"],
            ["files", "K / 32", "one a block of 32 classes"],
        ],
        left=3,
    )  # fmt: skip


def _blocks(known: Constants) -> str:
    """Some blocks at growing shares of LWIKI."""
    rows = [
        [f"{b['rows']:,}", f"{b['classes']:,}", f"{b['block_seconds']:.2f}", f"{b['ns']:.2g}",
         f"{b['support']:,.0f}", f"{b['features_touched']:,.0f}", f"{b['weights_kept']:,.0f}"]
        for b in scale.read("simulate_cluster")["facts"]["blocks"]
    ]  # fmt: skip
    head = ["rows", "classes", "CPU s a block", "ns per class and nonzero", "rows that matter (s)",
            "features of these", "weights of at least 0.01 (w)"]  # fmt: skip
    return _table(head, rows, left=0)


def _rows(name: str) -> list[dict[str, Any]]:
    record = scale.read(name)
    return [dict(zip(record["columns"], row, strict=True)) for row in record["rows"]]


def _simulated(job: str) -> dict[int, dict[str, Any]]:
    return {row["machines"]: row for row in _rows("simulate_cluster") if row["job"] == job}


def _plan(known: Constants) -> str:
    rows = []
    for method in ("flat", "recursive"):
        need, found = scale.estimate(LWIKI, known, method), _simulated(method)
        for machines in PLAN:
            row = found[machines]
            rows.append([
                method, f"{machines} x {CORES}", as_time(row["hours"]), f"{row['efficiency']:.0%}",
                as_bytes(need.memory(CORES)), as_bytes(need.disk), as_bytes(1e9 * row["GB moved"]),
                f"{need.flops:.1e}", f"{need.files:,}",
            ])  # fmt: skip
        paper = scale.PAPER_MINUTES[method] / 60
        rows.append([f"{method}, the paper", "64 x 8", as_time(paper), *["not said"] * 6])
    head = ["method", "machines x cores", "time", "of the cores used", "memory, a machine", "disk",
            "moved", "operations", "files"]  # fmt: skip
    low, high = (scale.estimate(LWIKI, known, "recursive")[k] for k in (0, 1))
    hours = scale.PAPER_MINUTES["recursive"] / 60
    words = (
        f"The recursive model is {low:,.0f} to {high:,.0f} core-hours of work by these constants. "
        f"The paper took {hours:.1f} hours on 64 machines of 8 cores: {hours * 512:,.0f} "
        "core-hours if all of them worked all the time."
    )
    about = (
        f"LWIKI has {LWIKI.classes:,} leaves among {LWIKI.nodes:,} nodes, {LWIKI.rows:,} documents "
        f"and {LWIKI.features:,} features [GopalYang2015]. The number of nonzeros is not printed "
        f"there; {LWIKI.nonzeros // LWIKI.rows} a document is assumed. The times are simulated "
        "from measured tasks."
    )
    return f"{about}\n\n{_table(head, rows)}\n\n{words}"


def _saturation(known: Constants) -> str:
    jobs = list(dict.fromkeys(row["job"] for row in _rows("simulate_cluster")))
    machines = (1, 8, 64, 128, 512)
    rows = [
        [job, *(f"{found[m]['speed-up']:,.0f}" for m in machines), _half(found)]
        for job, found in ((job, _simulated(job)) for job in jobs)
    ]
    head = ["job", *(f"{m} x {CORES}" for m in machines), "half of the cores idle from"]
    failing = _simulated("flat, failures")[64], _simulated("recursive, failures")[64]
    lost = ", ".join(f"{row['job'].split(',')[0]} {row['failures']} failures and "
                     f"{row['work lost']:.1%} of the work" for row in failing)  # fmt: skip
    words = f"Work lost to failures on 64 machines: {lost}."
    flat = scale.flat_job(LWIKI, known)
    fast, slow = (best_machines(flat.work, flat.shared, s, CORES) for s in (1.25e9, 1.25e8))
    best = (
        f"Best for the flat job by that formula: {fast[0]:,.0f} machines at 10 Gb/s "
        f"({as_time(fast[1] / 3600)}), {slow[0]:,.0f} at 1 Gb/s ({as_time(slow[1] / 3600)})."
    )
    notes = scale.read("simulate_cluster")["notes"]
    return f"{_table(head, rows)}\n\n{notes} {best} {words}"


def _half(found: dict[int, dict[str, Any]]) -> str:
    """The first number of cores of which less than half are used."""
    bad = [row["cores"] for row in found.values() if row["efficiency"] < 0.5]
    return f"{min(bad):,} cores" if bad else "none tried"


def _check(known: Constants) -> str:
    record = scale.read("simulate_cluster_check")
    rows = [
        [row["fit"], f"{row['wall s, least']:.1f} to {row['wall s, most']:.1f}",
         f"{row['CPU s']:.1f}", f"{row['predicted s']:.1f}", f"{row['share of a core']:.2f}",
         f"{row['predicted / share / wall']:.2f} ({row['least']:.2f} to {row['most']:.2f})",
         f"{row['replayed / wall']:.2f} ({row['least replayed']:.2f} to "
         f"{row['most replayed']:.2f})"]
        for row in _rows("simulate_cluster_check")
    ]  # fmt: skip
    head = ["fit", "wall s", "CPU s", "predicted s", "share of a core",
            "predicted by share by wall", "replayed by wall"]  # fmt: skip
    about = f"{record['notes']} Load of the {record['cpus']} cores at the end: {record['load']}."
    off = [row["fit"] for row in _rows("simulate_cluster_check")
           if not 0.8 < row["predicted / share / wall"] < 1.25]  # fmt: skip
    words = (
        f"Not confirmed by CPU seconds here, more than a fifth off: {'; '.join(off)}."
        if off
        else "All predictions by CPU seconds are at most a fifth off."
    )
    return f"{_table(head, rows)}\n\n{words} {about}"


def _growth(known: Constants) -> str:
    rows, notes = [], []
    for name in GROWTH:
        if (scale.RESULTS / f"{name}.json").exists():
            record = scale.read(name)
            rows += _exponents(record)
            notes.append(f"`{record['command']}`: {record['notes']}")
    whole, half = (sum(float(row[k]) + float(row[k + 1]) > growth.GOAL for row in rows)
                   for k in (4, 6))  # fmt: skip
    head = ["model", "axis", "sizes", "fits", "exponent", "may be off by", "of the larger half",
            "may be off by"]  # fmt: skip
    words = (
        f"The goal is at most {growth.GOAL}. The same fit at another time took longer or shorter, "
        "since other work ran on the machine; *may be off by* is what that can do to an exponent. "
        f"With it, {whole} of {len(rows)} exponents, and {half} of those of the larger half, could "
        "still lie above the goal. Small fits have costs that do not grow, which lowers exponents: "
        "larger sizes have the last word."
    )
    return "\n\n".join([words, _table(head, rows, left=3), *notes])


def _exponents(record: dict[str, Any]) -> list[list[str]]:
    """A row for each axis and model."""
    facts, found = record["facts"], growth.curves(record["rows"])
    factor = growth.noise(record["rows"], facts["base"])
    return [
        [model, axis if axis != "nonzeros" else "nonzeros a row",
         f"{min(sizes):,} to {max(sizes):,}", f"{len(sizes)}", f"{p:.2f}",
         f"{growth.doubt(sizes, factor.get(model, 1.0)):.2f}", f"{q:.2f}",
         f"{growth.doubt(growth.larger_half(sizes), factor.get(model, 1.0)):.2f}"]
        for axis, models in facts["exponents"].items()
        for model, (p, q) in models.items() if model in MODELS
        for sizes in [found[axis][model][0]]
    ]  # fmt: skip


GROWTH = ("growth", "growth_large")
MODELS = ("FlatSVM", "TopDown", "RecursiveSVM")


def _breaks(known: Constants) -> str:
    tenfold, rows = LWIKI.times(10), []
    for limit in sorted(limits.limits(known), key=lambda limit: limit.reached(LWIKI)):
        factor = limit.reached(LWIKI)
        rows.append([
            limit.what, limit.formula, _amount(limit.value(LWIKI), limit.unit),
            _amount(limit.value(tenfold), limit.unit), _amount(limit.limit(LWIKI), limit.unit),
            f"{factor:.2g} x" if factor < 1000 else "never", limit.remedy,
        ])  # fmt: skip
    head = ["what", "formula", "LWIKI", "ten times", "limit", "met at", "remedy"]
    words = (
        f"The limits: a machine of {as_bytes(limits.MACHINE)}, as in the paper; counters of 32 "
        f"bits; {limits.FOLDER:,.0f} files in a folder; a JSON file of {as_bytes(limits.PARSED)}."
    )
    return f"{_table(head, rows, left=2, words=1)}\n\n{words}"


def _amount(value: float, unit: str) -> str:
    if unit == "bytes":
        return as_bytes(value)
    return as_time(value) if unit == "hours" else f"{value:,.0f}"


def _large(_: Constants) -> str:
    record = scale.read("large")
    shown = ["problem", "model", "classes trained", "CPU minutes", "wall minutes", "gap",
             "weights, millions", "MB own at most", "P@1", "P@5",
             "ms a document, batch"]  # fmt: skip
    places = [record["columns"].index(name) for name in shown]
    rows = [[recording.shown(row[j]) for j in places] for row in record["rows"]]
    said = f"{record['title']}, two threads, on a machine with {record['cpus']} cores."
    return f"{said} {record['notes']}\n\n{_table(shown, rows, left=2)}"


MADE = {
    "problems": _problems,
    "formulas": _formulas,
    "blocks": _blocks,
    "plan": _plan,
    "saturation": _saturation,
    "check": _check,
    "growth": _growth,
    "breaks": _breaks,
    "large": _large,
}


if __name__ == "__main__":
    main()
