"""Commands by their exit code and what they print."""

import json
import subprocess
import sys
from inspect import signature

import pytest
from typer.main import get_command

from linnaeus import Taxonomy
from linnaeus.cli import options
from linnaeus.cli.main import app
from linnaeus.decisions import RULES
from linnaeus.model import methods as early
from linnaeus.model.methods import METHODS, class_of

DIAMOND = [("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("b", "d")]


@pytest.fixture
def tsv(tmp_path):
    path = tmp_path / "taxonomy.tsv"
    Taxonomy.from_edges(DIAMOND, titles={"d": "Dee"}, related=[("a", "d")]).write(path)
    return path


def test_show_draws_a_tree(linnaeus, tsv):
    code, out, err = linnaeus("taxonomy", "show", tsv)
    assert code == 0 and err == ""
    assert "├── a" in out and "Dee [d]" in out
    code, out, _ = linnaeus("taxonomy", "show", tsv, "--root", "b", "--width", "1")
    assert code == 0 and "... 1 more" in out
    code, out, _ = linnaeus("taxonomy", "show", tsv.parent, "--depth", "1")  # a folder
    assert code == 0 and "below" in out


def test_show_as_json(linnaeus, tsv):
    code, out, _ = linnaeus("taxonomy", "show", tsv, "--json")
    nodes = json.loads(out)["nodes"]
    assert code == 0
    assert [n["id"] for n in nodes] == ["r", "a", "b", "c", "d"]
    assert nodes[3]["parents"] == ["a", "b"]
    assert nodes[4]["title"] == "Dee"


def test_check_lists_what_is_odd(linnaeus, tmp_path):
    path = tmp_path / "chain.tsv"
    Taxonomy.from_edges([("r", "a"), ("a", "b"), ("b", "c")]).write(path)
    code, out, _ = linnaeus("taxonomy", "check", path)
    assert code == 0 and "finding" in out
    code, out, _ = linnaeus("taxonomy", "check", path, "--json")
    assert code == 0 and json.loads(out)["findings"]


def test_stats_counts(linnaeus, tsv):
    code, out, _ = linnaeus("taxonomy", "stats", tsv, "--json")
    result = json.loads(out)
    assert code == 0
    assert (result["nodes"], result["edges"], result["related"]) == (5, 5, 1)
    code, out, _ = linnaeus("taxonomy", "stats", tsv)
    assert code == 0 and "multi parent" in out


def test_convert_keeps_everything(linnaeus, tsv, tmp_path):
    target = tmp_path / "taxonomy2.json.gz"
    code, out, _ = linnaeus("taxonomy", "convert", tsv, target)
    assert code == 0 and "5 nodes and 5 edges" in out
    assert Taxonomy.read(target) == Taxonomy.read(tsv)


def test_convert_can_drop_an_artificial_root(linnaeus, tmp_path):
    source, target = tmp_path / "a.tsv", tmp_path / "b.csv"
    Taxonomy.from_edges([("Root", "a"), ("Root", "b"), ("a", "c")]).write(source)
    code, out, _ = linnaeus("taxonomy", "convert", source, target, "--drop-root", "--json")
    assert code == 0 and json.loads(out)["nodes"] == 3
    assert Taxonomy.read(target).roots == ("a", "b")


SHOP = "id;name;parent;url\n1;Men;;x\n2;Boots;1;x\n3;Women;;x\n4;Boots;3;x\n5;Hats;3;x\n"


def test_a_shop_at_the_shell(linnaeus, tmp_path):
    """Notes in one line on standard error, nodes by title, and no Python in messages."""
    path = tmp_path / "shop.csv"
    path.write_text(SHOP)
    code, out, err = linnaeus("taxonomy", "show", path, "--root", "women")
    assert (code, out) == (0, "Women [3]\n├── Boots [4]\n└── Hats [5]\n")
    assert err.startswith("Note: semicolons separate") and "not used: 'url'." in err
    for root, says in (("Boots", "2 nodes: '2' (Boots), '4' (Boots)"), ("Htas", "mean '5' (Hats)")):
        code, _, err = linnaeus("taxonomy", "show", path, "--root", root)
        assert code == 1 and says in err
    code, out, _ = linnaeus("taxonomy", "check", path)
    assert code == 0 and "read: columns: node from 'id', parent from 'parent'" in out
    code, _, err = linnaeus("taxonomy", "convert", path, tmp_path / "shop.outline")
    assert code == 0 and "no place for ids other than the names: 5 are left out" in err
    (tmp_path / "odd.txt").write_text("Some prose.\nAnd more.\n")
    for arguments in (["check", tmp_path / "odd.txt"], ["convert", path, tmp_path / "shop.xyz"]):
        code, _, err = linnaeus("taxonomy", *arguments)
        assert code == 1 and "format=" not in err and ("--format" in err or "--to" in err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["taxonomy", "show", "nowhere.tsv"], "There is no file nowhere.tsv"),
        (["taxonomy", "shwo", "x"], "No such command"),
        (["demo", "--documents", "3"], "50"),
        (["taxonomy", "show", "x", "--depht", "2"], "No such option"),
    ],
)
def test_a_users_mistake_is_one_message_and_code_1(linnaeus, arguments, message):
    code, out, err = linnaeus(*arguments)
    assert code == 1 and message in err and "Traceback" not in err + out


def test_a_cycle_is_shown_with_its_file(linnaeus, tmp_path):
    path = tmp_path / "cycle.tsv"
    path.write_text("a\tb\nb\tc\nc\ta\n")
    for command in ("show", "check", "stats"):
        code, out, err = linnaeus("taxonomy", command, path)
        assert code == 1 and out == ""
        assert "cycle.tsv" in err.replace("\n", "") and "has a cycle" in err


def test_ctrl_c_is_code_130(linnaeus, tsv, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("linnaeus.workflow.load_taxonomy", interrupt)
    code, _, err = linnaeus("taxonomy", "show", tsv)
    assert code == 130 and "Traceback" not in err


@pytest.mark.slow
def test_demo_as_json_is_deterministic(linnaeus):
    code, out, _ = linnaeus("demo", "--documents", 120, "--json", "--no-files")
    first = json.loads(out)
    assert code == 0
    for key in ("micro_f1", "macro_f1", "hierarchical_f1", "zero_one_loss", "levels"):
        assert key in first
    assert 0.3 < first["hierarchical_f1"] < 1
    second = json.loads(linnaeus("demo", "--documents", 120, "--json", "--no-files")[1])
    for key in ("micro_f1", "levels", "example", "best"):
        assert first[key] == second[key]
    methods = first["comparison"]["methods"]
    assert len(methods) == 2 and first["folder"] is None


def test_demo_tells_the_whole_story(linnaeus, tmp_path):
    folder = tmp_path / "demo"
    code, out, _ = linnaeus("demo", "--documents", 120, "--quiet", "--output", folder)
    assert code == 0
    for part in ("The newsroom", "Two methods", "micro", "One story", "✓", "report.html", "next"):
        assert part in out
    assert "</html>" in (folder / "report.html").read_text(encoding="utf-8")
    code, out, _ = linnaeus("evaluate", folder / "model", folder / "data", "--json")
    assert code == 0 and json.loads(out)["hierarchical_f1"] > 0.3


@pytest.mark.slow
def test_demo_goes_into_its_own_folder_again(linnaeus, tmp_path):
    for _ in range(2):
        assert linnaeus("demo", "--documents", 120, "--quiet", "--output", tmp_path / "d")[0] == 0


@pytest.mark.parametrize("name", ["stories.xlsx", "stories.csv"])
def test_demo_writes_a_spreadsheet(linnaeus, tmp_path, name):
    """A table as people have them: paths in a column, some rows twice, some without a label."""
    code, out, _ = linnaeus("demo", "--documents", 100, "--spreadsheet", tmp_path / name)
    assert code == 0 and "102 rows" in out
    code, out, _ = linnaeus("check", tmp_path / name, "--json")
    by = {finding["kind"]: finding["count"] for finding in json.loads(out)["findings"]}
    assert code == 0 and by["duplicate"] == 2 and by["no_label"] == 1
    assert json.loads(out)["columns"] == {"text": ["Headline", "Story"], "labels": "Category"}


def test_demo_leaves_other_folders_alone(linnaeus, tmp_path):
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    code, _, err = linnaeus("demo", "--documents", 120, "--output", tmp_path)
    assert code == 1 and "not empty" in err and "--output" in err
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_help_and_import_load_little():
    """--help answers at once because nothing heavy is imported; neither is an extra."""
    heavy = ["numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "rdflib", "pyarrow"]
    heavy += ["networkx", "fastapi", "ray"]
    probe = (
        "import sys; from linnaeus.cli import main\n"
        "try: main.run(['--help'])\nexcept SystemExit: pass\n"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]") and "taxonomy" in done.stdout
    probe = (  # scikit-learn itself may load pandas where it is installed
        "import sys, sklearn.feature_extraction.text, sklearn.model_selection, sklearn.multiclass\n"
        "before = set(sys.modules)\n"
        "from linnaeus import Taxonomy, decisions, io, losses, metrics, splits\n"
        "from linnaeus import synthetic, text\n"
        f"print([m for m in {heavy[4:]!r} if m in set(sys.modules) - before])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def run_apart(commands, folder, *modules):
    """Commands in a process of their own: of each the code, the modules there, and what it says."""
    probe = (
        "import sys; from linnaeus.cli import main\n"
        f"for typed in {commands!r}:\n"
        "    try: main.run(typed.split()); code = 0\n"
        "    except SystemExit as stop: code = stop.code\n"
        f"    there = [m for m in {modules!r} if m in sys.modules]\n"
        "    print(code, there, end='|', flush=True); print(end='|', file=sys.stderr, flush=True)"
    )
    command = [sys.executable, "-c", probe]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    return list(zip(done.stdout.split("|")[:-1], done.stderr.split("|")[:-1], strict=True))


TYPED_WRONG = {
    "train nosuch -o m": "no file or folder nosuch",
    "train . -o m --method svn": "did you mean 'svm'",
    "train . -o m --rule clsed": "did you mean 'closed'",
    "train . -o m --method rr-svm -p C=abc": "where a number is needed",
    "train . -o m --method svm -p D=1": "has no parameter 'D'",
    "train . -o m -p C=abc": "where a number is needed",
    "train . -o m -p Cc=1": "did you mean 'C'",
    "train . -o m -p C": "not written name=value",
    "train . -o nosuch/m": "no folder nosuch",
    "evaluate m nosuch": "no file or folder nosuch",
    "evaluate m . --rule clsed": "did you mean 'closed'",
    "explain m --text x --rule clsed": "did you mean 'closed'",
    "rule m clsed": "did you mean 'closed'",
}


def test_what_was_typed_wrong_is_told_before_anything_is_loaded(tmp_path):
    heavy = ("numpy", "scipy", "sklearn", "numba", "pandas")
    done = run_apart(list(TYPED_WRONG), tmp_path, *heavy)
    for (typed, said), (out, err) in zip(TYPED_WRONG.items(), done, strict=True):
        assert said in err, typed
        assert out.endswith("1 []"), typed


def test_small_taxonomies_and_missing_models_need_no_compiler(tmp_path):
    (tmp_path / "t.tsv").write_text("parent\tchild\na\tb\na\tc\n")
    typed = ["predict m t.tsv -o o.csv", "rule m", "taxonomy show t.tsv"]
    for out, err in run_apart(typed, tmp_path, "sklearn", "numba", "pandas"):
        assert out.endswith(" []")
        assert "There is no model m" in err or "├── b" in out


def test_early_checks_know_every_method_and_rule():
    for name, kind in METHODS.items():
        takes = dict(signature(class_of(name)).parameters)
        known = early._defaults(f"estimators/{name.replace('-', '_')}.py", kind)
        assert list(known) in ([], list(takes))  # none where the constructor is a base's
        assert all(v in (None, takes[key].default) for key, v in known.items())
    assert list(early._strings("decisions/named.py", "RULES")) == list(RULES)


def test_every_described_option_is_one_of_its_command():
    def parameters(command, path):
        yield from ((path, p.help) for p in command.params)
        for name, inner in getattr(command, "commands", {}).items():
            yield from parameters(inner, [*path, name])

    def described(entry, path):
        if "help" in entry:
            yield path[:-1], entry["help"]
        else:
            for name, inner in entry.items():
                yield from described(inner, [*path, name])

    known = list(parameters(get_command(app), []))
    for path, words in described(options.described(), []):
        if path in (["shared"], ["read"]):
            assert words in [other for _, other in known], words
        else:
            assert (path, words) in known, words


def test_version_and_no_arguments(linnaeus):
    assert linnaeus("--version")[1].startswith("linnaeus 0.")
    code, out, err = linnaeus()
    assert "taxonomy" in out + err and code in (0, 1)
