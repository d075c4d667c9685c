"""Clus collections, found by their names."""

import numpy as np
import pytest

from linnaeus.errors import UserError
from linnaeus.io import read_clus, read_collection

ARFF = "@relation x\n@attribute f numeric\n@attribute class hierarchical A,A/1,B\n@data\n{}"


def write(folder, **files):
    for name, rows in files.items():
        (folder / f"{name.replace('__', '.')}.arff").write_text(ARFF.format(rows))
    return folder


def test_three_parts(tmp_path):
    rows = {"d__train": "1,A/1\n2,B\n", "d__valid": "?,A\n", "d__test": "3,B@A/1\n"}
    data = read_clus(write(tmp_path, **rows))
    assert data.name == "d" and data.taxonomy.nodes == ("A", "A/1", "B")
    assert [len(part) for _, part in data.parts()] == [2, 1, 1]
    assert data.test.labels == [["B", "A/1"]] and np.isnan(data.valid.X[0, 0])
    assert [name for name, _ in read_clus(tmp_path, parts="valid").parts()] == ["valid"]


def test_training_and_validation_in_one(tmp_path):
    write(tmp_path, d__trainvalid="1,B\n2,B\n", d__test="1,B\n")
    assert len(read_clus(tmp_path).train) == 2 and read_clus(tmp_path).valid is None
    write(tmp_path, d__train="1,B\n", d__valid="1,B\n")
    assert len(read_clus(tmp_path).train) == 1 and len(read_clus(tmp_path).valid) == 1


def test_several_collections_in_a_folder(tmp_path):
    write(tmp_path, one__train="1,B\n", two_Train="2,A\n", two_Test="3,A\n")
    with pytest.raises(UserError, match="holds one, two. Choose one with name="):
        read_clus(tmp_path)
    assert read_clus(tmp_path, name="two").test.X[0, 0] == 3
    with pytest.raises(UserError, match=r"no collection 'tow' \(did you mean 'two'\?\). It has: "):
        read_clus(tmp_path, name="tow")
    with pytest.raises(UserError, match="lacks the parts valid"):
        read_clus(tmp_path, name="one", parts=["valid"])


def test_bad_files_are_named(tmp_path):
    with pytest.raises(UserError, match="lacks files such as NAME.train.arff .* It is empty."):
        read_clus(tmp_path)
    write(tmp_path, d__train="1,C\n2,B\n")
    with pytest.raises(UserError, match="d.train.arff, line 5: the label 'C' is not a node"):
        read_clus(tmp_path)
    assert len(read_clus(tmp_path, skip_bad=True).train.skipped) == 1
    write(tmp_path, d_train="1,A\n")
    with pytest.raises(UserError, match="d.train.arff and d_train.arff for one part"):
        read_clus(tmp_path, name="d")


def test_the_real_files_are_what_we_have_as_tables(shared):
    folder = shared("data", "cellcycle_GO")
    arff, table = read_clus(folder), read_collection(folder)
    for name, part in arff.parts():
        np.testing.assert_allclose(part.X, table.part(name).X)
        assert [sorted(row) for row in part.labels] == [sorted(r) for r in table.part(name).labels]
    assert set(arff.taxonomy.nodes) == set(table.taxonomy.nodes)
    images = read_clus(shared("data", "ImCLEF07A"))
    assert len(images.train) == 10_000 and len(images.taxonomy) == 96
