"""The table of methods, methods.toml."""

import tomllib
from importlib import resources

import pytest

import linnaeus
from linnaeus.model.methods import INFO, METHODS, Info, class_of

TABLE = tomllib.loads(resources.files("linnaeus.model").joinpath("methods.toml").read_text("utf-8"))
KINDS = dict.fromkeys(("class", "advice", "cost", "limits"), str)
KINDS |= dict.fromkeys(("several", "dag", "decides"), bool)


@pytest.mark.parametrize("name", TABLE)
def test_every_entry_has_all_fields(name):
    assert {field: type(value) for field, value in TABLE[name].items()} == KINDS
    assert all(value.strip() for value in TABLE[name].values() if isinstance(value, str))


def test_classes_and_advice_are_those_of_the_table_in_its_order():
    assert list(METHODS) == list(INFO) == list(TABLE)
    assert ("class", *Info._fields) == tuple(KINDS)
    for name, entry in TABLE.items():
        assert METHODS[name] == entry["class"]
        assert INFO[name]._asdict() == {field: entry[field] for field in Info._fields}


@pytest.mark.parametrize("name", METHODS)
def test_a_class_is_public(name):
    assert class_of(name) is getattr(linnaeus, METHODS[name])
