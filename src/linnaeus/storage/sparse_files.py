"""A sparse matrix on disk, written block of rows by block of rows, and read when it is used.

A folder of four files:

    indptr.npy   (n_rows + 1,) int64    where rows begin and end
    indices.npy  (n_nonzeros,) int32    columns, ascending within a row
    data.npy     (n_nonzeros,) float32  values, none of them 0
    shape.json   rows, columns and nonzeros

The folder appears under its name when all of it is on disk, and not before: whoever is killed
leaves nothing there, and the next writer removes what is left beside it. `open_rows` makes one
`csr_array` of the files, which may be larger than memory: pages are read when they are used, and
writing to the arrays changes memory, never the files. Its `folder` says where it lies.
"""

from __future__ import annotations

import json
import secrets
import shutil
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linnaeus.errors import FormatError, UserError
from linnaeus.files import missing, not_writable
from linnaeus.storage.arrays import mapped
from linnaeus.storage.replacing import replaced

NAMES = ("indptr", "indices", "data")
MOST = np.iinfo(np.int32).max  # nonzeros for which scipy has all indices in 32 bits
BLOCK = 1 << 20  # nonzeros that are copied at a time
HEADER = 128  # bytes before the numbers of a file
_START = b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little")


class _Growing:
    """An ``.npy`` file of one dimension to which numbers are added."""

    def __init__(self, file: IO[bytes], dtype: Any) -> None:
        self._file, self.dtype, self.size = file, np.dtype(dtype).newbyteorder("<"), 0
        file.write(bytes(HEADER))

    def add(self, numbers: Any) -> None:
        self._file.write(np.ascontiguousarray(numbers, dtype=self.dtype).data)
        self.size += len(numbers)

    def finish(self) -> None:
        """Write the header, now that the size is known."""
        said = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.size,)}
        self._file.seek(0)
        self._file.write(_START + repr(said).encode().ljust(HEADER - 11) + b"\n")


class RowsWriter:
    """Where rows are added; made by `rows_written`.

    Attributes
    ----------
    n_rows : int
        Rows so far.
    n_columns : int
        Columns of all rows.
    """

    def __init__(self, folder: Path, stack: ExitStack, dtype: Any) -> None:
        types = (np.int64, np.int32, dtype)
        files = [stack.enter_context((folder / f"{name}.npy").open("wb")) for name in NAMES]
        self._folder, self._arrays = folder, list(map(_Growing, files, types))
        self._arrays[0].add([0])
        self.n_rows, self.n_columns = 0, 0

    @property
    def scratch(self) -> Path:
        """A folder for files of the caller's, which go when all is written."""
        folder = self._folder / "scratch"
        folder.mkdir(exist_ok=True)
        return folder

    def append(self, rows: Any) -> None:
        """Add rows below the others.

        Parameters
        ----------
        rows : sparse matrix of shape (n_rows, n_columns)
            The rows.
        """
        rows = _tidy(rows)
        if self.n_rows and rows.shape[1] != self.n_columns:
            raise UserError(
                f"Rows with {rows.shape[1]:,} columns cannot be added to {self.n_rows:,} rows with "
                f"{self.n_columns:,}. Give all rows the same columns."
            )
        indptr, indices, data = self._arrays
        indptr.add(rows.indptr[1:].astype(np.int64) + data.size)
        indices.add(rows.indices)
        data.add(rows.data)
        self.n_rows, self.n_columns = self.n_rows + rows.shape[0], rows.shape[1]

    def finish(self) -> None:
        """Complete the files."""
        for array in self._arrays:
            array.finish()
        shape = {"rows": self.n_rows, "columns": self.n_columns, "nonzeros": self._arrays[2].size}
        (self._folder / "shape.json").write_text(json.dumps(shape) + "\n", encoding="ascii")
        if (self._folder / "scratch").exists():
            _remove(self._folder / "scratch")


@contextmanager
def rows_written(target: str | Path, dtype: Any = np.float32) -> Iterator[RowsWriter]:
    """Write a sparse matrix as a folder, whole or not at all.

    Parameters
    ----------
    target : str or Path
        The folder; one that is there is replaced.
    dtype : dtype, default=float32
        Type of the values.

    Yields
    ------
    RowsWriter
        Where to add rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with rows_written(f"{folder}/X") as writer:
    ...         writer.append(sp.csr_array([[0.0, 2.0], [3.0, 0.0]]))
    ...         writer.append(sp.csr_array([[0.0, 1.0]]))
    ...     open_rows(f"{folder}/X").toarray()
    array([[0., 2.],
           [3., 0.],
           [0., 1.]], dtype=float32)
    """
    target = Path(target)
    if not target.parent.is_dir() or target.is_file():
        raise not_writable(target)
    with replaced(target) as folder, ExitStack() as stack:
        writer = RowsWriter(folder, stack, dtype)
        yield writer
        writer.finish()


def open_rows(path: str | Path) -> sp.csr_array:
    """The matrix of a folder that `rows_written` wrote, over the bytes on disk.

    Parameters
    ----------
    path : str or Path
        The folder.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        With more than 2**31 nonzeros `indptr` has 64 bits and `indices` 32, which scipy's own
        operations make 64 in a copy; the solvers take them as they are.
    """
    path = Path(path)
    if not path.exists():
        raise missing(path)
    try:
        shape = json.loads((path / "shape.json").read_text(encoding="ascii"))
        n, d, nnz = shape["rows"], shape["columns"], shape["nonzeros"]
        indptr, indices, data = (_mapped(path / f"{name}.npy") for name in NAMES)
        whole = (indptr.size, indices.size, data.size) == (n + 1, nnz, nnz) and indptr[-1] == nnz
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path, error) from None
    if not whole:
        raise _damaged(path, "files of other sizes than shape.json says")
    X = sp.csr_array((n, d), dtype=data.dtype)
    X.indptr, X.indices, X.data = indptr if nnz > MOST else indptr.astype(np.int32), indices, data
    X.has_canonical_format, X.folder = True, path
    return X


def taken(X: sp.csr_array, rows: Any) -> sp.csr_array:
    """Some rows of a matrix on disk, as one on disk, which is gone when nobody uses it.

    Parameters
    ----------
    X : csr_array
        A matrix of `open_rows`.
    rows : ndarray of int of shape (n_taken,)
        Row numbers.

    Returns
    -------
    csr_array of shape (n_taken, n_columns)
    """
    folder = X.folder.with_name(f"{X.folder.name}-{secrets.token_hex(8)}")
    step = max(1, BLOCK * X.shape[0] // max(1, X.nnz))
    with rows_written(folder, X.dtype) as writer:
        for i in range(0, max(1, len(rows)), step):
            writer.append(X[rows[i : i + step]])
    out = open_rows(folder)
    weakref.finalize(out, shutil.rmtree, folder, ignore_errors=True)
    return out


def _mapped(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{path.name} is no array of version 1.0")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        start = file.tell()
    return mapped(path)[start:].view(dtype).reshape(shape)


def _damaged(path: Path, reason: Any) -> FormatError:
    return FormatError(path, f"the matrix is damaged or cut off ({reason}). Write it again.")


def _tidy(rows: Any) -> sp.csr_array:
    """Rows ascending, without duplicates and zeros; a copy where they are not so already."""
    rows = sp.csr_array(rows)
    if rows.has_canonical_format and rows.data.all():
        return rows
    rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def _remove(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
