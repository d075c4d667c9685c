"""What the site holds besides ``docs/pages``.

The mathematics, pages made from records and the pictures stay where they are in ``docs``, in
``studies`` and in ``benchmarks``; the gallery and the command line come from ``docs/build.py``;
pages of the reference, the list of sources and the links to it are made here. Nothing is copied
into ``docs/pages``.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

DOCS = Path(__file__).resolve().parent
MADE = Path(os.environ.get("DOCS_MADE", DOCS.parent / "build" / "docs"))  # by docs/build.py
SOURCES = DOCS / "references.bib"
BESIDE = (DOCS / "reproduction.md", DOCS / "scale.md")  # pages that are made from records
PICTURES = ("../studies/records/pictures", "../benchmarks/results")  # theirs, seen from them
ESTIMATORS = {
    "svm": "One support vector machine per class",
    "logistic": "One logistic regression per class",
    "msvm": "One support vector machine of all classes",
    "mlr": "One logistic regression of all classes",
    "topdown": "Local models, from the roots down",
    "hrls": "Least squares from the roots down",
    "rr_svm": "Recursive regularisation of support vector machines",
    "rr_lr": "Recursive regularisation of logistic regressions",
    "hm3": "Max-margin Markov model of the hierarchy",
    "graph_m3": "Max-margin Markov model of a graph",
    "ranking_svm": "Ranking with a taxonomy",
    "perceptron": "The hierarchical Perceptron",
    "hieron": "Hieron",
    "hblr": "Hierarchical Bayesian logistic regression",
    "ot": "Orthogonal transfer",
    "corrmnl": "The correlated multinomial logit",
}


def on_files(files: Files, config: Any) -> Files:
    """Add the mathematics, pages made from records, pictures, what was made, and the reference."""
    folders = {DOCS / "maths": "maths/", DOCS / "images": "images/", MADE: ""}
    pictures = {DOCS / name: "images/" for name in PICTURES}
    for folder, prefix in (folders | pictures).items():
        for path in sorted(folder.rglob("*.svg" if folder in pictures else "*")):
            if path.is_file():
                _add(
                    files,
                    config,
                    prefix + path.relative_to(folder).as_posix(),
                    abs_src_path=str(path),
                )
    for page in BESIDE:
        _add(files, config, page.name, abs_src_path=str(page))
    for name, text in made_pages().items():
        _add(files, config, name, content=text)
    return files


def _add(files: Files, config: Any, name: str, **source: str) -> None:
    from mkdocs.structure.files import File

    files.append(File.generated(config, name, **source))


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Let every [Key] lead to the list of sources, and names of files of maths to their pages."""
    folder = posixpath.dirname(page.file.src_uri) or "."
    for pictures in PICTURES:
        markdown = markdown.replace(f"]({pictures}/", "](images/")
    maths = posixpath.relpath("maths", folder)
    for name, text in MADE_TEXTS.items():
        if f"<!-- {name} -->" in markdown:
            markdown = markdown.replace(f"<!-- {name} -->", text())
    markdown = re.sub(r"(?<![`/\w])docs/maths/(\w+)\.md", rf"[\1]({maths}/\1.md)", markdown)
    target = posixpath.relpath("references.md", folder)
    links = (f"[{key}]: {target}#{key.lower()}" for key in sources() if f"[{key}]" in markdown)
    return "\n".join([markdown, "", *links])


def made_pages() -> dict[str, str]:
    """Pages that are not written by hand: the reference, and the lists of maths and sources."""
    return {**_reference(), "maths/index.md": _maths(), "references.md": _references()}


def _table_of_methods() -> str:
    from linnaeus.model.methods import INFO

    rows = ["| method | when | cost | limits |", "|---|---|---|---|"]
    for name, info in INFO.items():
        rows.append(
            f"| [{name}](methods/{name}.md) | {info.advice} | {info.cost} | {info.limits} |"
        )
    return "\n".join(rows)


def _table_of_rules() -> str:
    from linnaeus.decisions import RULES

    rows = ["| rule | what it does, and when it helps | learns |", "|---|---|---|"]
    for name, info in RULES.items():
        rows.append(f"| `{name}` | {info.advice} | {'yes' if info.learns else 'no'} |")
    return "\n".join(rows)


def _table_of_formats() -> str:
    from linnaeus.taxonomy.formats import FORMATS

    rows = ["| format | what it is | can be written |", "|---|---|---|"]
    for name, found in FORMATS.items():
        rows.append(f"| `{name}` | {found.about} | {'yes' if found.write else 'no'} |")
    return "\n".join(rows)


def _table_of_columns() -> str:
    from linnaeus.io import columns, label_columns

    levels = ", ".join(f"`{word} 1`" for word in sorted(label_columns.LEVELS))
    below = ", ".join(f"`sub{word}`" for word in label_columns.BELOW)
    return _names(
        {
            "text": _listed(columns.TEXTS.split()),
            "joined to the text": _listed(columns.TITLES.split()),
            "labels": _listed(columns.LABELS.split()),
            "levels": f"numbered from 0 or 1: {levels}; or a column and one below it: {below}",
            "ids": _listed(columns.IDS.split()),
        }
    )


def _table_of_headers() -> str:
    from linnaeus.taxonomy.formats import headers

    return _names({what: _listed(words) for what, words in headers.known_names().items()})


def _names(rows: dict[str, str]) -> str:
    lines = (f"| {what} | {names} |" for what, names in rows.items())
    return "\n".join(["| what | names of columns |", "|---|---|", *lines])


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word.replace('_', ' ')}`" for word in words)


def _prediction_formats() -> str:
    from linnaeus.io.predictions import FORMATS

    *most, last = (f"`.{name}`" for name in FORMATS)
    return f"{', '.join(most)} or {last}"


MADE_TEXTS = {  # what stands on a page as <!-- its name -->
    "table of methods": _table_of_methods,
    "table of rules": _table_of_rules,
    "table of taxonomy formats": _table_of_formats,
    "table of names of columns": _table_of_columns,
    "table of names of taxonomy columns": _table_of_headers,
    "list of prediction formats": _prediction_formats,
}


def _reference() -> dict[str, str]:
    pages, rows = {}, []
    for stem, title in ESTIMATORS.items():
        pages[f"api/{stem}.md"] = _page(title, f"linnaeus.estimators.{stem}")
        classes = ", ".join(f"`{name}`" for name in _exported(f"linnaeus.estimators.{stem}"))
        rows.append(f"- [{title}]({stem}.md): {classes}")
    rows += ["", "## Modules", ""]
    for name in modules():
        about = _first_line(name)
        pages[f"api/{name}.md"] = _page(f"linnaeus.{name}", f"linnaeus.{name}")
        rows.append(f"- [`linnaeus.{name}`]({name}.md): {about}")
    head = "# Python reference\n\nFrom the docstrings of the source.\n\n## Estimators\n\n"
    return {"api/index.md": head + "\n".join(rows) + "\n", **pages}


def _exported(module: str) -> list[str]:
    import linnaeus

    return [name for name, home in linnaeus._EXPORTS.items() if home == module]


def _page(title: str, module: str) -> str:
    options = "      show_root_heading: false\n      show_root_toc_entry: false\n"
    return f"# {title}\n\n::: {module}\n    options:\n{options}"


def modules() -> list[str]:
    """The public modules of the package."""
    import linnaeus

    return sorted(linnaeus._MODULES)


def _first_line(module: str) -> str:
    import importlib

    text = importlib.import_module(f"linnaeus.{module}").__doc__ or ""
    return text.strip().split("\n\n")[0].replace("\n", " ")


def _maths() -> str:
    rows = []
    for path in sorted((DOCS / "maths").glob("*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        rows.append(f"- [{title}]({path.name})")
    head = (
        "# Mathematics\n\nEvery solver's problem, step and certificate, for those who want to "
        "check or change it. Nothing here is needed to use the library.\n\n"
    )
    return head + "\n".join(rows) + "\n"


def _references() -> str:
    found = [
        "# Sources",
        "",
        "Keys as they stand in the text; the file is `docs/references.bib`.",
        "",
    ]
    for key, entry in sorted(sources().items()):
        where = entry.get("journal") or entry.get("booktitle") or entry.get("school")
        where = where or entry.get("publisher", "")
        found += [
            f"## {key} {{ #{key.lower()} }}",
            "",
            f"{_authors(entry['author'])}. *{entry['title']}*. {where}, {entry['year']}.",
            "",
        ]
    return "\n".join(found)


def sources() -> dict[str, dict[str, str]]:
    """The entries of the list of sources, by key."""
    text = SOURCES.read_text(encoding="utf-8")
    found = {}
    for entry in re.split(r"^@", text, flags=re.MULTILINE)[1:]:
        key = re.match(r"\w+\{([^,]+),", entry)
        fields = re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\}", entry, flags=re.MULTILINE)
        assert key is not None, entry
        found[key[1]] = {name.lower(): _plain(value) for name, value in fields}
    return found


def _plain(value: str) -> str:
    """A field without the signs of BibTeX."""
    for sign, letter in {"\\'e": "é", '\\"u': "ü", "--": "–"}.items():
        value = value.replace(sign, letter)
    return re.sub(r"[{}]", "", value)


def _authors(names: str) -> str:
    """Given names first, commas between the authors.

    >>> _authors("Cai, Lijuan and Hofmann, Thomas")
    'Lijuan Cai, Thomas Hofmann'
    """
    return ", ".join(" ".join(reversed(name.split(", "))) for name in names.split(" and "))
