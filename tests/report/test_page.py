"""The page: what it says, that it is one file, and that data cannot become mark-up."""

import re
from html.parser import HTMLParser

import pytest

from comparisons import NASTY, made_up
from linnaeus.report import page, render_report, tables, write_report

pytest.importorskip("jinja2")
pytest.importorskip("plotly")

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """The elements of a page: they must be closed in order; scripts are kept apart."""

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes, self.text, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *pair) for pair in attrs]
        self.ids += [value for key, value in attrs if key == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text.append(data)


def without_plotly(text):
    return text.replace(page._plotly_script(), "")


@pytest.fixture(scope="module")
def comparison():
    return made_up(folds=4)


@pytest.fixture(scope="module")
def text(comparison):
    return render_report(comparison)


@pytest.fixture(scope="module")
def parsed(text):
    return Page(without_plotly(text))


def test_nothing_is_loaded_from_elsewhere(text, parsed):
    assert "http" not in without_plotly(text).replace("http-equiv", "")
    for tag, name, value in parsed.attributes:
        if name in ("src", "href", "action", "srcset", "data"):
            assert value.startswith(("#", "data:")), (tag, name, value)
    assert "@import" not in text[: text.index("</style>")]
    assert not re.search(r"url\(", text[: text.index("</style>")])


def test_no_button_sends_data_away(text):
    assert "showSendToCloud: false" in text
    assert "modeBarButtons: [own]" in text


def test_links_within_the_page_lead_somewhere(parsed):
    links = [v[1:] for tag, k, v in parsed.attributes if (tag, k) == ("a", "href")]
    assert links and set(links) <= set(parsed.ids)
    assert len(set(parsed.ids)) == len(parsed.ids)


def test_every_chart_has_its_data(parsed):
    drawn = {v for _, k, v in parsed.attributes if k == "data-chart"}
    assert drawn == {
        "figures", "levels", "sizes", "map", "calibration", "sweep", "time", "memory", "coverage",
    }  # fmt: skip
    assert {f"data-{name}" for name in drawn} <= set(parsed.ids)


def test_data_cannot_become_mark_up(text, parsed):
    assert NASTY not in without_plotly(text)
    assert not any("alert(" in (v or "") for _, k, v in parsed.attributes if k.startswith("on"))
    said = "".join(parsed.text)
    assert NASTY in said  # shown as it is: a title, an excerpt, a reason
    scripts = re.findall(r"<script[^>]*>", without_plotly(text))
    assert all("application/json" in s or s == "<script>" for s in scripts)


def test_the_page_says_who_is_best_and_what_marks_mean(comparison, parsed):
    said = " ".join("".join(parsed.text).split())
    assert "good is best in micro F1" in said.replace("\u00a0", " ")
    assert "Holm's correction" in said
    assert "paired bootstrap of the figure itself" in said and "hard on a method" in said
    assert "always the same" in said and "95 % interval" in said
    assert "a forest of 2 trees" in said
    assert "odd: It takes one label per row" in said
    assert "linnaeus compare made-up" in said
    assert "12 kB" in said and "1.0e-04" in said


def test_the_best_is_bold_and_the_others_are_marked(comparison):
    rows = tables.figure_rows(comparison)
    assert [row["name"] for row in rows] == ["good", "fair", "poor"]
    assert rows[0]["cells"][0]["best"] and not rows[1]["cells"][0]["best"]
    assert [row["cells"][0]["mark"] for row in rows] == ["", "**", "**"]
    loss = [row["cells"][3] for row in rows]
    assert [cell["best"] for cell in loss] == [True, False, False]  # less is better


def test_a_single_model_has_no_marks_and_no_tests():
    comparison = made_up(noise={"mine": 0.2})
    alone = type(comparison)(
        comparison.taxonomy, comparison.setting, comparison.results[:1], comparison.truth,
        comparison.train_counts,
    )  # fmt: skip
    text = without_plotly(render_report(alone))
    said = " ".join("".join(Page(text).text).split())
    assert "Evaluation: made up" in said
    assert "Is it chance?" not in said and "Holm" not in said
    assert "by the bootstrap over test rows" in said


def test_a_comparison_without_results_still_makes_a_page():
    text = render_report(made_up(noise={}))
    assert "Plotly" not in text and len(text) < 50_000
    assert "No method has a result." in "".join(Page(text).text)


def test_perfect_predictions_and_rows_without_texts():
    comparison = made_up(noise={"perfect": 0.0, "also": 0.0}, texts=False)
    said = "".join(Page(without_plotly(render_report(comparison))).text)
    assert "Mistakes worth reading" not in said and "Confused labels" not in said


def test_the_file_is_written_whole_or_not_at_all(comparison, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    write_report(comparison, path)
    before = path.read_text(encoding="utf-8")
    assert before.startswith("<!doctype html>") and before.rstrip().endswith("</html>")

    def broken(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(page, "_content", broken)
    with pytest.raises(KeyboardInterrupt):
        write_report(comparison, path)
    assert path.read_text(encoding="utf-8") == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("package", ["jinja2", "plotly"])
def test_a_missing_package_is_named_with_its_extra(comparison, monkeypatch, package):
    import sys

    from linnaeus.errors import MissingExtraError

    hidden = "plotly.offline" if package == "plotly" else package
    monkeypatch.setitem(sys.modules, hidden, None)
    with pytest.raises(MissingExtraError, match=rf"needs the package '{package}'.*\[report\]"):
        render_report(comparison)


@pytest.mark.parametrize(
    ("n", "said"), [(12, "12 B"), (1500, "1.5 kB"), (23e6, "23 MB"), (1e12, "1,000 GB")]
)
def test_sizes_in_bytes(n, said):
    assert tables.size(n) == said


def test_small_p_values():
    assert [tables.pvalue(p) for p in (0.5, 0.0312, 1e-9)] == ["0.50", "0.0312", "<0.0001"]
