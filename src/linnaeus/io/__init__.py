"""Collections on disk: a folder with a taxonomy and labelled examples in files.

Each part of a collection is one file, plain or gzip, whose format follows from its suffix:

=========  =====================================================================================
jsonl      one object a line: ``{"id", "text", "labels": [...]}``; other fields are metadata
csv, tsv   a header line; columns `id`, `labels` and `text`, or feature columns
svm        ``labels feature:value ...``, features from 1; `labels.tsv` beside it names the labels
arff       Clus; a `hierarchical` class attribute, nominal attributes become one-hot columns
parquet    columns as in csv; `labels` may hold lists
=========  =====================================================================================

`read_collection` reads a folder, `iter_rows` streams one file, `collect` makes a part of examples,
`write_jsonl` writes one.
"""

from linnaeus.io.build import collect
from linnaeus.io.read import iter_rows, read_collection
from linnaeus.io.rows import Example, SparseRow
from linnaeus.io.write import write_jsonl

__all__ = ["Example", "SparseRow", "collect", "iter_rows", "read_collection", "write_jsonl"]
