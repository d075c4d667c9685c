"""Collections on disk: a folder with a taxonomy and labelled examples in files.

Each part of a collection is one file, plain or gzip, whose format follows from its suffix:

=========  =====================================================================================
jsonl      one object a line: ``{"id", "text", "labels": [...]}``; other fields are metadata
csv, tsv   a header line; columns `id`, `labels` and `text`, or feature columns; other names,
           separators and encodings are guessed (`ReadOptions` says what they are)
xlsx       a sheet of a spreadsheet, likewise
svm        ``labels feature:value ...``, features from 1; `labels.tsv` beside it names the labels
arff       Clus; a `hierarchical` class attribute, nominal attributes become one-hot columns
parquet    columns as in csv; `labels` may hold lists
=========  =====================================================================================

`read_collection` reads a folder, `iter_rows` streams one file, `collect` makes a part of examples,
`write_collection` writes a folder, `write_jsonl`, `write_svm` and `write_csv` one part. Texts that
do not fit in memory are kept on disk in a `Room`, and so are sparse matrices (`rows_written` writes
them block by block, `open_rows` reads them when they are used). The
`read_...` functions of `linnaeus.io.originals` read collections as their makers publish them.
"""

from linnaeus.io.build import collect
from linnaeus.io.collection import Collection, Part
from linnaeus.io.kept import Columns, Kept, kept_columns
from linnaeus.io.options import ReadOptions
from linnaeus.io.originals import (
    read_clus,
    read_lshtc,
    read_newsgroups,
    read_ohsumed,
    read_rcv1,
    read_wipo,
)
from linnaeus.io.predictions import format_of, open_writer
from linnaeus.io.read import read_collection, read_parts, read_training
from linnaeus.io.rows import Example, SparseRow
from linnaeus.io.stream import blocks, find_rows, iter_rows, open_reading
from linnaeus.io.text_files import Room
from linnaeus.io.write import (
    write_collection,
    write_csv,
    write_jsonl,
    write_label_ids,
    write_svm,
)
from linnaeus.storage.sparse_files import open_rows, rows_written

__all__ = [
    "Collection",
    "Columns",
    "Example",
    "Kept",
    "Part",
    "ReadOptions",
    "Room",
    "SparseRow",
    "blocks",
    "collect",
    "find_rows",
    "format_of",
    "iter_rows",
    "kept_columns",
    "open_reading",
    "open_rows",
    "open_writer",
    "read_clus",
    "read_collection",
    "read_lshtc",
    "read_newsgroups",
    "read_ohsumed",
    "read_parts",
    "read_rcv1",
    "read_training",
    "read_wipo",
    "rows_written",
    "write_collection",
    "write_csv",
    "write_jsonl",
    "write_label_ids",
    "write_svm",
]
