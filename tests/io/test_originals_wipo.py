"""WIPO-alpha: small XML files in the collection's form."""

import pytest

from linnaeus.errors import UserError
from linnaeus.io import read_wipo
from linnaeus.io.originals.wipo import main_group

RECORD = """<?xml version="1.0" encoding="iso-8859-1"?>
{doctype}
<record cy="WO" an="AU9700312" pn="{name}" dnum="9744063" kind="A1">
<ipcs ed="6" mc="{main}">{further}</ipcs>
<ins><in>Smith</in></ins>
<tis><ti xml:lang="EN">A caf\xe9 loom</ti><ti xml:lang="FR">Un m\xe9tier</ti></tis>
<abs><ab xml:lang="EN">It <b>weaves</b>
   well.</ab></abs>
<cls><cl xml:lang="EN">1. A loom.</cl></cls>
<txts><te xml:lang="EN">one two three four</te></txts>
</record>
"""
DOCTYPE = '<!DOCTYPE record SYSTEM "../../ipctraining.dtd">'


@pytest.fixture
def patents(tmp_path):
    """A function that writes records {path: (main class, further classes)}."""

    def write(records, doctype=DOCTYPE):
        for at, (main, further) in records.items():
            file = tmp_path / at
            file.parent.mkdir(parents=True, exist_ok=True)
            extra = "".join(f'<ipc ic="{code}"></ipc>' for code in further)
            text = RECORD.format(doctype=doctype, name=file.stem, main=main, further=extra)
            file.write_bytes(text.encode("latin-1"))
        return tmp_path

    return write


@pytest.fixture
def some(patents):
    return patents(
        {
            "train/D/03/C/001/p1.xml": ("D03C00102", ["D03D04900", "A01B00100", "D03C00108"]),
            "train/A/01/B/001/p2.xml": ("A01B00100", ["D01B00100"]),
            "test/D/01/B/001/p3.XML": ("D01B00100", []),
        }
    )


def test_one_main_group_each(some):
    data = read_wipo(some)
    assert data.train.ids == ["p2", "p1"]
    assert data.train.labels == [["A01B001"], ["D03C001"]] and data.test.labels == [["D01B001"]]
    assert [len(level) for level in data.taxonomy.levels] == [2, 3, 3, 3]
    assert data.taxonomy.ancestors("D03C001") == ("D", "D03", "D03C", "D03C001")


def test_texts_are_chosen(some):
    assert read_wipo(some).train.texts[0] == "A caf\xe9 loom\n1. A loom."
    parts = ["abstract", "title", "description"]
    text = read_wipo(some, text=parts, words=3).train.texts[0]
    assert text == "It weaves well.\nA caf\xe9 loom\none two three"
    assert read_wipo(some, text="title", language="fr").train.texts[0] == "Un m\xe9tier"
    with pytest.raises(UserError, match=r"text='claim' is not known \(did you mean 'claims'"):
        read_wipo(some, text=["claim"])


def test_a_section_with_one_or_several_labels(some):
    data = read_wipo(some, select="D")
    assert data.train.ids == ["p1"] and data.taxonomy.roots == ("D",)
    data = read_wipo(some, select="D", multilabel=True)
    assert data.train.labels == [["D01B001"], ["D03C001", "D03D049"]]
    assert data.name == "wipo-D"
    assert read_wipo(some, select="D03C").taxonomy.nodes == ("D03C", "D03C001")
    with pytest.raises(UserError, match="No document of .* has a class that begins with 'H'"):
        read_wipo(some, select="H")


def test_without_train_and_test_everything_is_for_training(some):
    data = read_wipo(some / "train")
    assert len(data.train) == 2 and data.test is None


def test_codes():
    assert main_group("a01b 00102") == "A01B001"
    assert main_group("H04N005") == "H04N005"
    assert (
        main_group("A01B1/02") is None and main_group("") is None and main_group("Z01B001") is None
    )


def test_declarations_are_refused_and_nothing_is_fetched(patents, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    for doctype in (
        f'<!DOCTYPE record [<!ENTITY x SYSTEM "{secret}">]>',
        '<!DOCTYPE record [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>',
        "<!DOCTYPE record [<!ELEMENT record ANY>]>",
    ):
        at = patents({"train/p.xml": ("A01B00100", [])}, doctype)
        with pytest.raises(UserError, match=r"p.xml, line 2: the file declares .* refused"):
            read_wipo(at)
    patents({"train/p.xml": ("A01B00100", [])}, f'<!DOCTYPE record SYSTEM "{secret}">')
    assert "hidden" not in read_wipo(at).train.texts[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('mc="A01B00100"', "", r"p.xml: the record has no main class: <ipcs mc=...> is missing"),
        ("A01B00100", "X1", r"p.xml: the class 'X1' is not a code of the IPC such as"),
        ("</tis>", "", r"p.xml, line 11: malformed XML \(mismatched tag\)"),
        ("iso-8859-1", "klingon", r"p.xml.*encoding"),
    ],
)
def test_bad_files_are_named(patents, old, new, message):
    at = patents({"train/p.xml": ("A01B00100", [])})
    file = at / "train/p.xml"
    file.write_bytes(file.read_bytes().replace(old.encode(), new.encode()))
    with pytest.raises(UserError, match=message):
        read_wipo(at)


def test_an_empty_folder(tmp_path):
    with pytest.raises(UserError, match=r"lacks files \*.xml with <record>.* It is empty."):
        read_wipo(tmp_path)
