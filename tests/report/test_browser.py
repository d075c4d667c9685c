"""The report in a real browser: charts are drawn, nothing goes wrong, nothing is asked for."""

import json
import re
import shutil
import subprocess

import pytest

from comparisons import made_up
from linnaeus.report import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.web,
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium on the path"),
]

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--virtual-time-budget=10000", "--window-size=1200,900",
)  # fmt: skip
# errors, refused requests and failed resources are written where --dump-dom shows them
WATCH = """<script>
window.problems = [];
addEventListener("error", function (e) { problems.push(String(e.message || e.target.src)); }, true);
addEventListener("unhandledrejection", function (e) { problems.push(String(e.reason)); });
["error", "warn"].forEach(function (kind) {
  console[kind] = function () { problems.push(kind + ": " + [].join.call(arguments, " ")); };
});
addEventListener("securitypolicyviolation", function (e) { problems.push(e.blockedURI); });
addEventListener("load", function () {
  setTimeout(function () {
    var asked = performance.getEntriesByType("resource").map(function (r) { return r.name; });
    document.body.dataset.problems = JSON.stringify(problems);
    document.body.dataset.asked = JSON.stringify(
      asked.filter(function (n) { return !/^(data|blob):/.test(n); }));
    var wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    document.body.dataset.overflow = String(wide);
  }, 3000);
});
</script>"""
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; script-src '
    "'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:\">"
)


def opened(path, profile, *flags):
    """The page as the browser has it in the end."""
    command = [CHROMIUM, *FLAGS, *flags, f"--user-data-dir={profile}", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def found(dom, name):
    text = re.search(rf'data-{name}="([^"]*)"', dom).group(1)
    return json.loads(text.replace("&quot;", '"'))


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """A report that may load nothing, and notes what goes wrong."""
    path = tmp_path_factory.mktemp("browser") / "report.html"
    write_report(made_up(folds=3), path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("<head>", f"<head>{POLICY}{WATCH}", 1), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1200, 500])
def test_charts_are_drawn_without_errors_and_without_a_network(watched, tmp_path, width):
    dom = opened(watched, tmp_path / "profile", f"--window-size={width},900")
    assert found(dom, "problems") == []
    assert found(dom, "asked") == []
    assert found(dom, "overflow") <= 0  # nothing is wider than the window
    charts = re.split(r'class="chart[^"]*js-plotly-plot', dom)[1:]
    assert len(charts) == 9
    for part in charts:
        assert "main-svg" in part
    drawn = "".join(charts)
    for layer in ("scatterlayer", "barlayer", "treemaplayer", "legend"):
        assert layer in drawn
    assert dom.count("slice cursor-pointer") >= 9  # areas of the map
    assert (
        "data-unformatted" in drawn
        and "send" not in " ".join(re.findall(r'data-title="([^"]*)"', drawn)).lower()
    )


def test_it_prints(watched, tmp_path):
    target = tmp_path / "report.pdf"
    command = [
        CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--no-pdf-header-footer",
        f"--print-to-pdf={target}", watched.as_uri(),
    ]  # fmt: skip
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", target.read_bytes()))
    assert 3 <= pages <= 20
