"""The journal: nothing that is done is lost, and nothing else is written to."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from linnaeus.errors import FormatError, UserError
from linnaeus.experiments.journal import Journal

ABOUT = {"data": "abc", "folds": 3, "grid": {"C": (1.0, 2.0)}}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.tune.jsonl"
    journal = Journal(path, ABOUT)
    journal.add("one", [{"C": 0.1}])
    journal.add("two", {"x": 1 / 3})
    return path


def test_what_is_done_is_found_again(file):
    again = Journal(file, ABOUT)
    assert again.done == {"one": [{"C": 0.1}], "two": {"x": 1 / 3}}
    again.add("three", 3)
    assert len(file.read_text().splitlines()) == 4
    assert Journal(file, ABOUT).done["three"] == 3


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_cut_off_is_dropped(file, cut):
    file.write_bytes(file.read_bytes()[:-cut])
    again = Journal(file, ABOUT)
    assert again.done.keys() == {"one"}
    again.add("two", 2)
    assert Journal(file, ABOUT).done["two"] == 2
    assert [json.loads(line) for line in file.read_text().splitlines()]


def test_a_result_is_on_disk_when_add_returns(file):
    journal = Journal(file, ABOUT)
    journal.add("four", 4)
    assert json.loads(file.read_text().splitlines()[-1]) == {"key": "four", "result": 4}


def test_another_search_is_refused_by_what_differs(file):
    with pytest.raises(UserError, match=r"another search: folds differ.*--fresh.*--journal"):
        Journal(file, {**ABOUT, "folds": 5})
    with pytest.raises(UserError, match=r"data, grid differ"):
        Journal(file, {**ABOUT, "data": "b", "grid": {}})
    assert Journal(file, {**ABOUT, "folds": 5}, fresh=True).done == {}
    assert len(file.read_text().splitlines()) == 1


def test_damage_in_the_middle_is_named(file):
    head, first, last = file.read_text().splitlines()
    file.write_text(f"{head}\n{first[:9]}\n{last}\n")
    with pytest.raises(FormatError, match=r"line 2: the journal is damaged.*--fresh"):
        Journal(file, ABOUT)


@pytest.mark.parametrize("fresh", [False, True])
def test_another_file_is_never_written_to(tmp_path, fresh):
    path = tmp_path / "train.jsonl"
    path.write_text('{"text": "mine", "labels": []}\n')
    with pytest.raises(UserError, match=r"not a journal of linnaeus tune.*--journal"):
        Journal(path, ABOUT, fresh)
    assert path.read_text() == '{"text": "mine", "labels": []}\n'
    with pytest.raises(UserError, match="is a folder"):
        Journal(tmp_path, ABOUT, fresh)
    with pytest.raises(UserError, match="There is no folder"):
        Journal(tmp_path / "no" / "where", ABOUT, fresh)


def test_an_empty_file_and_no_file_are_new(tmp_path):
    (tmp_path / "empty").touch()
    assert Journal(tmp_path / "empty", ABOUT).done == {}
    memory = Journal(None, ABOUT)
    memory.add("a", 1)
    assert memory.done == {"a": 1}


def test_threads_do_not_mix_lines(file):
    journal = Journal(file, ABOUT)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: journal.add(str(i), list(range(500))), range(60)))
    assert len(Journal(file, ABOUT).done) == 62
