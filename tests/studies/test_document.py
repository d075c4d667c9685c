"""The page is made of the records alone, byte for byte; a small table reruns to its record."""

import re
from pathlib import Path

import pytest

from studies.document import markdown, significance, text_of
from studies.registry import TABLES
from studies.results import Cell, Outcome
from studies.running import reproduce
from studies.store import Store
from studies.tables import Context, Table, Unit

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "studies" / "records"
PICTURES = "../studies/records/pictures"
RERUN = ("gopal-6", "ImCLEF07A: M3-map")


def a_table(**more):
    units = (Unit("x", (), Outcome), Unit("y", (), Outcome))
    return Table("t-1", "A title", "[Paper] Table 1", "Ten folds.", "F1 in %", 1, units,
                 "Other rows.", 1.0, **more)  # fmt: skip


def a_page(tmp_path, table, **outcome):
    store = Store(tmp_path)
    store.add(table, table.units[0], Outcome(**outcome), Context(tmp_path))
    return markdown(store, {table.name: table})


def test_the_page_regenerates_byte_for_byte():
    page = markdown(Store(RECORDS), pictures=PICTURES)
    assert (ROOT / "docs" / "reproduction.md").read_bytes() == page.encode()


def test_the_pictures_of_the_page_are_there_once():
    page = (ROOT / "docs" / "reproduction.md").read_text()
    shown = re.findall(r"\]\(([^)]*\.svg)\)", page)
    assert {Path(link).name for link in shown} == {p.name for p in RECORDS.glob("pictures/*")}
    assert all((ROOT / "docs" / link).is_file() for link in shown)
    others = [*(ROOT / "docs" / "images").iterdir(), *(ROOT / "benchmarks").rglob("*.svg")]
    drawn = {path.read_bytes() for path in RECORDS.glob("pictures/*")}
    assert others and not drawn & {path.read_bytes() for path in others}


def test_records_hold_no_paths_and_belong_to_tables():
    for path in RECORDS.glob("*.json"):
        assert path.stem in TABLES
        text = path.read_text()
        assert '"/' not in text and "\\\\" not in text


def test_records_belong_to_the_settings_of_today():
    """What is stored would not be run again: records and descriptions have not drifted apart."""
    store = Store(RECORDS)
    for table in TABLES.values():
        for unit in table.units:
            if unit.name in store.outcomes(table.name):
                assert store.has(table.name, unit, Context(Path())), unit.name


def test_what_is_said_about_C_and_the_intercept_is_in_the_record():
    outcomes = Store(RECORDS).outcomes("gopal-costs")
    cells = {(c.row, c.column): c for out in outcomes.values() for c in out.cells}

    def at(method, intercept, C, column, collection="ImCLEF07A"):
        return cells[f"{collection}: {method}, intercept {intercept}, C = {C}", column]

    for method, C in (("BSVM", 0.1), ("RR-SVM", 0.1), ("BLR", 1), ("RR-LR", 1)):
        for column in ("micro F1", "macro F1"):
            without, good = (at(method, i, C, column) for i in ("none", "of size 10"))
            assert without.difference < -4 * without.error and not good.differs
    for intercept, better in (("none", "RR-SVM"), ("of size 1", "BSVM")):
        both = {
            method: at(method, intercept, 10, "micro F1", "lshtc-small-val").ours
            for method in ("BSVM", "RR-SVM")
        }
        assert max(both, key=both.get) == better


def test_on_the_paper_s_own_rows_no_method_falls_short():
    """ImCLEF07A: at most two standard errors below what [GopalYang2015] prints."""
    cells = [
        cell
        for table in ("gopal-2", "gopal-6")
        for name, out in Store(RECORDS).outcomes(table).items()
        if name.startswith("ImCLEF07A")
        for cell in out.cells
    ]
    assert len(cells) == 2 * (10 + 10)
    assert [c for c in cells if c.difference < 0 and c.differs] == []


def test_a_small_table_reruns_to_its_record(tmp_path, shared):
    name, unit = RERUN
    data = shared("data")
    stored = Store(RECORDS).outcomes(name).get(unit)
    assert stored is not None
    (done,) = reproduce([name], data, tmp_path, units=[unit])
    assert done.state == "run"
    again = Store(tmp_path).outcomes(name)[unit]
    for old, new in zip(stored.cells, again.cells, strict=True):
        assert (new.row, new.column, new.paper) == (old.row, old.column, old.paper)
        assert new.ours == pytest.approx(old.ours, abs=0.2)  # two of the 1,006 test rows
        assert new.error == pytest.approx(old.error, rel=0.1)


def test_figures_show_errors_differences_and_what_is_missing(tmp_path):
    cells = [Cell("r", "a", 80.0, 1.0, 77.0), Cell("r", "b", 80.0, 2.0, 77.0), Cell("s", "b", 3)]
    page = a_page(tmp_path, a_table(), cells=cells, seconds=120.0, notes=["A note."])
    assert "| r | 80.0 ± 1.0 (77.0, +3.0)* | 80.0 ± 2.0 (77.0, +3.0) |" in page
    assert "| s |  | 3 |" in page
    assert "1 of 2 figures with an error are more than two errors away. Other rows." in page
    assert "[Paper] Table 1; F1 in %. Ten folds." in page
    assert (
        "1 of 2 runs, 2.0 min of CPU time: `python -m studies run --data DIR --table t-1`" in page
    )
    assert "Not run: y." in page and "- A note." in page
    assert "All runs in the records: 0.03 CPU hours." in page


def test_every_part_of_the_page_is_there_without_any_record(tmp_path):
    page = markdown(Store(tmp_path))
    assert page.index("## Verdicts") < min(page.index(f"## {name}:") for name in TABLES)
    assert all(f"## {name}: " in page for name in TABLES)
    assert page.count("**no data**") == page.count("| **")
    assert "All runs in the records: 0.00 CPU hours." in page


def test_views_show_the_runs_of_their_table(tmp_path):
    base = a_table()
    view = Table("t-2", "Times", "S", "P", "s", 1, (), "", 0.0, of="t-1",
                 view=lambda outcomes: [Cell("x", "s", outcomes["x"].seconds)])  # fmt: skip
    store = Store(tmp_path)
    store.add(base, base.units[0], Outcome(seconds=4.25), Context(tmp_path))
    page = markdown(store, {"t-1": base, "t-2": view})
    assert "| x | 4.2 |" in page
    assert "From the runs of t-1: `python -m studies run --data DIR --table t-2`" in page


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Cell("r", "c", 1.234), "1.23"),
        (Cell("r", "c", 1.2, 0.1), "1.20 ± 0.10"),
        (Cell("r", "c", 1.2, None, 1.5), "1.20 (1.50, -0.30)"),
        (Cell("r", "c", None), "–"),
        (Cell("r", "c", 1234, None, None), "1,234"),
    ],
)
def test_text_of_a_cell(cell, text):
    assert text_of(cell, 2) == text


def test_tests_of_a_pair_share_a_line():
    rows = [
        {"name": "sign", "first": "a", "second": "b", "pvalue": 0.5, "difference": 1.0},
        {"name": "ranks", "first": "a", "second": "b", "pvalue": 1e-6},
        {"name": "x", "measure": "sign", "condition": "t = 1", "first": "a", "second": "b",
         "pvalue": 0.04},
    ]  # fmt: skip
    assert significance(rows).splitlines()[2:] == [
        "| a against b | +1.00, p 0.5 | p < 0.0001 |",
        "| a against b, t = 1 | p 0.04 |  |",
    ]
