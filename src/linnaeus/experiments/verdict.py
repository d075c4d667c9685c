"""What was found, in a few plain sentences: for one model, and for several methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linnaeus.experiments.method_result import FIGURES, MethodResult
from linnaeus.metrics import Report
from linnaeus.metrics.baseline import Baseline

if TYPE_CHECKING:
    from linnaeus.experiments.comparison import Comparison

LEVEL = 0.05  # of significance
LED = ("micro_f1", "macro_f1", "hierarchical_f1")
_NAMED = 3  # labels of the baseline that are named


def evaluation_verdict(report: Report, best: Baseline | None) -> str:
    """How good one model is, and how good always answering the same would be.

    Parameters
    ----------
    report : Report
        What `linnaeus.metrics.evaluate` gave.
    best : Baseline or None
        The best constant answer; None where it is not known.

    Returns
    -------
    str
    """
    own, n = report.own, int(report["rows"])
    right, given, true = int(own.true.multiply(own.pred).nnz), own.pred.nnz, own.true.nnz
    single = all((M.indptr[1:] - M.indptr[:-1] == 1).all() for M in (own.true, own.pred))
    if single:
        parts = [f"{right:,} of {n:,} rows get the right label ({_share(right, n)})."]
    else:
        parts = [
            f"Of {given:,} labels given, {right:,} are right ({_share(right, given)}); "
            f"{right:,} of the {true:,} true labels are found ({_share(right, true)})."
        ]
    empty = int(report["empty_predictions"])
    if empty:
        parts.append(f"{empty:,} of {n:,} rows get no label.")
    if best is not None and best.labels:
        parts += _against_constant(report, best, single, n, true)
    return " ".join(parts)


def _against_constant(report: Report, best: Baseline, single: bool, n: int, true: int) -> list[str]:
    titles = [f"“{report.taxonomy.title(name)}”" for name in best.labels[:_NAMED]]
    more = len(best.labels) - _NAMED
    names = _listed(titles + [f"{more:,} more"] * (more > 0))
    what = "the most common label" + "s" * (len(best.labels) > 1)
    given = n * len(best.labels)
    if single and len(best.labels) == 1:
        said = f"get {best.right:,} of {n:,} right ({_share(best.right, n)})"
    else:
        said = (
            f"get {best.right:,} of {given:,} labels right ({_share(best.right, given)}) and find "
            f"{_share(best.right, true)} of the true ones"
        )
    found = [f"Always answering {names}, {what} in training, would {said}."]
    if report.intervals and report.intervals["micro_f1"][0] <= best.values["micro_f1"]:
        found.append("The model is not clearly better than that.")
    return found


def verdict(comparison: Comparison) -> list[str]:
    """Who is best, in what, by how much, at what price; and who has no result.

    Parameters
    ----------
    comparison : Comparison
        What `compare` gave.

    Returns
    -------
    list of str
    """
    if not comparison.ranked:
        return ["No method has a result."]
    only = comparison.ranked[0]
    if len(comparison.ranked) == 1 and only.report is not None:
        out = [evaluation_verdict(only.report, comparison.baseline)]
    else:
        leaders: dict[str, list[str]] = {}
        for figure in LED:
            leaders.setdefault(comparison.best(figure).name, []).append(figure)
        out = [_lead(comparison, name, figures) for name, figures in leaders.items()]
        out += [text for text in (_constant(comparison), _bargain(comparison)) if text]
    if comparison.failed:
        names = _listed([s.name for s in comparison.failed])
        out.append(f"{names} {'has' if len(comparison.failed) == 1 else 'have'} no result.")
    return out


def _lead(comparison: Comparison, name: str, figures: list[str]) -> str:
    """The sentence on a method that is best in some figures."""
    values = [_value(comparison[name], figure) for figure in figures]
    return f"{name} is best in {_listed(values)}; {_proof(comparison, name, figures[0])}."


def _proof(comparison: Comparison, name: str, figure: str) -> str:
    """By how much a method leads in a figure, and whether that is more than chance."""
    rivals = sorted(
        (s for s in comparison.ranked if s.name != name), key=lambda s: -s.figures[figure]
    )
    lead = comparison[name].figures[figure] - rivals[0].figures[figure]
    by = f"in {FIGURES[figure]} it is {lead:.3f} ahead of {rivals[0].name}"
    p = {s.name: comparison.pvalue(name, s.name, figure) for s in rivals}
    even = [other for other in p if p[other] >= LEVEL]
    if not even:
        rest = "" if len(rivals) == 1 else ", and its lead on every method is"
        return f"{by}{rest or ', which is'} more than chance ({_p(max(p.values()))})"
    if len(even) == len(rivals) == 1:
        return f"{by}, which may be chance ({_p(p[even[0]])})"
    close = [f"{other} ({_p(p[other])})" for other in even[:_NAMED]]
    more = [f"{len(even) - _NAMED} more"] if len(even) > _NAMED else []
    return f"{by}; its lead on {_listed(close + more)} may be chance"


def _constant(comparison: Comparison) -> str:
    """What always answering the same would reach."""
    best = comparison.baseline
    if best is None:
        return ""
    names = ", ".join(f"{FIGURES[figure]} {best.values[figure]:.3f}" for figure in LED)
    return f"Always giving the most common labels would reach {names}."


def _bargain(comparison: Comparison) -> str:
    """A method that costs far less than the best and is nearly as good."""
    best = comparison.best()
    timed = [s for s in comparison.ranked if s.cost is not None and s.cost.cpu_seconds > 0]
    if best.cost is None or not timed:
        return ""
    fast = min(timed, key=lambda s: s.cost.cpu_seconds if s.cost else 0.0)
    assert fast.cost is not None
    times = best.cost.cpu_seconds / fast.cost.cpu_seconds
    if fast is best:
        return f"{best.name} also trains fastest ({fast.cost.cpu_seconds:.2g} s of CPU time)."
    if times < 1.5:
        return ""
    loss = best.figures["micro_f1"] - fast.figures["micro_f1"]
    return (
        f"{fast.name} trains fastest, {times:.1f} times as fast as {best.name}, for {loss:.3f} "
        f"less micro F1."
    )


def _value(result: MethodResult, figure: str) -> str:
    low, high = result.intervals[figure]
    return f"{FIGURES[figure]} ({result.figures[figure]:.3f}, likely {low:.3f} to {high:.3f})"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "none"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def _listed(texts: list[Any]) -> str:
    """Several texts as an enumeration."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
