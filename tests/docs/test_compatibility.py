"""The page about scikit-learn is what `python -m docs.compatibility` finds."""

import pytest

from docs import compatibility

PAGE = compatibility.PAGE.read_text("utf-8")
CHEAP = ("FlatLogistic", "MulticlassLogistic", "RCut")


def lines(name):
    return [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]


def test_every_estimator_has_a_line():
    for name in compatibility.estimators():
        assert len(lines(name)) == 1, name
    assert all(f" {name} " in PAGE for name in compatibility.META)


@pytest.mark.parametrize("name", CHEAP)
def test_the_page_is_up_to_date(name):
    model, data = compatibility.estimators()[name], compatibility.rows()
    found = [
        compatibility.tried(lambda run=run: run(model, data)) for run in compatibility.META.values()
    ]
    cells = [cell.strip() for cell in lines(name)[0].split("|")[2:-1]]
    assert [cell.partition(" ")[0] for cell in cells] == ["yes" if f.works else "no" for f in found]
    for cell, outcome in zip(cells, found, strict=True):
        note = cell.partition("(")[2].rstrip(")")
        assert bool(note) == bool(outcome.said)
        assert not note or f"{note}. {outcome.said}" in PAGE


def test_what_does_not_work_names_a_remedy():
    """One sentence of ours, or of scikit-learn's, for each."""
    notes = [line for line in PAGE.splitlines() if line[:1].isdigit() and ". " in line[:4]]
    assert notes
    assert all(note.rstrip().endswith(".") or len(note) > 290 for note in notes)
