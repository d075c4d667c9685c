"""Mistakes at the command line: one sentence that names the thing and the remedy, no Python."""

import re
import shutil
import sys

import pytest

from linnaeus.cli.main import run
from linnaeus.model import train
from small_data import TREE, stories, table, write_folder

PYTHON = re.compile(
    r"Traceback|`\w+`|\bNone\b|\bTrue\b|\bFalse\b|\bformat=|\bskip_bad|\bReadOptions\b|\bmethod=|"
    r"Taxonomy\.|linnaeus\.\w+\(|\bndarray\b|\barray\b|\bdtype is\b|\bn_jobs is\b|"
    r"\brandom_state is\b|\b[A-Z]\w+(Error|Warning)\b|__\w+__|<class|sklearn\.|\bPass \w+="
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    top = tmp_path_factory.mktemp("mistakes")
    write_folder(top / "texts")
    write_folder(top / "table", kind="table")
    train(stories(), TREE, "svm", rule="zero").save(top / "model")
    train(table(stories()), TREE, "svm", rule="zero").save(top / "numbers")
    shutil.copytree(top / "model", top / "damaged")
    (top / "damaged" / "model.json").write_text('{"format": "linn')
    files = {
        "empty.csv": "", "header.csv": "text,labels\n", "prices.csv": "text,price\nan old book,3\n",
        "unlabelled.csv": "text\nan old book\n", "odd.bin": "hello\nworld\n", "bad.json": "{",
        "cycle.tsv": "parent\tchild\nA\tB\nB\tC\nC\tA\n", "own.csv": "id,parent\n1,1\n2,1\n",
        "twice.csv": "text,labels,note,note\na b c,x,1,2\n", 
        "words.csv": "size,colour,labels\n1,red,A\n",
        "gap.csv": "text,level 1,level 2,level 3\na,A,,C\nb,A,B,C\n", "nul.xlsx": "no workbook",
        "old.xls": "x", "notes/readme.txt": "x",
    }  # fmt: skip
    for name, text in files.items():
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text(text)
    return top


MISTAKES = {
    "no such folder": ("train nowhere -o x", "nowhere", "Check the path"),
    "no examples": ("train notes -o x", "readme.txt", "Rename a file"),
    "empty file": ("train empty.csv -o x", "empty.csv", "header line"),
    "only a header": ("train header.csv -o x", "no rows", "Check the file"),
    "no labels": ("train prices.csv -o x", "'price'", "--labels"),
    "old workbook": ("train old.xls -o x", "xls", "Save it as .xlsx"),
    "no workbook": ("train nul.xlsx -o x", "nul.xlsx", "Save it as"),
    "two columns of a name": ("train twice.csv -o x", "'note'", "a name of its own"),
    "words beside numbers": ("train words.csv -o x", "'colour'", "--text"),
    "a level is empty": ("train gap.csv -o x", "gap", "fill them down"),
    "cycle": ("taxonomy show cycle.tsv", "C -> A", "remove one"),
    "its own parent": ("taxonomy show own.csv", "'1'", "leave it empty"),
    "unknown format": ("taxonomy show odd.bin", "'hello'", "--format"),
    "broken JSON": ("taxonomy show bad.json", "bad.json, line 1", "Check commas"),
    "unknown root": ("taxonomy show texts --root nix", "'nix'", "Give one of"),
    "taxonomy is missing": ("train texts -o x --taxonomy nix.tsv", "nix.tsv", "Check the path"),
    "no model": ("predict nix texts -o p.csv", "nix", "Check the path"),
    "not a model": ("predict notes texts -o p.csv", "readme.txt", "Name the folder"),
    "a file as model": ("evaluate empty.csv texts", "empty.csv", "Name the folder"),
    "damaged model": ("predict damaged texts -o p.csv", "model.json", "train it again"),
    "method": ("train texts -o x --method svmm", "'svmm'", "did you mean 'svm'"),
    "rule": ("evaluate model texts --rule scutt", "'scutt'", "did you mean 'scut'"),
    "parameter": ("train texts -o x --method svm -p CC=1", "'CC'", "did you mean 'C'"),
    "taxonomy as one": ("train texts -o x --method svm -p taxonomy=a", "'taxonomy'", "It has"),
    "text for a number": ("train texts -o x --method svm -p C=abc", "'abc'", "such as 1.0"),
    "negative": ("train texts -o x --method svm -p C=-1", "-1", "positive number"),
    "nothing": ("train texts -o x --method svm -p C=null", "null", "positive number"),
    "no flag": ("train texts -o x --method svm -p fit_intercept=maybe", "'maybe'", "true or"),
    "no sign": ("train texts -o x --method svm -p C", "'C'", "Write it like C=10"),
    "no jobs": ("train texts -o x --method svm --jobs 0", "--jobs", "positive whole number"),
    "kind of features": ("train texts -o x --features nix", "'nix'", "Use one of"),
    "n-grams": ("train texts -o x --method svm -f ngram_range=abc", "'abc'", "[1,2]"),
    "norm": ("train texts -o x --method svm -f norm=l3", "'l3'", "null"),
    "other columns": ("predict numbers prices.csv -o p.csv", "feature column", "training part"),
    "table to texts": ("predict model table -o p.csv", "trained on texts", "train a model"),
    "no labels to compare": ("evaluate model unlabelled.csv", "no row has", "linnaeus predict"),
    "no such part": ("evaluate model texts --part nix", "'nix'", "--part"),
    "nothing to explain": ("explain model", "nothing to explain", "--text"),
    "encoding": ("train texts -o x --encoding nix", "'nix'", "utf-8"),
    "text column": ("train prices.csv -o x --text txet", "'txet'", "did you mean 'text'"),
    "delimiter": ("train texts -o x --delimiter ;;", "';;'", "one character"),
    "output folder": ("predict model texts -o no/such/p.csv", "no/such", "There is no folder"),
    "format of the output": ("predict model texts -o p.nix", "'nix'", ".csv"),
    "over a folder": ("train texts -o notes --method svm", "readme.txt", "Name another folder"),
    "share of bad rows": ("train texts -o x --most-bad 7", "7", "from 0 to 1"),
    "import": ("import rcv1 notes -o y", "RCV1", "Name the folder"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_gets_one_sentence_without_python(case, place, monkeypatch, capsys):
    command, thing, remedy = MISTAKES[case]
    monkeypatch.chdir(place)
    with pytest.raises(SystemExit) as stop:
        run(command.split())
    said = capsys.readouterr().err.strip()
    assert stop.value.code == 1
    assert said.startswith("Error: ") and said.count("\n") == 0
    assert thing in said and remedy in said
    assert not PYTHON.search(said), said


@pytest.mark.parametrize(
    ("package", "command"),
    [("openpyxl", "train nul.xlsx -o x"), ("pyarrow", "predict model texts -o p.parquet")],
)
def test_a_missing_package_is_named_with_its_extra(package, command, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    for name in (package, f"{package}.parquet", f"{package}.utils.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SystemExit):
        run(command.split())
    said = capsys.readouterr().err
    assert repr(package) in said and 'pip install "linnaeus[' in said and "Traceback" not in said
