"""Texts on disk look like those in memory; a part whose texts are there is the same part."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.errors import UserError
from linnaeus.io import read_collection, write_collection
from linnaeus.io.text_files import Chained, Room, Shelf, TextFile, room_of
from linnaeus.synthetic import newsroom

ANY = st.lists(st.text(max_size=5) | st.just("\ud800"))


def shelved(room, texts, name="texts"):
    shelf = Shelf(room, name)
    for text in texts:
        shelf.add(text)
    return shelf.texts()


@given(ANY, st.integers(0, 1000))
def test_a_shelf_gives_what_it_was_given(tmp_path_factory, texts, limit):
    room = Room(limit, tmp_path_factory.mktemp("shelf"))
    found = shelved(room, texts)
    assert isinstance(found, list if room_of(found) is None else TextFile)
    assert list(found) == list(found) == texts and len(found) == len(texts)
    assert [found[i] for i in range(-len(texts), len(texts))] == 2 * texts
    assert found[1:4] == texts[1:4] and found[::-2] == texts[::-2]
    with pytest.raises(IndexError):
        found[len(texts)]


def test_texts_stay_in_memory_as_long_as_they_fit(tmp_path):
    room = Room(10_000, tmp_path / "texts")
    assert isinstance(shelved(room, ["x" * 1000] * 9), list) and not room.folder.exists()
    assert isinstance(shelved(room, ["x" * 1000] * 10), TextFile)


@given(ANY, ANY)
def test_sequences_one_after_the_other(tmp_path_factory, first, second):
    room = Room(-1, tmp_path_factory.mktemp("shelf"))
    texts = [*first, *second]
    for parts in (
        [shelved(room, ["", *first], "a"), second],
        [["", *first], shelved(room, [*second, ""], "b")],
    ):
        both = Chained(parts)
        expected = [*parts[0], *parts[1]]
        assert len(both) == len(expected) > len(texts) and list(both) == expected
        assert [both[i] for i in range(-len(both), len(both))] == 2 * expected
        assert both[::3] == expected[::3] and both.room == room


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "csv.gz", "jsonl.gz", "tsv"])
def test_a_part_on_disk_is_the_part_in_memory(suffix, tmp_path):
    news = newsroom(40, 10, random_state=0)
    plain = suffix.removesuffix(".gz")
    (tmp_path / "news").mkdir()
    write_collection(news, tmp_path / "news", compress=False)
    if plain != "jsonl":
        lines = ["id\ttext\tlabels" if plain == "tsv" else "id,text,labels"]
        for i, text, labels in zip(
            news.train.ids, news.train.texts, news.train.labels, strict=True
        ):
            cells = [i, '"' + text.replace('"', "''") + '"', "|".join(labels)]
            lines.append(("\t" if plain == "tsv" else ",").join(cells))
        (tmp_path / "news" / "train.jsonl").unlink()
        (tmp_path / "news" / f"train.{plain}").write_text("\n".join(lines))
    if suffix != plain:
        file = tmp_path / "news" / f"train.{plain}"
        file.with_name(f"train.{suffix}").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    memory = read_collection(tmp_path / "news", parts=["train"]).train
    disk = read_collection(tmp_path / "news", parts=["train"], room=Room(500, tmp_path / "r")).train
    assert room_of(disk.texts) is not None and room_of(disk.ids) is not None
    assert list(disk.texts) == memory.texts and list(disk.ids) == memory.ids
    assert disk.labels == memory.labels and disk.metadata is None and disk.kind == "texts"
    assert "do not fit" in disk.notes[-1] and disk.take([3, 1]).texts == memory.take([3, 1]).texts
    small = read_collection(tmp_path / "news", parts=["train"], room=Room(10**6, tmp_path / "s"))
    assert small.train == memory


def write_table(tmp_path, header, rows):
    (tmp_path / "train.csv").write_text("\n".join([header, *rows]))
    return {"room": Room(200, tmp_path / "room")}


def test_a_column_of_parts_needs_memory(tmp_path):
    rows = [f"some words {i},a,{part}" for i in range(9) for part in ("train", "test")]
    how = write_table(tmp_path, "text,labels,split", rows)
    with pytest.raises(UserError, match="column 'split' tells the parts.*Write a file for each"):
        read_collection(tmp_path / "train.csv", **how)


def test_rows_to_be_joined_need_memory(tmp_path):
    rows = [f"{i},some words {i},{label}" for i in range(30) for label in "ab"]
    how = write_table(tmp_path, "id,text,labels", rows)
    assert len(read_collection(tmp_path / "train.csv").train) == 30
    with pytest.raises(UserError, match="other labels.*Write one row for each text"):
        read_collection(tmp_path / "train.csv", **how)


def test_tables_of_numbers_are_read_as_ever(tmp_path):
    rows = [f"{i},{i + 1},a" for i in range(50)]
    how = write_table(tmp_path, "x,y,labels", rows)
    found, memory = read_collection(tmp_path, **how).train, read_collection(tmp_path).train
    assert (found.X == memory.X).all() and found.labels == memory.labels


def test_rows_on_disk_share_their_labels(tmp_path):
    rows = [f"some words {i},top/{'ab'[i % 2]}" for i in range(50)]
    how = write_table(tmp_path, "text,labels", rows)
    found, memory = read_collection(tmp_path, **how), read_collection(tmp_path)
    assert found.train.labels == memory.train.labels
    assert found.taxonomy.nodes == memory.taxonomy.nodes
    assert len(set(map(id, found.train.labels))) == 2
    assert len(set(map(id, memory.train.labels))) == 50
