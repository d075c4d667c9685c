"""Weights that do not fit into memory: written block by block, and read when they are used."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from linnaeus.storage.sparse_files import RowsWriter, open_rows, rows_written

FOLDER = "LINNAEUS_SHARDS"  # environment: where large files are put


class Sink:
    """Takes blocks of rows; `opened` is the matrix of all of them in the end."""

    opened: sp.csr_array

    def __init__(self, writer: RowsWriter) -> None:
        self.append = writer.append


@contextmanager
def weights_on_disk(wanted: bool, dtype: Any) -> Iterator[Sink | None]:
    """Where to write weights, if that is wanted; the files go with the matrix that they are."""
    if not wanted:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="linnaeus-", dir=os.environ.get(FOLDER)) as folder:
        path = Path(folder) / "weights"
        with rows_written(path, dtype) as writer:
            sink = Sink(writer)
            yield sink
        sink.opened = open_rows(path)  # a file without a name lives as long as it is mapped
