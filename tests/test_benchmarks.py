"""The parts of the benchmarks that are not measurements: fits, tables, nesting and the page."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.append(str(Path(__file__).resolve().parent.parent))

from benchmarks import recording, report
from benchmarks.bench_cold import own_seconds
from benchmarks.bench_growth import exponent


@given(st.floats(-3, 3), st.floats(1e-3, 1e3))
def test_exponent_of_an_exact_power(p, factor):
    sizes = np.array([10, 20, 40, 80])
    assert exponent(sizes, factor * sizes**p) == pytest.approx(p, abs=1e-9)


def test_exponent_is_the_least_squares_slope():
    sizes, seconds = [1, 2, 4, 8], [1.0, 3.0, 3.5, 9.0]
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    assert exponent(sizes, seconds) == pytest.approx(slope)


def test_own_seconds_leave_out_what_is_nested():
    events = [
        (0.0, True, "outer"), (1.0, True, "inner"), (4.0, False, "inner"), (6.0, False, "outer"),
        (9.0, True, "inner"), (9.5, False, "inner"),
    ]  # fmt: skip
    assert own_seconds(events) == [("inner", 3.5), ("outer", 3.0)]


def test_published_record_is_complete_and_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recording, "RESULTS", tmp_path)
    recording.publish("try", "A <title>", ["what", "s"], [["a & b", 1234.5]], needs="DATA=d")
    record = json.loads((tmp_path / "try.json").read_text())
    assert record["command"] == "DATA=d python -m benchmarks try"
    assert {"python", "numpy", "numba", "scikit-learn"} <= set(record["versions"])
    assert record["cpus"] and record["date"] and record["rows"] == [["a & b", 1234.5]]
    assert "1,234" in capsys.readouterr().out


def test_page_holds_every_table_and_picture(tmp_path):
    (tmp_path / "p.svg").write_text("<svg/>")
    record = {
        "title": "A <title>", "command": "c", "columns": ["x", "y"], "rows": [["a & b", None]],
        "plots": ["p.svg", "gone.svg"],
    }  # fmt: skip
    page = report.render({"one": record}, tmp_path)
    assert "A &lt;title&gt;" in page and "<td>a &amp; b</td><td></td>" in page
    assert "data:image/svg+xml;base64,PHN2Zy8+" in page
    assert "The picture gone.svg is missing." in page
    assert "http" not in page  # nothing to fetch


def test_nested_results_become_rows():
    record = {"results": {"news": {"A": {"f1": 0.5}, "B": {"f1": 0.25, "C": 1.0}}}}
    columns, rows = report.table_of(record)
    assert columns == ["", "f1", "C"]
    assert rows == [["news A", 0.5, None], ["news B", 0.25, 1.0]]
