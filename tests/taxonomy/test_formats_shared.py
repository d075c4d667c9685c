"""Real taxonomies: the counts that were measured for them, and what comes back after writing."""

import json
import warnings
from collections import Counter

import numpy as np
import pytest

from linnaeus import Taxonomy
from linnaeus.taxonomy.diagnose import stats

FOLDERS = [
    "audioset", "enzyme_ec", "go_slim_generic", "google_product", "mesh2015", "uat",
    "yso_archaeology",
]  # fmt: skip
COLLECTIONS = [
    "Enron", "ImCLEF07A", "cellcycle_FUN", "cellcycle_GO", "clinc150", "enzyme",
    "lshtc-small-val", "news20", "rcv1-30k", "rcv1-ccat",
]  # fmt: skip
COUNTS = ("nodes", "edges", "roots", "leaves", "multi_parent")


def read(folder, name="taxonomy.tsv"):
    """Read a file or its packed form, without the warnings about links that are left out."""
    path = folder / name if (folder / name).exists() else folder / f"{name}.gz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Taxonomy.read(path)


def measured(folder):
    return json.loads((folder / "stats.json").read_text())


@pytest.mark.parametrize("name", FOLDERS)
def test_edge_lists_have_the_measured_counts(shared, name):
    folder = shared("taxonomies", name)
    tax, known = read(folder), measured(folder)
    found = stats(tax)
    assert {key: found[key] for key in COUNTS} == {key: known[key] for key in COUNTS}
    assert found["depth"] == known["longest_path_edges"]
    assert set(known["root_examples"]) <= set(tax.roots)
    assert found["titles"] == min(known["labels"], len(tax))
    if name != "yso_archaeology":  # there most links join concepts outside of the edge list
        assert found["related"] == known["related"]


def test_links_to_other_nodes_are_left_out_with_a_warning(shared):
    folder = shared("taxonomies", "yso_archaeology")
    with pytest.warns(UserWarning, match="45 of 56 related links are left out"):
        assert len(Taxonomy.read(folder / "taxonomy.tsv").related) == 11


@pytest.mark.parametrize(
    ("name", "native", "related"),
    [
        ("audioset", "ontology.json", 0),
        ("enzyme_ec", "enzclass.txt", 0),
        ("go_slim_generic", "goslim_generic.obo", 52),
        ("google_product", "taxonomy-with-ids.en-US.txt", 0),
        ("mesh2015", "tree-numbers.tsv", 0),
        ("uat", "UAT.rdf", 346),
        ("yso_archaeology", "yso-archaeology.ttl", 56),
        ("yso_archaeology", "yso-archaeology.rdf", 56),
    ],
)
def test_native_files_say_the_same(shared, name, native, related):
    """The same edges but for the artificial tops, the same titles, and the isolated concepts."""
    folder = shared("taxonomies", name)
    ours, tax = read(folder), read(folder, native)
    artificial = {v for v in ours if v == "root" or v.startswith("MeSH:")}
    assert set(tax.edges) == {(p, c) for p, c in ours.edges if p not in artificial}
    alone = {v for v in tax if not tax.parents(v) and not tax.children(v)}
    assert set(tax.nodes) == (set(ours.nodes) - artificial) | alone
    assert len(tax) == measured(folder).get("skos_concepts", len(ours) - len(artificial))
    assert len(tax.related) == related
    assert {frozenset(pair) for pair in ours.related} <= {frozenset(pair) for pair in tax.related}
    last = {v: title.rpartition(" > ")[2] for v, title in ours.titles.items()}
    assert {v: tax.titles[v] for v in last} == last


@pytest.mark.parametrize("native", ["tree-numbers.tsv", "mtrees2015.reconstructed.bin"])
def test_mesh_descriptors(shared, native):
    found = stats(read(shared("taxonomies", "mesh2015"), native))
    assert (found["nodes"], found["edges"], found["multi_parent"]) == (27453, 37332, 8074)


def test_level_columns_of_the_astronomy_thesaurus(shared):
    folder = shared("taxonomies", "uat")
    ours, tax = read(folder), read(folder, "UAT.csv")
    assert len(tax) == 2275
    named = Counter((ours.title(p).strip(), ours.title(c).strip()) for p, c in ours.edges)
    assert Counter(tax.edges) == named


@pytest.mark.parametrize("name", COLLECTIONS)
def test_taxonomies_of_collections(shared, name):
    folder = shared("data", name)
    tax = read(folder)
    assert tax.roots in (("root",), ("Root",))
    assert not tax.titles
    if (folder / "stats.json").exists():
        known, found = measured(folder), stats(tax)
        assert found["nodes"] == known["nodes"] + 1
        assert {k: found[k] for k in COUNTS[1:] if k != "roots"} == {
            k: known[k] for k in COUNTS[1:] if k != "roots"
        }
        assert found["depth"] == known["depth"]
        assert len(tax.children(tax.roots[0])) == known["top"]


@pytest.mark.parametrize(
    ("name", "arff"),
    [("ImCLEF07A", "ImCLEF07A_Train.arff"), ("cellcycle_GO", "cellcycle_GO.test.arff")],
)
def test_class_hierarchies_of_clus_headers(shared, name, arff):
    folder = shared("data", name)
    ours, tax = read(folder), read(folder, arff)
    assert set(tax.nodes) == set(ours.nodes) - {"root"}
    assert set(tax.edges) == {(p, c) for p, c in ours.edges if p != "root"}
    assert set(tax.roots) == set(ours.children("root"))


ROUND_TRIPS = [
    (name, suffix)
    for name in FOLDERS + COLLECTIONS
    for suffix in ("tsv.gz", "csv", "json", "obo", "ttl", "rdf")
    if (name, suffix) != ("mesh2015", "rdf")  # ten seconds, and its turtle file says the same
]


@pytest.mark.parametrize(("name", "suffix"), ROUND_TRIPS)
def test_everything_comes_back(shared, tmp_path, name, suffix):
    tax = read(shared("taxonomies" if name in FOLDERS else "data", name))
    tax.write(tmp_path / f"out.{suffix}")
    assert Taxonomy.read(tmp_path / f"out.{suffix}") == tax


@pytest.mark.parametrize("name", FOLDERS + COLLECTIONS)
def test_edges_come_back_from_lshtc(shared, tmp_path, name):
    tax = read(shared("taxonomies" if name in FOLDERS else "data", name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tax.write(tmp_path / "cat_hier.txt")
    assert set(Taxonomy.read(tmp_path / "cat_hier.txt").edges) == set(tax.edges)


def test_isolated_concepts_come_back(shared, tmp_path):
    tax = read(shared("taxonomies", "yso_archaeology"), "yso-archaeology.ttl")
    for suffix in ("tsv", "csv", "json", "obo", "ttl", "rdf"):
        tax.write(tmp_path / f"out.{suffix}")
        assert Taxonomy.read(tmp_path / f"out.{suffix}") == tax
    assert np.sum(tax.n_parents + tax.n_children == 0) == 66
