"""Every real collection reads to the counts in its own notes."""

import json

import numpy as np
import pytest

from linnaeus.io import read_collection

MEASURED = ("Enron", "ImCLEF07A", "cellcycle_FUN", "cellcycle_GO")


def nothing_skipped(collection):
    return all(part.skipped == () for _, part in collection.parts())


def labels_seen(collection, name):
    closed = collection.taxonomy.closure(collection.Y(name))
    return set(np.flatnonzero(closed.sum(axis=0)).tolist())


@pytest.fixture(scope="module")
def read(shared):
    known = {}

    def cached(name):
        if name not in known:
            known[name] = read_collection(shared("data", name))
        return known[name]

    return cached


@pytest.mark.parametrize("name", MEASURED)
def test_taxonomies_have_the_measured_shape(read, shared, name):
    stats = json.loads((shared("data", name) / "stats.json").read_text())
    tax = read(name).taxonomy
    assert len(tax) == stats["nodes"]
    assert len(tax.edges) + stats["top"] == stats["edges"]
    assert (len(tax.leaves), len(tax.roots)) == (stats["leaves"], stats["top"])
    assert int((tax.n_parents > 1).sum()) == stats["multi_parent"]
    assert tax.is_tree is not stats["dag"]


@pytest.mark.parametrize("name", MEASURED)
def test_tables_have_the_measured_counts(read, shared, name):
    stats = json.loads((shared("data", name) / "stats.json").read_text())
    collection = read(name)
    tax = collection.taxonomy
    assert nothing_skipped(collection)
    assert {part for part, _ in collection.parts()} == set(stats["splits"])
    leaves = set(tax.leaf_numbers.tolist())
    for part_name, expected in stats["splits"].items():
        part, Y = collection.part(part_name), collection.Y(part_name)
        assert part.X.shape == (expected["n"], stats["features"])
        assert part.X.dtype == np.float64
        assert part.feature_names is not None and len(part.feature_names) == stats["features"]
        assert int(np.isnan(part.X).sum()) == expected["missing"]
        assert sum(not row for row in part.labels) == expected["nolabel"]
        given = np.mean([len(row) for row in part.labels])
        assert given == pytest.approx(expected["avg_given"], abs=5e-4)
        assert tax.closure(Y).sum() / len(part) == pytest.approx(expected["avg_closed"], abs=5e-4)
        specific = tax.most_specific(Y)
        assert specific.sum() / len(part) == pytest.approx(expected["avg_mostspecific"], abs=5e-4)
        inner = [v for v in specific.indices.tolist() if v not in leaves]
        assert len(inner) == expected["mostspecific_nonleaf"]
        seen = labels_seen(collection, part_name)
        assert len(seen) == expected["labels_seen"]
        assert len(seen & leaves) == expected["leaf_seen"]
        if "labels_not_in_train" in expected:
            unseen = seen - labels_seen(collection, "train")
            assert len(unseen) == expected["labels_not_in_train"]


@pytest.mark.parametrize(
    "name, files",
    [
        (
            "ImCLEF07A",
            {"train": "ImCLEF07A_Train.arff.gz", "test": "ImCLEF07A_Test.arff.gz"},
        ),
        (
            "cellcycle_GO",
            {part: f"cellcycle_GO.{part}.arff.gz" for part in ("train", "valid", "test")},
        ),
    ],
)
def test_arff_equals_csv(read, shared, name, files):
    table = read(name)
    arff = read_collection(shared("data", name), **files)
    assert arff.taxonomy == table.taxonomy
    for part_name, part in table.parts():
        other = arff.part(part_name)
        np.testing.assert_array_equal(other.X, part.X)
        assert other.feature_names == part.feature_names
        assert [set(row) for row in other.labels] == [set(row) for row in part.labels]


def test_arff_header_gives_the_taxonomy(read, shared, tmp_path):
    folder = shared("data", "ImCLEF07A")
    for name in ("ImCLEF07A_Train.arff.gz", "ImCLEF07A_Test.arff.gz"):
        (tmp_path / name).symlink_to(folder / name)
    collection = read_collection(
        tmp_path, train="ImCLEF07A_Train.arff.gz", test="ImCLEF07A_Test.arff.gz"
    )
    tax = read("ImCLEF07A").taxonomy
    assert set(collection.taxonomy.nodes) == set(tax.nodes)
    assert set(collection.taxonomy.edges) == set(tax.edges)


def test_arff_header_gives_a_dag(read, shared, tmp_path):
    name = "cellcycle_GO.train.arff.gz"
    (tmp_path / name).symlink_to(shared("data", "cellcycle_GO") / name)
    collection = read_collection(tmp_path, train=name)
    tax = read("cellcycle_GO").taxonomy
    assert set(collection.taxonomy.edges) == set(tax.edges)


def test_rcv1_30k(read):
    collection = read("rcv1-30k")
    tax, train, test = collection.taxonomy, collection.train, collection.test
    assert (len(train), len(test)) == (14401, 13212)
    assert (len(tax), len(tax.leaves), len(tax.roots), len(tax.levels)) == (102, 81, 4, 4)
    assert train.X.shape[1] == test.X.shape[1] == 47236
    assert train.X.dtype == np.float32
    assert np.unique(train.X.indices).size == 25057
    per_row = np.mean([len(row) for part in (train, test) for row in part.labels])
    assert per_row == pytest.approx(3.20, abs=5e-3)
    norms = np.sqrt(np.asarray((train.X * train.X).sum(axis=1)).ravel())
    np.testing.assert_allclose(norms, 1, atol=1e-5)
    Y = collection.Y("train")
    assert (tax.closure(Y) != Y).nnz == 0  # closed upwards
    leaf = np.zeros(len(tax), dtype=int)
    leaf[tax.leaf_numbers] = 1
    specific = tax.most_specific(Y)
    several = np.mean(np.diff(specific.indptr) > 1)
    stops = np.mean(specific @ leaf == 0)  # nothing but inner nodes
    assert (round(several, 2), round(stops, 2)) == (0.31, 0.17)
    absent = set(tax.nodes) - {name for row in test.labels for name in row}
    assert absent == {"E312", "E313", "G159", "GMIL"}


def test_rcv1_ccat_has_rows_without_labels(read):
    collection = read("rcv1-ccat")
    tax = collection.taxonomy
    assert (len(tax), len(tax.leaves), tax.roots) == (34, 26, ("CCAT",))
    counts = {"train": (2500, 1139), "test": (5000, 2246)}
    for name, (rows, with_ccat) in counts.items():
        part = collection.part(name)
        assert len(part) == part.X.shape[0] == rows
        assert sum("CCAT" in row for row in part.labels) == with_ccat
        assert sum(not row for row in part.labels) == rows - with_ccat
        assert len({label for row in part.labels for label in row}) == 34
    labels = [row for _, part in collection.parts() for row in part.labels]
    assert np.mean([len(row) for row in labels]) == pytest.approx(1.37, abs=5e-3)


def test_lshtc(read, shared):
    collection = read("lshtc-small-val")
    tax, train = collection.taxonomy, collection.train
    assert (len(train), len(collection.test)) == (1860, 1858)
    assert (len(tax), len(tax.leaves), len(tax.roots)) == (2387, 1139, 10)
    assert np.unique(train.X.indices).size == 22296
    counts = np.asarray(collection.Y("train").sum(axis=0)).ravel()
    assert int((counts[tax.leaf_numbers] > 0).sum()) == 1139
    assert int((counts == 1).sum()) == 888
    collapsed = read_collection(
        shared("data", "lshtc-small-val"), taxonomy="taxonomy_collapsed.tsv", parts=["test"]
    )
    assert len(collapsed.taxonomy) == 1563
    assert collapsed.train is None


def test_news20(read):
    collection = read("news20")
    assert (len(collection.train), len(collection.test)) == (11314, 7532)
    tax = collection.taxonomy
    assert (len(tax), len(tax.leaves), len(tax.roots)) == (27, 20, 7)
    for _, part in collection.parts():
        assert part.X is None and all(text for text in part.texts)
        assert all(len(row) == 1 for row in part.labels)
        assert len(set(part.ids)) == len(part)


def test_clinc150(read):
    collection = read("clinc150")
    sizes = {name: len(part) for name, part in collection.parts()}
    assert sizes == {"train": 15000, "valid": 3000, "test": 4500}
    tax = collection.taxonomy
    assert (len(tax), len(tax.leaves), len(tax.levels)) == (160, 150, 2)
    assert set(collection.Y("train").sum(axis=0)) <= {0, 100}


def test_enzyme_keeps_other_fields(read):
    collection = read("enzyme")
    assert (len(collection.train), len(collection.test)) == (6239, 1422)
    tax = collection.taxonomy
    assert [len(level) for level in tax.levels] == [7, 59, 170]
    assert collection.train.metadata[0] == {"ec4": ["1.1.99.3"]}
    labels = [row for _, part in collection.parts() for row in part.labels]
    assert np.mean([len(row) > 1 for row in labels]) == pytest.approx(0.03, abs=5e-3)
    assert np.median([len(t) for _, part in collection.parts() for t in part.texts]) == 407
