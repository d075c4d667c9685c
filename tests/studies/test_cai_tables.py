"""Tables of [Cai2008] section 7: the figures, the newsgroups, and small runs of every kind."""

import gzip
import json
import re
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linnaeus import HierarchicalPerceptron, Hieron, RankingSVM, Taxonomy, TopDown
from spec_tables import table_after
from studies import cai_data
from studies import figures_cai as paper
from studies.cai import SHUFFLED, TABLES
from studies.cai_studies import RANDOM, classifier, run_synthetic
from studies.cai_units import cells_of
from studies.tables import Context

BY_NAME = {table.name: table for table in TABLES}
GROUPS = [group for groups in cai_data.FAMILIES.values() for group in groups]
TITLES = {
    "7.5": paper.SYNTHETIC, "7.10": paper.NEWS_SVM, "7.13": paper.ENZYME, "7.15": paper.NEWS_DNC,
    "7.24": paper.NEWS_LEARNED,
}  # fmt: skip


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_news(folder, n=24):
    """Posts whose words are those of their group, their family and everybody."""
    folder.mkdir(parents=True)
    edges = [(family, g) for family, groups in cai_data.FAMILIES.items() for g in groups]
    edges += [("Root", family) for family in cai_data.FAMILIES] + [("Root", "sci.med")]
    (folder / "taxonomy.tsv").write_text("".join(f"{p}\t{v}\n" for p, v in edges))
    rng = np.random.default_rng(0)
    for part in ("train", "test"):
        rows = [{"id": "x", "text": "From: a\n\nmedicine", "labels": ["sci.med"]}]
        for number, group in enumerate(GROUPS):
            words = [f"group{number}", group.split(".")[0] * 2, *(f"word{i}" for i in range(40))]
            chance = np.array([3.0, 3.0] + [0.2] * 40)
            for i in range(n):
                drawn = rng.choice(words, 12, p=chance / chance.sum())
                text = f"From: secret{number}\nSubject: s\n\n{' '.join(drawn)}"
                rows.append({"id": f"{group}/{i}", "text": text, "labels": [group]})
        rows.append({"id": "empty", "text": "From: nobody\n\n", "labels": [GROUPS[0]]})
        write_jsonl(folder / f"{part}.jsonl", rows)


def write_enzyme(folder):
    """Sequences with a motif of their class; the last has two classes."""
    folder.mkdir(parents=True)
    leaves = ("1.1.1", "1.1.2", "1.2.1", "2.1.1")
    edges = {("Root", v[0]) for v in leaves} | {(v[0], v[:3]) for v in leaves}
    edges |= {(v[:3], v) for v in leaves}
    (folder / "taxonomy.tsv").write_text("".join(f"{p}\t{v}\n" for p, v in sorted(edges)))
    motifs = ("ACDEFG", "HIKLMN", "PQRSTV", "WYACHI")
    rng = np.random.default_rng(0)
    for part, n in (("train", 24), ("test", 16)):
        rows = []
        for i in range(n):
            k = i % 4
            noise = "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 8))
            own = [leaves[k], *(leaves[:1] if i == n - 1 else [])]
            rows.append({"id": str(i), "text": motifs[k] * 2 + noise, "labels": own})
        write_jsonl(folder / f"{part}.jsonl", rows)


def write_images(folder):
    """Rows of numbers around a centre of their class."""
    folder.mkdir(parents=True)
    leaves = ("1/1/1", "1/1/2", "1/2/1", "2/1/1")
    edges = {("root", v[0]) for v in leaves} | {(v[0], v[:3]) for v in leaves}
    edges |= {(v[:3], v) for v in leaves}
    (folder / "taxonomy.tsv").write_text("".join(f"{p}\t{v}\n" for p, v in sorted(edges)))
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 5)) * 2
    for part, n in (("train", 40), ("test", 20)):
        lines = ["a,b,c,d,e,labels"]
        for i in range(n):
            x = centres[i % 4] + rng.normal(size=5)
            v = leaves[i % 4]
            lines.append(",".join(f"{value:.3f}" for value in x) + f",{v[0]} {v[:3]} {v}")
        (folder / f"{part}.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    root = tmp_path_factory.mktemp("collections")
    write_news(root / "news20")
    write_enzyme(root / "enzyme")
    write_images(root / "ImCLEF07A")
    return Context(root, quick=True)


def rows_of(text, number):
    """The rows of a table of the specification, as lists of cells without the head."""
    rows = table_after(text, f"\n**{number} ")
    return rows[0], rows[2:]


def numbers(cells):
    return [float(re.match(r"[\d.]+", cell)[0]) for cell in cells]


def flattened(methods):
    """Figures measure by measure, as they are printed."""
    measures = list(next(iter(methods.values())))
    return [methods[method][measure] for measure in measures for method in methods]


def test_every_table_is_declared():
    wanted = {f"cai-7.{k}" for k in (5, 10, 13, 15, 18, 19, 20, 21, 24)} | {
        "cai-images",
        "cai-orders",
    }
    assert set(BY_NAME) == wanted
    for table in TABLES:
        names = [unit.name for unit in table.units]
        assert len(set(names)) == len(names) and (names or table.of)
        assert table.protocol and table.why and table.source.startswith("[Cai2008]")


@pytest.mark.parametrize("number", TITLES)
def test_figures_are_those_of_the_specification(shared, number):
    _, rows = rows_of(shared("spec", "cai.md").read_text(), number)
    figures = TITLES[number]
    skipped = {"7.5": 2, "7.13": 0}.get(number, 1)  # cells that name the condition
    assert len(rows) == len(figures)
    for row, (condition, methods) in zip(rows, figures.items(), strict=True):
        named = " x ".join(row[:skipped]) if number == "7.5" else "".join(row[:skipped])
        assert named in ("", condition, condition.removeprefix("t = "))
        assert numbers(row[skipped:]) == flattened(methods)


def test_figures_of_perceptrons_are_those_of_the_specification(shared):
    text = shared("spec", "cai.md").read_text()
    signs = {"acc %": "acc", "prec %": "prec", "Δt": "top loss", "pacc %": "pacc"}
    for number, figures, first in (
        ("7.20", paper.NEWS_AVERAGED, 2),
        ("7.21", paper.NEWS_ONLINE, 1),
    ):
        head, rows = rows_of(text, number)
        assert len(rows) == 4 * len(figures)
        for row in rows:
            condition = "all" if first == 1 or row[0] == "all" else f"t = {row[0]}"
            for method, value in zip(head[first:], numbers(row[first:]), strict=True):
                assert figures[condition][method][signs[row[first - 1]]] == value


def test_figures_of_random_hierarchies_are_those_of_the_specification(shared):
    text = shared("spec", "cai.md").read_text()
    _, rows = rows_of(text, "7.18")
    for name, *cells in rows:
        found = [v for c in ("t = 20", "all") for v in paper.RANDOM_SVM[c][name].values()]
        assert found == numbers(cells)
    _, rows = rows_of(text, "7.19")
    found = {name: list(row.values()) for name, row in paper.RANDOM_DNC["t = 20"].items()}
    assert found == {name: numbers(cells) for name, *cells in rows}


def test_newsgroups_have_bodies_of_posts_only(context):
    data = cai_data.newsgroups(context.data)
    assert set(data.y) == set(GROUPS) and data.X.shape[0] == 2 * 24 * 15  # no empty post
    assert list(data.y) == sorted(data.y)
    assert_allclose(data.X.power(2).sum(axis=1), 1.0)
    vocabulary = 15 + 40 + len({group.split(".")[0] for group in GROUPS})
    assert data.X.shape[1] <= vocabulary  # no word of the header lines
    assert data.taxonomy.depth.max() == 2 and len(data.taxonomy.leaves) == 15


def test_groups_of_a_family_follow_one_another(context):
    data = cai_data.newsgroups_by_family(context.data)
    assert list(dict.fromkeys(data.y.tolist())) == list(data.taxonomy.leaves)
    assert data.X.sum() == pytest.approx(cai_data.newsgroups(context.data).X.sum())


def test_epochs_are_those_of_the_suffix():
    known = {unit.name: unit.settings for unit in BY_NAME["cai-orders"].units}
    assert known["all, 1 epoch: HoPERC"]["max_iter"] == 1
    assert known["all, 10 epochs: FaPERC"]["max_iter"] == 10
    assert len(known) == 8 * 5


def test_real_newsgroups_have_as_many_words_as_in_the_thesis(shared):
    data = cai_data.newsgroups(shared("data"))
    assert data.X.shape[0] == 13893
    assert abs(data.X.shape[1] / 63315 - 1) < 0.1


def test_names_make_classifiers():
    tax = Taxonomy.from_edges([("root", v) for v in "ab"] + [("a", "x"), ("a", "y"), ("b", "z")])
    flat = classifier("F-SVM", tax, 3, {"C": 2.0})
    assert isinstance(flat, RankingSVM) and flat.attributes == "flat" and flat.C == 2.0
    assert classifier("H-SVM", tax, 3, {}).attributes is None
    assert isinstance(classifier("DNC-SVM", tax, 0, {}), TopDown)
    random = classifier("H-SVM rand2", tax, 0, {}).taxonomy
    assert len(random) == len(tax) and random.leaves == tax.leaves
    hieron = classifier("FoHieron", tax, 0, {"shuffle": False})
    assert isinstance(hieron, Hieron) and not hieron.averaged and hieron.loss == "zero_one"
    perceptron = classifier("HaPERC", tax, 0, {})
    assert isinstance(perceptron, HierarchicalPerceptron) and perceptron.variant == "averaged"
    assert callable(classifier("HaPERCa", tax, 0, {}))


@pytest.mark.parametrize(
    ("table", "units"),
    [
        ("cai-7.10", ("t = 1: F-SVM", "t = 1: H-SVM", "t = 1: DNC-SVM", "all: H-SVM")),
        ("cai-7.18", ("t = 20: H-SVM", "t = 20: H-SVM rand1")),
        ("cai-7.19", ("t = 20: DNC-SVM", "t = 20: DNC-SVM rand5")),
        ("cai-7.20", ("t = 10: HaPERC", "t = 10: FaPERC", f"t = 10{SHUFFLED}: HaPERC")),
        ("cai-7.21", ("all: FoHieron", "all: HoHieron")),
        ("cai-7.24", ("t = 10: FaPERC", "t = 10: HaPERCa")),
        ("cai-orders", ("all, by family: HoPERC", "all, by family: FoPERC")),
        ("cai-7.13", ("enzyme: F-SVM", "enzyme: H-SVM")),
        ("cai-images", ("ImCLEF07A: F-SVM", "ImCLEF07A: H-SVM", "ImCLEF07A: HaPERC")),
    ],
)
def test_small_runs(context, table, units):
    known = {unit.name: unit for unit in BY_NAME[table].units}
    outcomes = {name: known[name].run(context) for name in units}
    for name, outcome in outcomes.items():
        assert outcome.cells and all(np.isfinite(cell.ours) for cell in outcome.cells)
        assert {len(values) for values in outcome.facts["values"].values()} == {2}
        assert name.endswith(outcome.facts["method"])
        assert name.startswith(outcome.facts["condition"])
    tests = BY_NAME[table].tests_of(outcomes)
    assert tests and all(0 < test["pvalue"] <= 1 for test in tests)
    if table == "cai-7.10":
        shown = BY_NAME["cai-7.15"].cells(outcomes)
        assert [cell.column for cell in shown[:3]] == ["F-SVM", "DNC-SVM", "H-SVM"]
        assert {cell.row for cell in shown} == {
            f"{c}, {m}" for c in ("t = 1", "all") for m in ("acc", "pacc")
        }
        own = BY_NAME[table].cells(outcomes)
        assert len(own) == 12 and not any("DNC" in cell.column for cell in own)


def test_shuffled_rows_are_not_paired_with_rows_in_order(context):
    known = {unit.name: unit for unit in BY_NAME["cai-7.21"].units}
    names = ("all: HoPERC", "all: FoPERC", f"all{SHUFFLED}: HoPERC")
    tests = BY_NAME["cai-7.21"].tests_of({name: known[name].run(context) for name in names})
    assert {test["condition"] for test in tests} == {"all"}


@pytest.mark.slow
def test_synthetic_draws_are_paired(context):
    cells = partial(cells_of, row="3 x 3", method="F-SVM", published={"acc": 88.5})
    out = run_synthetic(context, "3 x 3", "F-SVM", ratio=0.5, draws=9, cells=cells)
    assert [(cell.column, cell.paper) for cell in out.cells] == [("F-SVM", 88.5)]
    values = out.facts["values"]["acc"]
    assert len(values) == 2 and out.cells[0].ours == pytest.approx(np.mean(values), abs=1e-5)
    assert out.cells[0].error == pytest.approx(np.std(values, ddof=1), abs=1e-5)


def labels_per_family(data):
    """Labels of a row that lie in the same family, on average."""
    rows = data.taxonomy.decode(data.y)
    return sum(map(len, rows)) / sum(len({leaf[0] for leaf in row}) for row in rows)


def test_labels_keep_together_where_variances_fall_fast():
    names = [unit.name for unit in BY_NAME["cai-7.5"].units]
    assert "3 x 3: F-SVM" in names and "6 x 2, ratio 0.25: H-SVM" in names
    even, steep = (labels_per_family(cai_data.synthetic("6 x 2", 0, r)) for r in (1.0, 0.1))
    assert steep > 1.2 * even


def test_random_hierarchies_are_those_of_the_thesis_in_number():
    units = [unit.name for unit in BY_NAME["cai-7.18"].units]
    assert sum("rand" in name for name in units) == 2 * RANDOM
