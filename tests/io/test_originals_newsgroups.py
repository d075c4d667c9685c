"""20 newsgroups from folders of posts and from matlab files."""

import numpy as np
import pytest

from linnaeus.errors import UserError
from linnaeus.io import read_collection, read_newsgroups
from linnaeus.io.originals.newsgroups import group_tree, without_headers

POST = "From: me\nSubject: gears\n\nMy car\xe9 is\n\nred.\n"
MATLAB = {
    "train.data": "1 1 2\n1 3 1\n3 2 5\n",
    "train.label": "1\n1\n2\n",
    "train.map": "alt.atheism 1\nrec.autos 2\n",
    "test.data": "1 4 1\n",
    "test.label": "2\n",
    "test.map": "alt.atheism 1\nrec.autos 2\n",
}


@pytest.fixture
def posts(tmp_path):
    for part, numbers in {"train": ["9", "10", "101"], "test": ["200"]}.items():
        for group in ("rec.autos", "alt.atheism"):
            folder = tmp_path / f"20news-bydate-{part}" / group
            folder.mkdir(parents=True)
            for number in numbers:
                (folder / number).write_bytes(POST.encode("latin-1"))
    return tmp_path


@pytest.fixture
def matlab(tmp_path):
    for name, text in MATLAB.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_raw_posts(posts):
    data = read_newsgroups(posts)
    ids = [f"{g}/{n}" for g in ("alt.atheism", "rec.autos") for n in (9, 10, 101)]
    assert data.train.ids == ids
    assert data.train.labels == [["alt.atheism"]] * 3 + [["rec.autos"]] * 3
    assert data.train.texts[0] == POST and len(data.test) == 2
    assert data.taxonomy.nodes == ("alt", "rec", "alt.atheism", "rec.autos")
    assert data.taxonomy.edges == (("alt", "alt.atheism"), ("rec", "rec.autos"))
    assert read_newsgroups(posts, parts=["test"]).train is None


def test_headers_can_be_stripped(posts):
    assert read_newsgroups(posts, strip_headers=True).train.texts[0] == "My car\xe9 is\n\nred.\n"
    assert without_headers("a\r\n\r\nb\r\nc") == "b\nc"
    assert without_headers("no empty line") == "no empty line"


def test_a_folder_of_groups_is_for_training(posts):
    data = read_newsgroups(posts / "20news-bydate-train")
    assert len(data.train) == 6 and data.test is None


def test_matlab_files(matlab):
    data = read_newsgroups(matlab)
    expected = [[2, 0, 1, 0], [0, 0, 0, 0], [0, 5, 0, 0]]
    np.testing.assert_array_equal(data.train.X.toarray(), expected)
    np.testing.assert_array_equal(data.test.X.toarray(), [[0, 0, 0, 1]])
    assert data.train.X.dtype == np.float32
    assert data.train.labels == [["alt.atheism"], ["alt.atheism"], ["rec.autos"]]
    assert data.train.ids == ["1", "2", "3"] and data.train.feature_names is None
    (matlab / "vocabulary.txt").write_text("a\nb\nc\nd\ne\n")
    data = read_newsgroups(matlab)
    assert data.test.X.shape == (1, 5) and data.test.feature_names == list("abcde")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("train.data", "1 1 2\n1 x 1\n", "train.data, line 2: '1 x 1' is not three whole numbers"),
        ("train.data", "4 1 2\n", "train.data, line 1: .* documents run from 1 to 3"),
        ("train.data", "1 0 2\n", "train.data, line 1: .* out of range"),
        ("train.data", "1 1\n", "train.data, line 1: found 2 columns in '1 1'"),
        ("train.label", "1\n1\n7\n", "train.label, line 3: the group '7' is not in train.map"),
        ("train.map", "alt.atheism one\n", "train.map, line 1: 'one' is not the number"),
        ("vocabulary.txt", "a\nb\n", "vocabulary of .* has 2 words, but word 4 occurs"),
    ],
)
def test_bad_matlab_files(matlab, file, content, message):
    (matlab / file).write_text(content)
    with pytest.raises(UserError, match=message):
        read_newsgroups(matlab)


def test_what_is_missing_is_named(tmp_path, matlab):
    with pytest.raises(UserError, match="not there; it should be a folder with 20news-bydate-tr"):
        read_newsgroups(tmp_path / "nowhere")
    (matlab / "test.map").unlink()
    with pytest.raises(UserError, match="lacks test.map. It holds: .*Rennie"):
        read_newsgroups(matlab)
    with pytest.raises(UserError, match="word counts, from which no headers can be stripped"):
        read_newsgroups(matlab, strip_headers=True)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match="empty lacks 20news-bydate-train and .* It is empty."):
        read_newsgroups(empty)
    (empty / "20news-bydate-train" / "alt.atheism").mkdir(parents=True)
    with pytest.raises(UserError, match="20news-bydate-train lacks posts <group>/<number>"):
        read_newsgroups(empty)
    with pytest.raises(UserError, match="parts is 'tests'. Use some of"):
        read_newsgroups(matlab, parts="tests")


def test_posts_of_the_real_collection_come_back(shared, tmp_path):
    ours = read_collection(shared("data", "news20"), parts=["test"])
    part = ours.test.take(range(0, len(ours.test), 40))
    for key, text in zip(part.ids, part.texts, strict=True):
        file = tmp_path / "20news-bydate-test" / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("latin-1"))
    data = read_newsgroups(tmp_path)
    assert data.taxonomy == ours.taxonomy
    assert dict(zip(data.test.ids, data.test.texts, strict=True)) == dict(
        zip(part.ids, part.texts, strict=True)
    )


def test_twenty_groups_have_27_nodes(shared):
    ours = read_collection(shared("data", "news20"), parts=["test"]).taxonomy
    assert group_tree(ours.leaves) == ours and len(ours) == 27
