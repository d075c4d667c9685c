"""What is written is read back."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.io import read_collection, write_collection, write_csv, write_jsonl, write_svm
from linnaeus.io.collection import Collection, Part

TREE = Taxonomy.from_edges([("A", "A1"), ("A", "two words"), (None, "B")])
LABELS = [["A1", "B"], [], ["two words"]]
finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


def same(written, read):
    """Parts hold the same; features up to columns of zeros at the end."""
    assert (read.ids, read.labels, read.texts) == (written.ids, written.labels, written.texts)
    assert (read.metadata or None) == (written.metadata or None)
    if sp.issparse(written.X):
        width = read.X.shape[1]
        assert read.X.dtype == written.X.dtype and written.X[:, width:].nnz == 0
        assert (written.X[:, :width] != read.X).nnz == 0
    elif written.X is not None:
        np.testing.assert_array_equal(read.X, written.X)


def test_texts(tmp_path):
    part = Part(
        LABELS, ["x", "y", "z"], texts=["one", "", "th\u00e9\n"], metadata=[{"n": 1}, {}, {}]
    )
    files = write_collection(Collection(TREE, train=part), tmp_path)
    assert [f.name for f in files] == ["taxonomy.tsv", "train.jsonl.gz"]
    back = read_collection(tmp_path)
    same(part, back.train)
    assert back.taxonomy == TREE


@given(
    st.lists(st.lists(finite, min_size=4, max_size=4), min_size=1, max_size=5),
    st.lists(st.lists(st.sampled_from(TREE.nodes), unique=True), min_size=5, max_size=5),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
)
def test_sparse_features(rows, labels, dtype, compress):
    X = sp.csr_array(np.array(rows, dtype=dtype))
    ids = [str(i) if compress else f"a #{i}" for i in range(len(rows))]
    part = Part(labels[: len(rows)], ids, X=X)
    with TemporaryDirectory() as folder:
        collection = Collection(TREE, train=part, test=part)
        files = write_collection(collection, folder, compress=compress)
        assert (Path(folder) / "labels.tsv") in files
        back = read_collection(folder, dtype=dtype)
    same(part, back.train)
    same(part, back.test)


def test_many_rows_and_unsorted_columns(tmp_path):
    X = sp.random_array((9000, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    X = X.astype(np.float32)
    X.indices, X.data = X.indices[::-1].copy(), X.data[::-1].copy()
    X = sp.csr_array((X.data, 29 - X.indices, X.indptr), shape=X.shape)
    X.sum_duplicates()
    part = Part([["B"]] * 9000, [str(i) for i in range(9000)], X=X)
    write_collection(Collection(TREE, train=part), tmp_path)
    same(part, read_collection(tmp_path).train)


def test_tables(tmp_path):
    X = np.array([[0.1, np.nan], [1e-300, -2], [3, 4]])
    part = Part(LABELS, ["x", "1", "2"], X=X, feature_names=["f,1", 'g"2'])
    files = write_collection(Collection(TREE, valid=part), tmp_path, compress=False)
    assert files[-1].name == "valid.csv"
    back = read_collection(tmp_path).valid
    same(part, back)
    assert back.feature_names == part.feature_names


def test_titles_and_links_are_kept(tmp_path):
    tax = Taxonomy.from_edges([("A", "A1")], related=[("A", "B")], titles={"A1": "First"})
    part = Part([["A1"]], ["0"], X=sp.csr_array(np.eye(1, dtype=np.float32)))
    write_collection(Collection(tax, train=part), tmp_path)
    assert read_collection(tmp_path).taxonomy == tax


def test_what_cannot_be_written_is_refused(tmp_path):
    texts = Part([["B"]], ["0"], texts=["a"])
    sparse = Part([["B"]], ["0"], X=sp.csr_array(np.eye(1)))
    table = Part([["B"]], ["0"], X=np.eye(1), feature_names=["id"])
    for write, part, message in [
        (write_jsonl, sparse, "Only texts can be written"),
        (lambda *a: write_svm(*a, TREE), texts, "Only sparse features can be written"),
        (lambda *a: write_csv(*a, TREE), sparse, "Only dense features can be written"),
        (lambda *a: write_csv(*a, TREE), table, "A feature is called 'id'"),
    ]:
        with pytest.raises(UserError, match=message):
            write(part, tmp_path / "file")
    with pytest.raises(UserError, match="The id 'a\\\\nb' is empty, begins or ends"):
        write_svm(Part([["B"]], ["a\nb"], X=sparse.X), tmp_path / "x.svm", TREE)
    with pytest.raises(UserError, match="'C' is not a node"):
        write_svm(Part([["C"]], ["0"], X=sparse.X), tmp_path / "x.svm", TREE)
    both = Taxonomy.flat(["a b", "c|d"])
    with pytest.raises(UserError, match="nothing can separate labels"):
        write_csv(Part([["a b"]], ["0"], X=np.eye(1)), tmp_path / "x.csv", both)
    assert list(tmp_path.iterdir()) == []
