"""What a newcomer reads first is true: README, CONTRIBUTING, and what stands in pyproject.toml."""

import importlib.util
import re
import tomllib
from pathlib import Path

import linnaeus

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "linnaeus"
README = (ROOT / "README.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def load(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_measured_results_are_those_of_the_records():
    measured = load("measured")
    assert measured.filled(README, measured.measured()) == README, "run: python -m docs.measured"


def test_measured_results_follow_the_records(monkeypatch):
    """Another figure in a record is another figure in the table."""
    measured = load("measured")
    read = measured._read

    def slower(path):
        record = read(path)
        for row in record.get("rows", ()):
            row[1] += 100
        return record

    monkeypatch.setattr(measured, "_read", slower)
    assert "100.7" in measured.measured() and measured.filled(README, "x") != README


def test_links_of_the_first_pages_lead_somewhere():
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"):
        text = (ROOT / name).read_text("utf-8")
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (ROOT / target).exists(), f"{name} links to {target}"


def test_readme_lists_the_commands():
    from typer.main import get_command

    from linnaeus.cli.main import app

    listed = re.findall(r"^\| `([a-z]+)` \|", README, re.MULTILINE)
    assert sorted(listed) == sorted(get_command(app).commands)


def test_the_map_names_every_package():
    there = {path.stem for path in SOURCES.iterdir() if (path / "__init__.py").exists()}
    there |= {path.stem for path in SOURCES.glob("*.py")} - {"__init__"}
    rows = re.findall(r"^\| (`.*?) \|", CONTRIBUTING, re.MULTILINE)
    named = re.findall(r"`(\w+)`", " ".join(rows))
    assert sorted(named) == sorted(there)


def test_the_walk_names_files_that_exist():
    for command in ("train", "predict"):
        assert f"**`linnaeus {command}`**" in CONTRIBUTING, "run: python -m docs.walk"
    steps = re.findall(r"^\d+\. \*\*(\w+)\*\*: (.*)$", CONTRIBUTING, re.MULTILINE)
    assert steps
    for package, text in steps:
        for file in re.findall(r"`([\w/]+\.py)`", text):
            found = (SOURCES / package / file).exists() or (SOURCES / file).exists()
            assert found, f"{package}/{file} is gone: run python -m docs.walk"


def test_the_walk_sees_a_call():
    walk = load("walk")
    with walk._noted() as calls:
        linnaeus.Taxonomy.flat(["a", "b"])
    assert walk.Call("taxonomy/taxonomy.py", "Taxonomy.flat") in calls


def test_the_extra_dev_is_the_group_dev():
    groups = PROJECT["dependency-groups"]

    def members(name):
        for entry in groups[name]:
            if isinstance(entry, dict):
                yield from members(entry["include-group"])
            elif not entry.startswith("linnaeus["):
                yield entry

    extra = PROJECT["project"]["optional-dependencies"]["dev"]
    assert {*members("dev")} == {e for e in extra if not e.startswith("linnaeus[")}


def test_versions_agree():
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None and cited[1] == linnaeus.__version__
    assert f"## {linnaeus.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
