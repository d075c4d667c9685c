"""Copies of the paper's own collections are imported and run."""

import shutil

import numpy as np
import pytest

from studies import gopal_full
from studies.commands import table_states
from studies.gopal_data import COUNTS, intercept_of, load
from studies.running import reproduce
from studies.store import Store


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A challenge as distributed: numbers of words, two levels, 12 rows a class."""
    root = tmp_path_factory.mktemp("copies")
    source = root / "dmoz"
    source.mkdir()
    (source / "cat_hier.txt").write_text("1 2\n1 3\n2 4\n2 5\n3 6\n3 7\n")
    rng = np.random.default_rng(0)
    for part, n in (("train", 12), ("test", 5)):
        rows = []
        for leaf in (4, 5, 6, 7):
            for _ in range(n):
                counts = rng.poisson(1.0, 8) + 4 * (np.arange(8) // 2 == leaf - 4)
                words = " ".join(f"{word}:{k}" for word, k in enumerate(counts, 1) if k)
                rows.append(f"{leaf} {words}")
        (source / f"{part}.txt").write_text("\n".join(rows) + "\n")
    return root


def test_a_copy_is_imported_and_run(data, linnaeus, tmp_path):
    code, _, err = linnaeus("import", "lshtc", data / "dmoz", "-o", data / "dmoz-2010")
    assert code == 0, err
    problem = load(data, "dmoz-2010")
    assert "dmoz-2010" in COUNTS and np.allclose(problem.X.power(2).sum(axis=1), 1)  # TF-IDF
    tables = {gopal_full.TABLE.name: gopal_full.TABLE}
    units = ["dmoz-2010: RR-SVM", "dmoz-2010: BSVM", "lwiki: BSVM"]
    done = reproduce(None, data, tmp_path, units=units, quick=True, tables=tables)
    assert {d.unit: d.state for d in done} == {
        "dmoz-2010: BSVM": "run", "dmoz-2010: RR-SVM": "run", "lwiki: BSVM": "missing",
    }  # fmt: skip
    micro, macro = Store(tmp_path).outcomes("gopal-full")["dmoz-2010: RR-SVM"].cells
    assert micro.ours > 60 and (micro.paper, macro.paper) == (46.02, 33.12)


def test_the_large_wikipedia_is_a_graph(data, linnaeus, tmp_path):
    tables = {gopal_full.TABLE.name: gopal_full.TABLE}
    root, units = tmp_path / "graphs", ["lwiki: RR-SVM", "lwiki: BSVM"]
    root.mkdir()
    linnaeus("import", "lshtc", data / "dmoz", "-o", root / "lwiki")
    done = reproduce(None, root, tmp_path / "out", units=units[:1], quick=True, tables=tables)
    assert [(d.state, d.reason) for d in done] == [
        ("failed", "UserError: lwiki is not a graph. Import it again, with --graph.")
    ]
    shutil.rmtree(root / "lwiki")
    code, _, err = linnaeus("import", "lshtc", data / "dmoz", "-o", root / "lwiki", "--graph")
    assert code == 0, err
    done = reproduce(None, root, tmp_path / "out", units=units, quick=True, tables=tables)
    assert [d.state for d in done] == ["run", "run"]
    outcome = Store(tmp_path / "out").outcomes("gopal-full")["lwiki: RR-SVM"]
    assert outcome.cells[0].ours > 60 and len(outcome.facts["class_f1"]) == 4  # of 7 nodes
    settings = {unit.name: unit.settings for unit in gopal_full.TABLE.units}
    assert settings["lwiki: RR-LR"]["root"] == "free" and "root" not in settings["lwiki: BLR"]
    assert "root" not in settings["swiki-2011: RR-LR"]
    assert "import lshtc COPY -o DIR/lwiki --graph" in gopal_full.TABLE.protocol


def test_all_that_the_paper_reports_is_declared(tmp_path):
    names = {unit.name for unit in gopal_full.TABLE.units}
    assert {"rcv1-closed: HBLR", "wipo-alpha: TD", "lshtc-small: HSVM", "lwiki: RR-LR"} <= names
    assert "lwiki: TD" not in names and "swiki-2011: HBLR" not in names
    assert gopal_full.TABLE.minutes > 60  # the paper's, so that they are run last
    (state,) = (state for state in table_states(tmp_path) if state.name == "gopal-full")
    assert (state.done, state.units) == (0, len(names))


def test_intercepts():
    assert intercept_of("lwiki") == intercept_of("rcv1-closed") == {"fit_intercept": False}
    assert intercept_of("ImCLEF07A") == {"intercept_scaling": 10.0}
