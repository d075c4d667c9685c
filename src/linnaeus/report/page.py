"""A comparison, or one model's evaluation, as a single HTML file.

Charts are drawn by plotly's script, which is written into the file once; nothing is loaded from
elsewhere. Templates escape all that comes from data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linnaeus import __version__
from linnaeus.errors import MissingExtraError
from linnaeus.experiments import FIGURES, Comparison, verdict
from linnaeus.experiments.cost import PEAK
from linnaeus.experiments.pair_tests import TESTS
from linnaeus.files import atomic_write
from linnaeus.metrics.coverage import HEADS
from linnaeus.report import charts, style, tables, treemap

EXAMPLES_OF = 4  # methods whose mistakes are shown


def write_report(comparison: Comparison, path: str | Path) -> None:
    """Write the report as one HTML file, whole or not at all.

    Parameters
    ----------
    comparison : Comparison
        What `linnaeus.experiments.compare` or `judge_model` gave.
    path : str or Path
        File to write.
    """
    page = render_report(comparison)
    with atomic_write(path) as file:
        file.write(page)


def render_report(comparison: Comparison) -> str:
    """The report as HTML.

    Parameters
    ----------
    comparison : Comparison
        What `linnaeus.experiments.compare` or `judge_model` gave.

    Returns
    -------
    str
    """
    template = environment().get_template("comparison.html")
    text: str = template.render(**_content(comparison), plotly_script=_plotly_script())
    return text


def environment() -> Any:
    """Where templates are: all that comes from data is escaped, and nothing may be undefined.

    Returns
    -------
    jinja2.Environment
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("The report", "jinja2", "report") from None
    return Environment(
        loader=PackageLoader("linnaeus.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _plotly_script() -> str:
    """Plotly's script, safe inside a script element."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise MissingExtraError("The report", "plotly", "report") from None
    script: str = get_plotlyjs()
    return script.replace("</script", "<\\/script")


def _content(comparison: Comparison) -> dict[str, Any]:
    """Everything that the template shows."""
    several = len(comparison.results) > 1
    what = "Comparison" if several else "Evaluation"
    name = comparison.setting.data or (comparison.results[0].name if comparison.results else "")
    drawn = _charts(comparison)
    return {
        "title": f"{what}: {name}" if name else what,
        "version": __version__,
        "several": several,
        "verdict": [_unbroken(sentence) for sentence in verdict(comparison)],
        "setting": comparison.setting,
        "facts": _facts(comparison),
        "charts": drawn,
        "figure_heads": tables.figure_heads(),
        "figures": tables.figure_rows(comparison),
        "failed": [(s.name, s.error) for s in comparison.failed],
        "baseline": tables.baseline_row(comparison),
        "seen": comparison.seen,
        "costs": tables.cost_table(comparison),
        "coverage": tables.coverage_rows(comparison),
        "coverage_heads": HEADS,
        "test_heads": list(FIGURES.values()),
        "other_tests": list(TESTS.items()),
        "memory_by": next((s.cost.memory_by for s in comparison.ranked if s.cost), PEAK),
        "why": [(s.name, s.rule, s.why) for s in comparison.ranked if s.why],
        "pair_tests": tables.pair_rows(comparison),
        "level_tests": tables.group_rows(comparison.level_tests),
        "size_tests": tables.group_rows(comparison.size_tests),
        "hidden": treemap.hidden_nodes(comparison),
        "shown": treemap.MOST,
        "is_tree": comparison.taxonomy.is_tree,
        "confusions": [
            (s.name, tables.confusion_rows(comparison.taxonomy, s))
            for s in comparison.ranked
            if s.confusions
        ],
        "mistakes": [
            (s.name, tables.mistake_rows(comparison.taxonomy, s))
            for s in comparison.ranked[:EXAMPLES_OF]
            if s.mistakes
        ],
        "colours": [style.colour(i) for i in range(len(comparison.ranked))],
    }


def _unbroken(text: str) -> str:
    """No line breaks within "0.81 ± 0.02" and "p = 0.2"."""
    for sign in ("±", "=", "<"):
        text = text.replace(f" {sign} ", f"\u00a0{sign}\u00a0")
    return text


def _charts(comparison: Comparison) -> dict[str, Any]:
    """The charts that there is something to draw in, by their names on the page."""
    if not comparison.ranked:
        return {}
    found = {
        "figures": charts.figure_bars(comparison),
        "levels": charts.level_lines(comparison),
        "sizes": charts.size_lines(comparison),
        "map": treemap.taxonomy_map(comparison),
        "calibration": charts.calibration_curves(comparison),
        "time": charts.time_against_quality(comparison),
        "memory": charts.memory_against_quality(comparison),
        "sweep": charts.sweep_lines(comparison),
        "coverage": charts.coverage_lines(comparison),
    }
    return {name: chart for name, chart in found.items() if chart is not None and chart["data"]}


def _facts(comparison: Comparison) -> list[tuple[str, str]]:
    """What was compared, in a few pairs of words and numbers."""
    taxonomy, setting = comparison.taxonomy, comparison.setting
    shape, roots = taxonomy.kind, len(taxonomy.roots)
    named = {"flat": "without a hierarchy", "forest": f"a forest of {roots:,} trees"}
    facts = [
        ("data", setting.data or "–"),
        ("judged by", str(setting)),
        (
            "taxonomy",
            f"{len(taxonomy):,} nodes, {taxonomy.leaf_numbers.size:,} leaves, "
            f"{len(taxonomy.level_numbers)} levels, {named.get(shape, f'a {shape}')}",
        ),
    ]
    if comparison.ranked and comparison.ranked[0].report is not None:
        report = comparison.ranked[0].report
        facts.append(("labels per row", f"{report['labels_per_row']:.2f}"))
    if setting.feature_seconds:
        facts.append(("features", f"{setting.features}, made in {setting.feature_seconds:.1f} s"))
    facts.append(("seed", str(setting.seed)))
    return facts
