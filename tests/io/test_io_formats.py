"""What each format is read into."""

import json
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import Taxonomy
from linnaeus.errors import UserError
from linnaeus.io import collect, iter_rows, read_collection, write_jsonl

ARFF = """% a comment
@RELATION 'two words'
@attribute 'a name' numeric
@ATTRIBUTE colour {red, 'dark blue', "o\\"k"}
@attribute note string
@ATTRIBUTE id string
@ATTRIBUTE class hierarchical A,A/1,B

@DATA
1.5,red,'it''s, fine',x1,A/1@B
% another
?,'dark blue',plain,x2,B
-2,?,?,x3,?
"""


def test_jsonl(folder):
    rows = [
        {"id": "x", "text": "one", "labels": ["A1", "B", "A1"], "year": 1999},
        {"text": "two"},
        {"id": 7, "text": "", "labels": []},
        {"text": "four", "labels": "B"},
        {"text": "five", "labels": None},
    ]
    content = "\n\n".join(map(json.dumps, rows))
    part = read_collection(folder({"train.jsonl": content})).train
    assert part.texts == ["one", "two", "", "four", "five"]
    assert part.ids == ["x", "1", "7", "3", "4"]
    assert part.labels == [["A1", "B"], [], [], ["B"], []]
    assert part.metadata == [{"year": 1999}, {}, {}, {}, {}]
    assert part.X is None and part.skipped == ()


def test_every_file_may_be_gzip_with_a_byte_order_mark_and_windows_line_ends(folder):
    content = '\ufeff{"text": "a", "labels": ["B"]}\r\n{"text": "b"}\r\n'
    table = "\ufeffid,f,labels\r\np,1,A1\r\nq,,A2\r\n"
    at = folder({"train.jsonl.gz": content, "table.csv": table, "test.csv.gz": table})
    collection = read_collection(at, test="train.jsonl.gz")
    assert collection.train.texts == ["a", "b"]
    for name in ("table.csv", "test.csv.gz"):
        part = read_collection(at, train=name, test=name).train
        assert part.ids == ["p", "q"] and part.feature_names == ["f"]
        np.testing.assert_array_equal(part.X, [[1], [np.nan]])


def test_csv_of_features(folder):
    table = 'f1,id,labels,"f,2"\n1,a,A1 B,0.5\n,b,A|B,-1e-3\n\n nan ,c,,7\n'
    part = read_collection(folder({"train.csv": table})).train
    np.testing.assert_array_equal(part.X, [[1, 0.5], [np.nan, -1e-3], [np.nan, 7]])
    assert part.X.dtype == np.float64
    assert part.feature_names == ["f1", "f,2"]
    assert part.labels == [["A1", "B"], ["A", "B"], []]
    assert part.ids == ["a", "b", "c"]
    assert part.texts is None and part.metadata is None


def test_csv_of_texts_keeps_other_columns_as_metadata(folder):
    table = 'text,labels,year\n"a ""b""\nc, d",A1,1999\nplain,,\n'
    part = read_collection(folder({"train.csv": table})).train
    assert part.texts == ['a "b"\nc, d', "plain"]
    assert part.metadata == [{"year": "1999"}, {"year": None}]
    assert part.ids == ["0", "1"] and part.X is None


def test_tsv(folder):
    part = read_collection(folder({"train.tsv": "text\tlabels\na, b\tA1 A2\n"})).train
    assert part.texts == ["a, b"] and part.labels == [["A1", "A2"]]


def test_only_bars_separate_labels_when_a_name_contains_a_blank(folder):
    taxonomy = "root\tfast cars\nroot\tB\n"
    table = "f,labels\n1,fast cars | B\n2,B\n3,fast cars\n"
    part = read_collection(folder({"train.csv": table}, taxonomy)).train
    assert part.labels == [["fast cars", "B"], ["B"], ["fast cars"]]


def test_only_blanks_separate_labels_when_a_name_contains_a_bar(folder):
    part = read_collection(folder({"train.csv": "f,labels\n1,a|b B\n"}, "root\ta|b\nroot\tB\n"))
    assert part.train.labels == [["a|b", "B"]]


def test_svm(folder):
    content = "# a header\n1,2 1:0.5 3:-2e1 # a comment\n\n 2:1\n3\n \n2, 3 4:0 5:1\n"
    files = {"train.svm": content, "labels.tsv": "1\tA1\n2\tA2\n3\tB\n", "test.svm": " 9:1\n"}
    collection = read_collection(folder(files))
    part = collection.train
    assert part.labels == [["A1", "A2"], [], ["B"], [], ["A2", "B"]]
    assert isinstance(part.X, sp.csr_array) and part.X.dtype == np.float32
    expected = np.zeros((5, 9))
    expected[0, [0, 2]], expected[1, 1], expected[4, 4] = (0.5, -20), 1, 1
    np.testing.assert_array_equal(part.X.toarray(), expected)
    assert part.X.nnz == 4  # zeros are not kept
    assert collection.test.X.shape == (1, 9)
    assert part.ids == ["0", "1", "2", "3", "4"]


def test_svm_without_labels_tsv_uses_node_names(folder):
    at = folder({"train.svm": "GO:1,GO:2 1:1\n"}, "GO:1\tGO:2\n")
    assert read_collection(at).train.labels == [["GO:1", "GO:2"]]
    numbers = Taxonomy.flat([1, 2])
    test = read_collection(folder({"test.svm": "2 1:1\n"}), taxonomy=numbers, parts=["test"]).test
    assert test.labels == [[2]]


def test_dtype(folder):
    at = folder({"train.svm": "A 1:0.1\n", "valid.csv": "f,labels\n0.1,A\n"})
    assert read_collection(at, parts=["train"], dtype="float64").train.X.dtype == np.float64
    assert read_collection(at, parts=["valid"], dtype=np.float32).valid.X.dtype == np.float32
    with pytest.raises(UserError, match="'int8'.*'float32' or 'float64'"):
        read_collection(at, dtype="int8")


def test_arff(folder):
    part = read_collection(folder({"train.arff": ARFF.replace("''", "\\'")}, None)).train
    assert part.feature_names == ["a name", "colour=red", "colour=dark blue", 'colour=o"k']
    nan = np.nan
    np.testing.assert_array_equal(part.X, [[1.5, 1, 0, 0], [nan, 0, 1, 0], [-2, nan, nan, nan]])
    assert part.labels == [["A/1", "B"], ["B"], []]
    assert part.ids == ["x1", "x2", "x3"]
    assert [row["note"] for row in part.metadata] == ["it's, fine", "plain", "?"]


def test_sparse_arff(folder):
    header, _, _ = ARFF.partition("@DATA")
    rows = "@DATA\n{0 3, 1 'dark blue', 4 A@B}\n{}\n{1 ?, 3 'x 9'}\n0,red,-,y,B\n"
    part = read_collection(folder({"train.arff": header + rows}, None)).train
    nan = np.nan
    assert isinstance(part.X, sp.csr_array)
    np.testing.assert_array_equal(
        part.X.toarray(), [[3, 0, 1, 0], [0, 1, 0, 0], [0, nan, nan, nan], [0, 1, 0, 0]]
    )
    assert part.labels == [["A", "B"], [], [], ["B"]]
    assert part.ids == ["0", "1", "x 9", "y"]
    mixed = "@DATA\n0,red,-,y,B\n{0 3, 1 'dark blue', 4 A@B}\n"
    dense = read_collection(folder({"train.arff": header + mixed}, None)).train
    np.testing.assert_array_equal(dense.X, [[0, 1, 0, 0], [3, 0, 1, 0]])


@pytest.mark.parametrize("packed", [False, True])
def test_parquet_of_features(folder, tmp_path, packed):
    table = {
        "f": [1, 2, None],
        "labels": [["A1", "B"], [], None],
        "g": [0.5, float("nan"), 1.5],
        "id": [10, 11, 12],
    }
    pq.write_table(pa.table(table), tmp_path / "plain.bin")
    data = (tmp_path / "plain.bin").read_bytes()
    at = folder({"train.parquet.gz" if packed else "train.parquet": data})
    part = read_collection(at).train
    np.testing.assert_array_equal(part.X, [[1, 0.5], [2, np.nan], [np.nan, 1.5]])
    assert part.feature_names == ["f", "g"]
    assert part.labels == [["A1", "B"], [], []]
    assert part.ids == ["10", "11", "12"]


def test_parquet_of_texts(folder):
    at = folder({})
    table = {"text": ["a", "b"], "labels": ["A1|B", "A2 B"], "year": [1, None]}
    pq.write_table(pa.table(table), at / "train.parquet")
    part = read_collection(at).train
    assert part.texts == ["a", "b"] and part.labels == [["A1", "B"], ["A2", "B"]]
    assert part.metadata == [{"year": 1}, {"year": None}]


def test_a_root_that_no_row_carries_is_dropped(folder):
    line = '{"text": "a", "labels": ["A1"]}\n'
    assert read_collection(folder({"train.jsonl": line})).taxonomy.roots == ("A", "B")
    carried = '{"text": "a", "labels": ["root"]}\n'
    kept = read_collection(folder({"train.jsonl": line, "test.jsonl": carried}))
    assert kept.taxonomy.roots == ("root",)
    named = read_collection(folder({"test.jsonl": line}, "top\tA1\n")).taxonomy
    assert named.roots == ("top",)
    two = read_collection(
        folder({"test.jsonl": line}, "parent\tchild\nroot\tA1\nother\tA1\n")
    ).taxonomy
    assert two.roots == ("root", "other")


def test_which_parts_are_read(folder):
    line = '{"text": "a", "labels": ["A1"]}\n'
    at = folder({"train.jsonl": line, "test.jsonl": line, "notes.md": "x", "train.md": "x"})
    assert [name for name, _ in read_collection(at).parts()] == ["train", "test"]
    only = read_collection(at, parts=["test"])
    assert only.train is None and len(only.test) == 1
    assert only.name == at.name
    (at / "train.jsonl").unlink()
    assert read_collection(at).train is None


def test_files_elsewhere_can_be_named(folder, tmp_path):
    at = folder({"train.csv": "text,labels\na,A\n"})
    other = tmp_path / "other"
    other.mkdir()
    (other / "more.tsv").write_text("text\tlabels\nb\tB\n")
    collection = read_collection(at, test=other / "more.tsv")
    assert collection.test.texts == ["b"]
    named = read_collection(other, train="more.tsv", taxonomy=at / "taxonomy.tsv")
    assert named.train.labels == [["B"]]


def test_iter_rows_streams(folder):
    at = folder({"many.jsonl": '{"text": "a", "labels": ["zzz"]}\n' * 100 + "{broken"})
    rows = iter_rows(at / "many.jsonl")
    assert next(rows).labels == ["zzz"]  # no taxonomy: labels stay as written
    part = collect(islice(rows, 10))
    assert len(part) == 10 and part.ids[0] == "1"
    skipped = []
    assert len(list(iter_rows(at / "many.jsonl", skipped=skipped))) == 100
    assert len(skipped) == 1 and "many.jsonl, line 101" in skipped[0]


def test_collect_checks_the_number_of_features(folder):
    at = folder({"a.svm": " 7:1\n", "b.csv": "f,g\n1,2\n"})
    assert collect(iter_rows(at / "a.svm"), n_features=9).X.shape == (1, 9)
    with pytest.raises(UserError, match="feature 7.* only 5 features.*Check"):
        collect(iter_rows(at / "a.svm"), n_features=5)
    with pytest.raises(UserError, match="have 2 features, but 3 are expected"):
        collect(iter_rows(at / "b.csv"), n_features=3)
    with pytest.raises(UserError, match=r"b.csv, line 1: there is no feature column 'h'; 1 of 2"):
        list(iter_rows(at / "b.csv", feature_names=["f", "h"]))


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_line_of_ten_megabytes(folder, suffix):
    text = "word " * 2_000_000
    content = json.dumps({"text": text}) if suffix == "jsonl" else f"text,labels\n{text},A\n"
    part = read_collection(folder({f"test.{suffix}": content})).test
    assert part.texts == [text]


texts = st.text(st.characters(exclude_categories=[]), max_size=20)


@given(st.lists(st.tuples(texts, texts, st.lists(st.sampled_from(["A", "A1", "B"]), unique=True))))
def test_writing_and_reading_gives_the_same_examples(tmp_path_factory, rows):
    from linnaeus.io.collection import Part

    part = Part(
        labels=[labels for _, _, labels in rows],
        ids=[name for name, _, _ in rows],
        texts=[text for _, text, _ in rows],
        metadata=[{"n": i} for i in range(len(rows))],
    )
    path = tmp_path_factory.getbasetemp() / "again.jsonl.gz"
    write_jsonl(part, path)
    again = collect(iter_rows(path))
    assert (again.labels, again.ids, again.texts) == (part.labels, part.ids, part.texts)
    assert (again.metadata or []) == part.metadata


def test_only_texts_are_written(tmp_path, folder):
    part = collect(iter_rows(folder({"a.svm": " 7:1\n"}) / "a.svm"))
    with pytest.raises(UserError, match=r"out.jsonl, but this part has features"):
        write_jsonl(part, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
