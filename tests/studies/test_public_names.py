"""Studies are users of the library: they import its public names only; it knows nothing of them."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import linnaeus

ROOT = Path(__file__).resolve().parents[2]
STUDIES = sorted((ROOT / "studies").glob("*.py"))
LIBRARY = sorted((ROOT / "src" / "linnaeus").rglob("*.py"))


def imports(path):
    """(module, name or None) of every import of a file, those inside functions included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def public(module):
    """What a public module of the library offers; nothing for other modules."""
    if module == "linnaeus":
        return {*linnaeus.__all__, *linnaeus._MODULES}
    package, _, name = module.partition(".")
    if package != "linnaeus" or name not in linnaeus._MODULES:
        return set()
    found = importlib.import_module(module)
    if hasattr(found, "__all__"):
        return {*found.__all__}
    return {n for n, v in vars(found).items() if n[0] != "_" and not inspect.ismodule(v)}


def hidden(path):
    """The imports of a file that are not of public names."""
    ours = [(m, n) for m, n in imports(path) if m.split(".")[0] == "linnaeus"]
    return [(m, n) for m, n in ours if n not in (public(m) if n else {None})]


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_studies_import_public_names_only(path):
    assert hidden(path) == []


def test_a_private_name_is_seen(tmp_path):
    file = tmp_path / "study.py"
    file.write_text(
        "from linnaeus import HM3\nfrom linnaeus.io import read_collection\n"
        "from linnaeus.files import atomic_write\nfrom linnaeus.metrics import inputs\n"
        "def f():\n    from linnaeus.metrics.counts import prf\n"
    )
    assert hidden(file) == [
        ("linnaeus.files", "atomic_write"),
        ("linnaeus.metrics", "inputs"),
        ("linnaeus.metrics.counts", "prf"),
    ]


def test_studies_are_no_part_of_the_library():
    known = {module.split(".")[0] for path in LIBRARY for module, _ in imports(path)}
    assert "linnaeus" in known and not known & {"studies", "benchmarks"}
