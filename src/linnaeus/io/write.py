"""Write examples so that they can be read again: texts, sparse features, tables.

`write_collection` writes a folder that `read_collection` reads back: texts as jsonl, sparse
features as svm with labels by their numbers in ``labels.tsv``, tables as csv.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from linnaeus.errors import UserError, shorten
from linnaeus.files import atomic_write
from linnaeus.io.collection import Collection, Part
from linnaeus.io.svm import ID
from linnaeus.taxonomy import Taxonomy

_BLOCK = 4096  # so many rows of svm are turned into text at once


def write_collection(
    collection: Collection, folder: str | Path, *, compress: bool = True
) -> list[Path]:
    """Write the taxonomy and all parts into a folder that is there.

    What a form cannot say is lost: the names of sparse features, columns of zeros after the last
    feature that occurs, metadata beside features.

    Parameters
    ----------
    collection : Collection
        What to write.
    folder : str or Path
        The folder.
    compress : bool, default=True
        Whether parts are gzipped.

    Returns
    -------
    list of Path
        The files written.
    """
    folder, taxonomy = Path(folder), collection.taxonomy
    gz = ".gz" if compress else ""
    named = bool(taxonomy.titles) or bool(taxonomy.related)
    files = [folder / ("taxonomy.json" if named else "taxonomy.tsv")]
    taxonomy.write(files[0])
    for name, part in collection.parts():
        suffix = "jsonl" if part.texts is not None else "svm" if sp.issparse(part.X) else "csv"
        files.append(folder / f"{name}.{suffix}{gz}")
        if suffix == "jsonl":
            write_jsonl(part, files[-1])
        elif suffix == "svm":
            write_svm(part, files[-1], taxonomy)
        else:
            write_csv(part, files[-1], taxonomy)
    if any(".svm" in file.suffixes for file in files):
        files.append(folder / "labels.tsv")
        write_label_ids(taxonomy, files[-1])
    return files


def write_jsonl(part: Part, path: str | Path) -> None:
    """Write a part of texts as JSON lines, whole or not at all; gzip when the name ends in .gz.

    Parameters
    ----------
    part : Part
        Examples.
    path : str or Path
        File to write.
    """
    if part.texts is None:
        raise UserError(
            f"Only texts can be written to {path}, but this part has features. Write .svm or .csv."
        )
    metadata = part.metadata or [{}] * len(part)
    with atomic_write(path) as handle:
        rows = zip(part.ids, part.texts, part.labels, metadata, strict=True)
        for name, text, labels, others in rows:
            handle.write(_line(others | {"id": name, "text": text, "labels": labels}))


def _line(row: dict[str, Any]) -> str:
    first = ("id", "text", "labels")
    row = {key: row[key] for key in (*first, *(k for k in row if k not in first))}
    line = json.dumps(row, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can only escape
        line = json.dumps(row)
    return f"{line}\n"


def write_svm(part: Part, path: str | Path, taxonomy: Taxonomy) -> None:
    """Write a part of sparse features as multilabel svmlight.

    Labels are the numbers of nodes, from 1: put `write_label_ids` beside it as ``labels.tsv``. A
    row whose id is not its number carries it in a comment.

    Parameters
    ----------
    part : Part
        Examples.
    path : str or Path
        File to write.
    taxonomy : Taxonomy
        The taxonomy.
    """
    if not sp.issparse(part.X):
        raise UserError(
            f"Only sparse features can be written to {path}. Write texts as .jsonl, tables as .csv."
        )
    number = {v: str(i) for i, v in enumerate(taxonomy.nodes, start=1)}
    with atomic_write(path) as handle:
        rows = zip(part.ids, part.labels, _pairs(sp.csr_array(part.X)), strict=True)
        for i, (name, labels, pairs) in enumerate(rows):
            try:
                ids = ",".join([number[label] for label in labels])
            except (KeyError, TypeError):
                ids = ",".join(str(taxonomy.index(label) + 1) for label in labels)
            comment = "" if name == str(i) else f" # {ID}{_one_line(name, 'id')}"
            handle.write(f"{ids} {pairs}{comment}\n")


def _pairs(X: sp.csr_array) -> Iterator[str]:
    """The features of each row as text: numbers from 1, values as short as they stay the same."""
    X = X if X.has_sorted_indices else X.sorted_indices()
    for start in range(0, X.shape[0], _BLOCK):
        ptr = X.indptr[start : start + _BLOCK + 1]
        span = slice(ptr[0], ptr[-1])
        numbers = (X.indices[span].astype(np.int64) + 1).tolist()
        values = X.data[span].astype(str).tolist()
        pairs = [f"{n}:{v}" for n, v in zip(numbers, values, strict=True)]
        for a, b in pairwise((ptr - ptr[0]).tolist()):
            yield " ".join(pairs[a:b])


def write_label_ids(taxonomy: Taxonomy, path: str | Path) -> None:
    """Write the number and the name of every node: the ``labels.tsv`` beside svm files.

    Parameters
    ----------
    taxonomy : Taxonomy
        The taxonomy.
    path : str or Path
        File to write.
    """
    with atomic_write(path) as handle:
        for i, name in enumerate(taxonomy.nodes, start=1):
            handle.write(f"{i}\t{_one_line(str(name), 'name')}\n")


def write_csv(part: Part, path: str | Path, taxonomy: Taxonomy) -> None:
    """Write a table of features with columns `id` and `labels`; a missing value is empty.

    Parameters
    ----------
    part : Part
        Examples.
    path : str or Path
        File to write.
    taxonomy : Taxonomy
        The taxonomy.
    """
    if part.X is None or sp.issparse(part.X):
        raise UserError(
            f"Only dense features can be written to {path}. Write texts as .jsonl, sparse features "
            f"as .svm."
        )
    names = part.feature_names or [f"f{j}" for j in range(1, part.X.shape[1] + 1)]
    taken = {"id", "labels", "text"}.intersection(names)
    if taken:
        raise UserError(
            f"A feature is called {shorten(min(taken))}, which means something else in a table. "
            f"Rename it."
        )
    between = _separator(map(str, taxonomy.nodes))
    with atomic_write(path) as handle:
        table = csv.writer(handle, lineterminator="\n")
        table.writerow(["id", *names, "labels"])
        for name, x, labels in zip(part.ids, part.X, part.labels, strict=True):
            cells = ["" if v != v else repr(v) for v in x.tolist()]
            table.writerow([name, *cells, between.join(map(str, labels))])


def _separator(names: Iterable[str]) -> str:
    """What to put between labels so that a table is read back: a blank, or a bar."""
    joined = "".join(names)
    if re.search(r"\s", joined) is None:
        return " "
    if "|" in joined:
        raise UserError(
            "Some names of nodes hold blanks and some hold '|', so nothing can separate labels in "
            "a table. Rename the nodes that hold '|'."
        )
    return "|"


def _one_line(text: str, what: str) -> str:
    """A text that survives on a line of its own; an error where it would not."""
    if not text or text != text.strip() or re.search(r"[\t\n\r]", text):
        raise UserError(
            f"The {what} {shorten(text)} is empty, begins or ends with a blank, or holds a tab or "
            f"a line break, and cannot be written. Rename it."
        )
    return text
