"""Bad input: every message names the file, the line, the value and the remedy."""

import gzip
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linnaeus.errors import FormatError, UserError
from linnaeus.io import ReadOptions, read_collection

ARFF = (
    "@relation r\n@attribute f numeric\n@attribute g {x,y}\n"
    "@attribute class hierarchical A,B\n@data\n"
)
GOOD = {
    "jsonl": '{"text": "a", "labels": ["A"]}\n',
    "csv": "f,g,labels\n1,2,A\n",
    "tsv": "f\tg\tlabels\n1\t2\tA\n",
    "svm": "A 1:1\n",
    "arff": f"{ARFF}1,x,A\n",
}

# suffix, a bad row after the good ones, what the message must say
BAD_ROWS = {
    "unknown label in jsonl": ("jsonl", '{"text": "b", "labels": ["A11"]}', "'A11'", "add it"),
    "unknown label in csv": ("csv", "1,2,A11", "'A11' is not a node", "add it"),
    "unknown label in tsv": ("tsv", "1\t2\tA11", "'A11' is not a node", "add it"),
    "unknown label in svm": ("svm", "A11 1:1", "'A11' is not a node", "add it"),
    "unknown label in arff": ("arff", "1,x,A@A11", "'A11' is not a node", "add it"),
    "label of a wrong type": ("jsonl", '{"text": "b", "labels": [{"a": 1}]}', "{'a': 1}", "name"),
    "label that is true": ("jsonl", '{"text": "b", "labels": [true]}', "True", "name of a node"),
    "malformed JSON": ("jsonl", '{"text": "b", }', "column 15", "complete JSON object"),
    "not an object": ("jsonl", "[1, 2]", "'[1, 2]'", "is not a JSON object"),
    "no text": ("jsonl", '{"labels": []}', '"text" is missing', "Give every object a text"),
    "text is a number": ("jsonl", '{"text": 3}', "is 3", "Give every object a text"),
    "nested too deeply": ("jsonl", "[" * 100_000, "cannot be read", "Simplify"),
    "endless number": ("jsonl", '{"text": ' + "1" * 5000 + "}", "cannot be read", "Simplify"),
    "too many columns": ("csv", "1,2,3,A", "4 columns", "header has 3"),
    "too few columns": ("csv", "1,2", "2 columns", "Quote cells"),
    "not a number": ("csv", "1,two,A", "column 'g' holds 'two'", "Write a number"),
    "underscore": ("csv", "1,1_000,A", "column 'g' holds '1_000'", "Write a number"),
    "infinite": ("csv", "inf,2,A", "column 'f' holds 'inf'", "finite number"),
    "stray quote": ("csv", '1,"2"3,A', "quotes in this row", "twice"),
    "NaN in svm": ("svm", "A 1:nan", "'1:nan' is not finite", "leave it out"),
    "infinite in svm": ("svm", "A 1:1e999", "'1:1e999' is not finite", "leave it out"),
    "too big for float32": ("svm", "A 1:1e39", "not finite as float32", "leave it out"),
    "feature 0": ("svm", "A 0:1 1:2", "'0:1' has the number 0", "Add 1"),
    "descending features": ("svm", "A 3:1 2:2", "'2:2' follows '3:1'", "Sort them"),
    "repeated feature": ("svm", "A 3:1 3:2", "'3:2' follows '3:1'", "each one once"),
    "huge feature": ("svm", "A 99999999999:1", "'99999999999:1' has a number above", "Number"),
    "endless feature number": ("svm", f"A {'9' * 5000}:1", "has a number above", "Number"),
    "no colon": ("svm", "A 1:1 7", "'7' is not a number, a colon", "Write 17:0.5"),
    "two colons": ("svm", "A 1:2:3", "'1:2:3' has the value '2:3'", "finite number"),
    "half a number": ("svm", "A 1:1e", "'1:1e' has the value '1e'", "finite number"),
    "word as a value": ("svm", "A 1:x", "'1:x' has the value 'x'", "finite number"),
    "trailing comma": ("svm", "A, ", "'A, ' does not begin with labels", "by commas"),
    "wrong column count in arff": ("arff", "1,A", "2 columns", "declares 3 attributes"),
    "undeclared value": ("arff", "1,z,A", "'g' has the value 'z'", "or write ?"),
    "not a number in arff": ("arff", "a,x,A", "'f' holds 'a'", "'?' where"),
    "infinite in arff": ("arff", "inf,x,A", "'f' holds 'inf'", "finite"),
    "open brace": ("arff", "{0 1", "'{0 1' has no closing brace", "Add it"),
    "position too high": ("arff", "{9 1}", "'9 1' does not begin", "from 0 to 2"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_bad_row_names_file_line_value_and_remedy(folder, case):
    suffix, row, value, remedy = BAD_ROWS[case]
    content = f"{GOOD[suffix]}{row}\n{GOOD[suffix].splitlines()[-1]}\n"
    line = len(GOOD[suffix].splitlines()) + 1
    at = folder({f"train.{suffix}": content})
    with pytest.raises(FormatError) as caught:
        read_collection(at)
    message = str(caught.value)
    assert f"{at / f'train.{suffix}'}, line {line}: " in message
    assert value in message and remedy in message and "skip_bad" in message
    assert caught.value.line == line

    part = read_collection(at, skip_bad=True).train
    assert len(part) == 2 and part.labels == [["A"], ["A"]]
    assert len(part.skipped) == 1
    assert f"train.{suffix}, line {line}: " in part.skipped[0] and value in part.skipped[0]


BAD_FILES = {
    "duplicate column": ("train.csv", "f,g,f,labels\n", 1, "column 3 is called 'f'", "of its own"),
    "column without a name": ("train.csv", "f,,labels\n", 1, "column 2 has no name", "remove it"),
    "empty table": ("train.csv", "", None, "the file is empty", "header line"),
    "no labels to learn from": ("train.csv", "f,g\n1,2\n", 1, "no column 'labels'", "Name"),
    "neither text nor features": ("train.csv", "id,labels\n1,A\n", 1, "'id', 'labels'", "'text'"),
    "open quote": ("train.csv", 'f,labels\n1,A\n"2,A\n3,A\n', 3, "line 4, or never", "twice"),
    "no rows": ("train.jsonl", "\n", None, "there are no rows", "Check"),
    "bad byte": ("train.svm", b"A 1:1\nB 1:\xff\n", 2, "byte 0xff", "iconv"),
    "no @data": ("train.arff", "@relation r\n", None, "no line @data", "ends with one"),
    "unknown type": ("train.arff", "@attribute f money\n", 1, "'money'", "Known are numeric"),
    "no type": ("train.arff", "@relation r\n@attribute f\n", 2, "'@attribute f'", "'a name'"),
    "stray line": ("train.arff", "@relation r\nhello\n", 2, "'hello' is not", "Begin it with %"),
    "repeated attribute": (
        "train.arff",
        "@attribute f real\n@attribute f real\n@data\n",
        3, "called 'f'", "of its own",
    ),
    "no class": ("train.arff", "@attribute f real\n@data\n1\n", 2, "of type hierarchical", "Name"),
    "no features": (
        "train.arff", "@attribute c hierarchical A\n@data\n", None, "no attribute", "jsonl",
    ),
    "two classes": (
        "train.arff",
        "@attribute c hierarchical A\n@attribute d hierarchical A\n@data\n",
        3, "'c' and 'd'", "Remove one",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_FILES)
@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_bad_file_is_refused_whole(folder, case, skip_bad):
    name, content, line, value, remedy = BAD_FILES[case]
    at = folder({name: content})
    with pytest.raises(FormatError) as caught:
        read_collection(at, skip_bad=skip_bad)
    message = str(caught.value)
    assert str(at / name) in message and value in message and remedy in message
    assert caught.value.line == line


@pytest.mark.parametrize("suffix", GOOD)
def test_a_gzip_file_that_is_cut_off(folder, suffix):
    rng = np.random.default_rng(0)
    noise = "".join(chr(c) for c in rng.integers(97, 123, 100_000))
    extra = {"jsonl": f'{{"text": "{noise}"}}', "arff": f"%{noise}", "svm": f"#{noise}"}
    content = GOOD[suffix] + extra.get(suffix, noise) + "\n" + GOOD[suffix].splitlines()[-1]
    name = f"train.{suffix}.gz"
    at = folder({})
    (at / name).write_bytes(gzip.compress(content.encode())[:-5000])
    with pytest.raises(FormatError, match="gzip file is cut off.*again") as caught:
        read_collection(at, skip_bad=True)
    assert str(at / name) in str(caught.value) and caught.value.line is not None


def test_labels_tsv_lacks_an_id(folder):
    at = folder({"train.svm": "1 1:1\n2 1:1\n", "labels.tsv": "1\tA\n"})
    with pytest.raises(FormatError, match=r"train.svm, line 2: the label id '2' is not in labels"):
        read_collection(at)
    part = read_collection(at, skip_bad=True).train
    assert part.labels == [["A"]] and "'2<tab>name'" in part.skipped[0]


def test_labels_tsv_names_an_unknown_node(folder):
    at = folder({"train.svm": "1 1:1\n2 1:1\n", "labels.tsv": "1\tA\n2\tZ\n"})
    with pytest.raises(
        FormatError, match=r"line 2: the label id '2' stands for 'Z'.*not a node.*add"
    ):
        read_collection(at)
    assert len(read_collection(at, skip_bad=True).train.skipped) == 1


def test_many_unknown_labels_are_all_listed(folder):
    rows = "".join(f"Z{i} 1:1\n" for i in range(30)) + "A 1:1\n"
    at = folder({"train.svm": rows})
    with pytest.raises(FormatError, match=r"30 of 31 rows are bad.*10%.*'Z0'.*most_bad=0.97"):
        read_collection(at, skip_bad=True)
    part = read_collection(at, skip_bad=True, options=ReadOptions(most_bad=1)).train
    assert len(part.skipped) == 30 and part.labels == [["A"]]
    assert all(f"line {i + 1}: " in s and f"'Z{i}'" in s for i, s in enumerate(part.skipped))
    assert all("dd it to the taxonomy" in message for message in part.skipped)


@pytest.mark.parametrize(
    "content, what",
    [("1 A\n", "'1 A' is not an id and a name"), ("1\tA\n1\tB\n", "'1' stands for")],
)
def test_labels_tsv_itself_is_bad(folder, content, what):
    at = folder({"train.svm": "1 1:1\n", "labels.tsv": content})
    with pytest.raises(FormatError, match=rf"labels.tsv, line {content.count(chr(10))}: .*{what}"):
        read_collection(at)


def test_two_files_for_one_part(folder):
    at = folder({"train.jsonl": GOOD["jsonl"], "train.svm.gz": GOOD["svm"]})
    with pytest.raises(
        UserError, match="2 files for train: train.jsonl and train.svm.gz.*name one"
    ):
        read_collection(at)
    assert read_collection(at, train="train.svm.gz").train.texts is None


def test_two_taxonomies(folder):
    at = folder({"train.jsonl": GOOD["jsonl"], "taxonomy.csv": "root,A\n"})
    with pytest.raises(UserError, match="2 files for taxonomy: taxonomy.csv and taxonomy.tsv"):
        read_collection(at)
    assert read_collection(at, taxonomy="taxonomy.csv").taxonomy.nodes == ("A",)


def test_nothing_found(folder):
    at = folder({"data.txt": "x"})
    with pytest.raises(UserError) as caught:
        read_collection(at)
    for word in ("train, valid, test", "jsonl, csv, tsv, txt, xlsx, svm", "data.txt", "train="):
        assert word in str(caught.value)
    at = folder({"train.svm": GOOD["svm"]})
    (at / "taxonomy.tsv").unlink()
    with pytest.raises(UserError, match=r"no taxonomy: looked for taxonomy\.\*.*Taxonomy.flat"):
        read_collection(at)


def test_paths_that_are_not_there(folder):
    at = folder({"train.jsonl": GOOD["jsonl"], "notes.txt": "x"})
    with pytest.raises(UserError, match="There is no file or folder .*nowhere. Check the path"):
        read_collection(at / "nowhere")
    with pytest.raises(UserError, match=r"train.jsonl is a file, and files of parts are named"):
        read_collection(at / "train.jsonl", test="train.jsonl")
    assert read_collection(at / "train.jsonl").train.labels == [["A"]]
    with pytest.raises(UserError, match=r"test='no.csv' was given.*Check the path"):
        read_collection(at, test="no.csv")
    (at / "notes.doc").write_text("x")
    with pytest.raises(UserError, match=r"notes.doc has the unknown suffix 'doc'. Known are jsonl"):
        read_collection(at, test="notes.doc")
    for parts in (["tset"], "train", []):
        with pytest.raises(UserError, match="parts is .*. Use some of train, valid, test"):
            read_collection(at, parts=parts)


def test_parts_must_fit_together(folder):
    at = folder({"train.csv": GOOD["csv"], "test.csv": "f,h,labels\n1,2,A\n"})
    with pytest.raises(FormatError, match=r"test.csv, line 1: .*no feature column 'g'; 1 of 2"):
        read_collection(at)
    more = folder({"test.csv": "h,g,labels,f\n1,2,A,3\n"})
    test = read_collection(more).test
    assert test.X.tolist() == [[3, 2]] and test.metadata == [{"h": "1"}]
    assert "not used: 'h'" in test.notes[0]
    other = folder({"test.jsonl": GOOD["jsonl"]})
    with pytest.raises(UserError, match="train holds a table of features, test holds texts.*same"):
        read_collection(other, test="test.jsonl")


def test_all_rows_bad(folder):
    at = folder({"train.svm": "Z 1:1\nZ 1:1\n"})
    with pytest.raises(FormatError, match="no rows. 2 were bad, the first: .*line 1: .*'Z'"):
        read_collection(at, skip_bad=True)


def test_bad_parquet(folder):
    at = folder({"train.parquet": "hello"})
    with pytest.raises(FormatError, match=r"train.parquet: not a parquet file"):
        read_collection(at)
    (at / "train.parquet").unlink()
    packed = gzip.compress(np.random.default_rng(0).bytes(10_000))
    (at / "test.parquet.gz").write_bytes(packed[:-100])
    with pytest.raises(FormatError, match=r"test.parquet.gz: the gzip file is damaged.*again"):
        read_collection(at)
    pq.write_table(pa.table({"f": ["x"], "g": [1], "labels": [["A"]]}), at / "new.parquet")
    with pytest.raises(FormatError, match=r"new.parquet: the column 'f' holds words such as 'x'"):
        read_collection(at, test="new.parquet")


def test_bad_rows_of_parquet_name_the_row(folder):
    at = folder({})
    table = {"f": [1.0, float("inf"), 2.0], "labels": [["A"], ["A"], ["Z"]]}
    pq.write_table(pa.table(table), at / "train.parquet")
    with pytest.raises(FormatError, match=r"train.parquet: row 2: column 'f' holds inf.*null"):
        read_collection(at)
    part = read_collection(at, skip_bad=True, options=ReadOptions(most_bad=0.7)).train
    assert len(part) == 1 and re.search("row 3: the label 'Z'", part.skipped[1])
    texts = {"text": ["a", None], "labels": ["A", "A"]}
    pq.write_table(pa.table(texts), at / "train.parquet")
    with pytest.raises(FormatError, match="row 2: the text is None. Give every row a text"):
        read_collection(at)
