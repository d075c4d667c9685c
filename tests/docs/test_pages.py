"""Everything that the documentation shows is run here, and every link leads somewhere."""

import doctest
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import linnaeus
from linnaeus.cli.main import run
from linnaeus.io import write_jsonl
from linnaeus.model.methods import METHODS
from linnaeus.synthetic import newsroom
from marks import slow

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "pages").rglob("*.md"))
FIRST = {"quickstart"}  # of those that run whole commands; the others are slow
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[+-]?\d*\.\d+(?:e[+-]?\d+)?(?!\w|\.\d)")
TOLERANCE = 0.03  # of numbers with a point, which other machines may round otherwise
CLOCK = re.compile(  # times and gaps: any figure will do
    r"(?<![\w.])(?:\d[\d,.]*(?= s\b| per second)|\d+e-\d+)"
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTH = "88"  # of the terminal that console blocks show


def load(name):
    """A module of docs/, which is not a package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build, hooks, docstrings = load("build"), load("hooks"), load("docstrings")
pictures = load("pictures")
measured, scale, walk = load("measured"), load("scale"), load("walk")


def page_name(path):
    return path.relative_to(DOCS / "pages").as_posix()


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    """The collection of the quick start, as a folder."""
    folder = tmp_path_factory.mktemp("docs") / "news"
    folder.mkdir()
    stories = newsroom(n_train=400, n_test=100)
    stories.taxonomy.write(folder / "taxonomy.tsv")
    write_jsonl(stories.train, folder / "train.jsonl")
    write_jsonl(stories.test, folder / "test.jsonl")
    return folder


@pytest.fixture
def place(news, tmp_path, monkeypatch):
    """A folder to work in, which holds the collection `news`; a terminal of fixed width."""
    shutil.copytree(news, tmp_path / "news")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", WIDTH)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def is_slow(path):
    return path.stem == "graph-m3" or (path.parent.name == "pages" and path.stem not in FIRST)


@pytest.mark.parametrize("path", [slow(p) if is_slow(p) else p for p in PAGES], ids=page_name)
def test_code_of_a_page_runs(path, place, capsys):
    run_page(path.read_text("utf-8"), page_name(path), {"__name__": "__main__"}, capsys)


def test_readme(place, capsys):
    """The example can be pasted into an empty session."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert text.count("```python") == 1
    run_page(text, "README.md", {"__name__": "__main__"}, capsys)


def run_page(text, name, known, capsys):
    """Run all blocks of a page, one after the other, in one namespace."""
    for match in FENCE.finditer(text):
        kind, options, code = match.groups()
        if "hiclass" in options and importlib.util.find_spec("hiclass") is None:
            continue
        line = text.count("\n", 0, match.start()) + 1
        if kind == "console":
            run_console(code, f"{name}:{line}", capsys)
        elif kind in ("python", "pycon"):
            run_python(code, f"{name}:{line}", line, known)


def run_python(code, where, line, known):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what a page shows works without complaint
        if ">>>" not in code:
            exec(compile("\n" * line + code, where, "exec"), known)
            return
        code = re.sub(r"^\n(?!>>> )", "<BLANKLINE>\n", code, flags=re.MULTILINE)
        test = doctest.DocTestParser().get_doctest(code, {}, where, where, line)
        test.globs = known
        said = []
        runner = doctest.DocTestRunner(Checker(), verbose=False, optionflags=FLAGS)
        failed, _ = runner.run(test, out=said.append, clear_globs=False)
    assert not failed, "".join(said)


class Checker(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        return shows(want.replace("<BLANKLINE>", ""), got)


def shows(wanted, got):
    """Whether an output is the one wanted: ... is anything, and numbers may differ a little."""
    pattern, numbers = "", []
    pieces = rf"(\s*\.\.\.\s*|\s+|{CLOCK.pattern}|{NUMBER.pattern})"
    for piece in re.split(pieces, CLOCK.sub("0e-0", wanted.strip())):
        if piece.strip() == "...":
            pattern += ".*?"
        elif CLOCK.fullmatch(piece):
            pattern += rf"(?:{CLOCK.pattern})"
        elif NUMBER.fullmatch(piece):
            pattern += f"({NUMBER.pattern})"
            numbers.append(float(piece))
        else:
            pattern += r"\s+" if piece.isspace() else re.escape(piece)
    found = re.fullmatch(pattern, got.strip(), re.DOTALL)
    return found is not None and all(
        abs(a - float(b)) <= TOLERANCE * max(1, abs(a))
        for a, b in zip(numbers, found.groups(), strict=True)
    )


def run_console(code, where, capsys):
    """Run the commands after $; what stands below one is what it prints, ... for anything.

    With the notes on standard error, or without them.
    """
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, wanted = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL).groups()
        results, everything = run_command(shlex.split(command.replace("\\\n", " ")), where, capsys)
        matches = not wanted.strip() or shows(wanted, results) or shows(wanted, everything)
        assert matches, f"{where}\n$ {command}\n{wanted}\nbut:\n{everything}"


def run_command(words, where, capsys):
    if words[0] != "linnaeus":
        assert words[0] in ("cat", "head", "ls"), f"{where}: {words[0]} is not run here"
        told = subprocess.run(words, capture_output=True, text=True)
        assert told.returncode == 0, f"{where}: {told.stderr}"
        return told.stdout, told.stdout
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        run(words[1:])
    out, err = capsys.readouterr()
    assert not stop.value.code, f"{where}\n$ {shlex.join(words)}\n{out}{err}"
    return out, err + out


@pytest.mark.slow
@pytest.mark.parametrize("example", build.examples(), ids=lambda e: e.name)
def test_example_runs_and_draws(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = build.run_example(example.name, tmp_path)
    assert ran.pictures and all(name.startswith(example.name) for name in ran.pictures)
    page = build.example_page(example, ran)
    assert example.title in page and f"]({ran.pictures[0]})" in page


def test_every_method_has_a_page():
    named = {path.stem for path in PAGES if path.parent.name == "methods"}
    assert named == {*METHODS, "graph-m3"}
    homes = {home for home in linnaeus._EXPORTS.values() if home.startswith("linnaeus.estimators")}
    assert homes == {f"linnaeus.estimators.{stem}" for stem in hooks.ESTIMATORS}
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == {
        example.name for example in build.examples()
    }


def test_pages_of_methods_have_the_same_parts():
    for name in [*METHODS, "graph-m3"]:
        text = (DOCS / "pages" / "methods" / f"{name}.md").read_text("utf-8")
        wanted = ["The problem", "When to use it", "Cost", "Parameters that matter", "Example"]
        assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [*wanted, "Sources"], name
        assert ">>>" in text, name
        assert any(f"[{key}]" in text for key in hooks.sources()), name


def test_sources_that_are_named_exist():
    known = hooks.sources()
    for path in [*PAGES, *(DOCS / "maths").glob("*.md")]:
        text = path.read_text("utf-8")
        assert {*re.findall(r"\[([A-Z][A-Za-z]+\d{4})\]", text)} <= {*known}, path


def test_internal_links_resolve():
    made = {*hooks.made_pages(), "commands.md", "gallery/index.md", "reproduction.md", "scale.md"}
    made |= {f"gallery/{example.name}.md" for example in build.examples()}
    made |= {f"maths/{path.name}" for path in (DOCS / "maths").glob("*.md")}
    known = made | {page_name(path) for path in PAGES}
    for path in PAGES:
        text = FENCE.sub("", path.read_text("utf-8"))
        for target in re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", text):
            full = (path.parent / target).resolve().relative_to(DOCS / "pages").as_posix()
            assert full in known, f"{page_name(path)} links to {target}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site; pages that come from running examples are stand-ins."""
    place = tmp_path_factory.mktemp("site")
    made = place / "made"
    (made / "gallery").mkdir(parents=True)
    (made / "commands.md").write_text(build.command_page.page(), encoding="utf-8")
    for name in ("index", *(e.name for e in build.examples())):
        (made / "gallery" / f"{name}.md").write_text("# A page\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(place / "site")]
    environment = {**os.environ, "DOCS_MADE": str(made)}
    told = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return place / "site"


@pytest.mark.slow
def test_the_site_builds_without_a_warning(site):
    """The docstrings take part too, and nothing is fetched from elsewhere."""
    page = (site / "api" / "svm.html").read_text("utf-8")
    assert "One support vector machine per class" in page and 'href="../references.html#' in page
    outside = re.compile(r'(?:src|href)="https?://')
    assert not any(outside.search(p.read_text("utf-8")) for p in site.rglob("*.html"))


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium on the path")
def test_the_search_works_from_the_disk(site, tmp_path):
    """No server: the page is a file, and so is the index."""
    page = f"{(site / 'index.html').as_uri()}?q=shrink+threshold"
    found = (searched(page, tmp_path / str(attempt)) for attempt in range(3))
    dom = next((dom for dom in found if re.search(r"\d+ matching documents", dom)), "")
    assert re.search(r'decisions.html#[\w.]*SCut" class="md-search-result__link"', dom)


def searched(page, profile):
    """The page as the browser has it in the end; nothing where a busy browser does not end."""
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--timeout=20000")  # fmt: skip
    command = [CHROMIUM, *flags, f"--user-data-dir={profile}", "--dump-dom", page]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=90).stdout
    except subprocess.TimeoutExpired:
        return ""


def test_navigation_names_pages_that_exist_and_all_written_ones():
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    named = {*re.findall(r"([\w/-]+\.md)$", text[text.index("\nnav:") :], re.MULTILINE)}
    made = {"commands.md", "gallery/index.md", "reproduction.md", "scale.md", *hooks.made_pages()}
    written = {page_name(path) for path in PAGES}
    assert written <= named <= written | made


@pytest.mark.parametrize(
    "module", [build, build.command_page, hooks, docstrings, measured, pictures, scale, walk]
)
def test_examples_in_the_docstrings_of_the_builder(module):
    assert doctest.testmod(module, optionflags=FLAGS).failed == 0


def test_a_docstring_becomes_markdown():
    items = "Parameters\n----------\na : int, default=1\n    One\n    line.\nb : str\n    Two."
    text = f"Say it.\n\n    1 + 2\n\n{items}\n\nSee [Cai2008].\n\n>>> 1\n1"
    assert docstrings.as_markdown(text) == (
        "Say it.\n\n    1 + 2\n\n**Parameters**\n\n"
        "- `a` (int, default=1): One line.\n- `b` (str): Two.\n\n"
        "See [Cai2008](../references.md#cai2008).\n\n```pycon\n>>> 1\n1\n```"
    )


def test_the_command_page_names_every_option_of_every_command():
    """As click knows them: whatever a command takes stands in its section, and nothing is cut."""
    from typer.main import get_command

    from linnaeus.cli.main import app

    page = build.command_page.page()
    sections = dict(re.findall(r"^##+ (linnaeus [a-z ]+)\n(.*?)(?=^##|\Z)", page, re.M | re.S))
    top = get_command(app).commands
    known = {(name,): command for name, command in top.items()}
    known |= {("taxonomy", name): member for name, member in top["taxonomy"].commands.items()}
    assert {" ".join(("linnaeus", *words)) for words in known} == {*sections}
    for words, command in known.items():
        section = sections[" ".join(("linnaeus", *words))]
        for parameter in command.params:
            option = parameter.param_type_name == "option"
            for name in parameter.opts if option else [parameter.metavar or parameter.name.upper()]:
                assert re.search(rf"`{re.escape(name)}[ `]", section), (words, name)
    assert "…" not in page and "\x1b" not in page and "[bold]" not in page
    assert page.index("## For installations") < page.index("### linnaeus compile")
    assert [m[1] for m in re.finditer(r"^## (.*)", page, re.M)][-1] == "For installations"


def test_texts_that_are_made_have_a_place():
    """Every placeholder of a page is known, and every text that can be made is used."""
    pages = "".join(path.read_text("utf-8") for path in PAGES)
    assert {*re.findall(r"<!-- ((?:table|list) of [\w ]+) -->", pages)} == {*hooks.MADE_TEXTS}
    assert "`category path`" in hooks.MADE_TEXTS["table of names of columns"]()
    assert "`oberbegriff`" in hooks.MADE_TEXTS["table of names of taxonomy columns"]()


def test_outputs_are_compared_with_a_tolerance():
    assert shows("F1 0.75 in ... s", "F1  0.7542 in 3.1 s\n")
    assert not shows("F1 0.75 in ... s", "F1 0.65 in 3.1 s")
    assert not shows("12 rows", "13 rows") and not shows("a", "a b")
    assert shows("[0.5, -.25]", "[0.51, -0.25]") and shows("a\n\nb", "a\n\n b")
    assert shows("F1 0.75 in 1.2 s", "F1 0.75 in 13 s") and shows("gap 3e-04", "gap 2e-05")
    assert not shows("F1 0.75 in 1.2 s", "F1 0.65 in 1.2 s") and not shows("in 1.2 s", "in a s")
    assert shows("p = 1.88e-06", "p = 1.88e-06") and not shows("p = 1.88", "p = 2.88")
    assert shows("(1,412 per second)", "(24 per second)") and not shows("1,412 rows", "24 rows")


def test_a_page_that_is_wrong_fails(place, capsys):
    for wrong in (
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```python\nassert False\n```\n",
        "```console\n$ linnaeus taxonomy show nowhere.tsv\n```\n",
        "```console\n$ linnaeus taxonomy stats news\nno such output\n```\n",
    ):
        with pytest.raises(AssertionError):
            run_page(wrong, "wrong.md", {}, capsys)
