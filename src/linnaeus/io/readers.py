"""Which reader a file needs, and what it is given to read with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from linnaeus.errors import UserError, shorten
from linnaeus.io.arff import read_arff
from linnaeus.io.find import suffix_of
from linnaeus.io.jsonl import read_json, read_jsonl
from linnaeus.io.labels import Labels, read_label_ids
from linnaeus.io.options import ReadOptions
from linnaeus.io.parquet import read_parquet
from linnaeus.io.reading import Reading
from linnaeus.io.rows import Example
from linnaeus.io.spreadsheet import read_xlsx
from linnaeus.io.svm import read_svm
from linnaeus.io.table import read_csv, read_tsv
from linnaeus.taxonomy import Taxonomy

READERS: dict[str, Callable[[Reading], Iterator[Example]]] = {
    "jsonl": read_jsonl,
    "csv": read_csv,
    "tsv": read_tsv,
    "txt": read_tsv,
    "xlsx": read_xlsx,
    "svm": read_svm,
    "parquet": read_parquet,
    "arff": read_arff,
    "json": read_json,
}


def reader_of(file: Path) -> Callable[[Reading], Iterator[Example]]:
    """The reader for the suffix of a file.

    Parameters
    ----------
    file : Path
        The file.

    Returns
    -------
    callable
    """
    suffix = suffix_of(file)
    if suffix not in READERS:
        old = " Save it as .xlsx." if suffix in ("xls", "ods", "numbers") else ""
        raise UserError(
            f"{file} has the unknown suffix {suffix!r}. Known are {', '.join(READERS)}, each also "
            f"with .gz.{old}"
        )
    return READERS[suffix]


def labels_of(
    file: Path, taxonomy: Taxonomy | None, options: ReadOptions, infer: bool = False
) -> Labels:
    """What turns the labels of a file into nodes: for svm also by the ids beside it.

    Parameters
    ----------
    file : Path
        The file.
    taxonomy : Taxonomy or None
        The taxonomy.
    options : ReadOptions
        Separators.
    infer : bool, default=False
        Whether a taxonomy is made of the labels.

    Returns
    -------
    Labels
    """
    if suffix_of(file) == "svm":
        beside = (file.with_name("labels.tsv"), file.with_name("labels.tsv.gz"))
        source = next(filter(Path.is_file, beside), None)
        if source is not None:
            return Labels(taxonomy, read_label_ids(source), source)
    return Labels(taxonomy, options=options, infer=infer)


def check_dtype(dtype: Any) -> None:
    """Refuse value types that features cannot have.

    Parameters
    ----------
    dtype : object
        What was given.
    """
    if dtype not in (None, float, "float32", "float64", np.float32, np.float64):
        raise UserError(f"dtype is {shorten(dtype)}. Features are 'float32' or 'float64'.")
