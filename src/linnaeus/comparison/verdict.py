"""What a comparison amounts to, in a few sentences."""

from __future__ import annotations

from linnaeus.comparison.contest import Contest
from linnaeus.comparison.duels import TESTS
from linnaeus.comparison.standing import FIGURES, Standing

LEVEL = 0.05


def verdict(contest: Contest) -> list[str]:
    """Who is best, in what, by how much, at what price; and who has no result."""
    if not contest.ranked:
        return ["No method has a result."]
    leaders: dict[str, list[str]] = {}
    for figure in TESTS:
        leaders.setdefault(contest.best(figure).name, []).append(figure)
    out = [_lead(contest, name, figures) for name, figures in leaders.items()]
    if len(contest.ranked) > 1:
        out += [text for text in (_bargain(contest),) if text]
    if contest.failed:
        names = _listed([s.name for s in contest.failed])
        out.append(f"{names} {'has' if len(contest.failed) == 1 else 'have'} no result.")
    return out


def _lead(contest: Contest, name: str, figures: list[str]) -> str:
    """The sentence on a method that is best in some figures."""
    if len(contest.ranked) == 1:
        values = [_value(contest[name], figure) for figure in figures]
        return f"{name} reaches {_listed(values)}."
    values = [_value(contest[name], figure, "{} ({})") for figure in figures]
    return f"{name} is best in {_listed(values)}; {_proof(contest, name, figures[0])}."


def _proof(contest: Contest, name: str, figure: str) -> str:
    """Whom a method beats by more than chance in a figure, and whom not."""
    rivals = sorted((s for s in contest.ranked if s.name != name), key=lambda s: -s.figures[figure])
    p = {s.name: contest.pvalue(name, s.name, figure) for s in rivals}
    even = [other for other in p if p[other] >= LEVEL]
    what = f" in {FIGURES[figure]}"
    if not even:
        worst = max(p.values())
        who = f"than {rivals[0].name}" if len(rivals) == 1 else "than every other method"
        return f"significantly better{what} {who} ({_p(worst)})"
    close = [f"{other} ({_p(p[other])})" for other in even[:3]]
    more = [f"{len(even) - 3} more"] if len(even) > 3 else []
    return f"not significantly better{what} than {_listed(close + more)}"


def _bargain(contest: Contest) -> str:
    """A method that costs far less than the best and is nearly as good."""
    best = contest.best()
    timed = [s for s in contest.ranked if s.cost is not None and s.cost.cpu_seconds > 0]
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


def _value(standing: Standing, figure: str, form: str = "{} {}") -> str:
    value, error = standing.figures[figure], standing.errors[figure]
    return form.format(FIGURES[figure], f"{value:.3f} ± {error:.3f}")


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def _listed(texts: list[str]) -> str:
    """Several texts as an enumeration."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
