"""The page on scale holds what the records say, and all of it."""

import re
from pathlib import Path

from benchmarks import scale as reckoning
from docs import scale

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "scale.md").read_text("utf-8")


def test_the_page_is_that_of_the_records():
    assert scale.filled(PAGE) == PAGE, "run: python -m docs.scale"


def test_the_page_follows_the_records(monkeypatch):
    read = reckoning.read

    def slower(name):
        record = read(name)
        if name == "rate_fit":
            record["rows"][0][3] = 123.0
        return record

    monkeypatch.setattr(reckoning, "read", slower)
    assert "up to 1.2e+02 K z" in scale.filled(PAGE)


def test_every_part_is_on_the_page_and_every_picture_there():
    assert {*re.findall(r"<!-- scale: ([\w ]+) -->", PAGE)} == {*scale.MADE}
    links = re.findall(r"\]\((\.\./[^)]*\.svg)\)", PAGE)
    assert links and all((DOCS / link).is_file() for link in links)


def test_words_between_the_figures_hold_no_measurements():
    written = scale.BLOCK.sub("", PAGE)
    assert not re.findall(r"\d+\.\d+", written)
