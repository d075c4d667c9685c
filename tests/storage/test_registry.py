"""Tags of classes: one each, for good; and what older formats wrote."""

import json
import re

import pytest
from storage_objects import TAX, assert_same, fitted, text_pipeline

from linnaeus import decisions
from linnaeus.errors import UserError
from linnaeus.storage import document, registry, upgrades
from linnaeus.storage.state import State, from_state, to_state


@pytest.mark.parametrize("tag", registry.CLASSES)
def test_every_tag_leads_to_a_class_that_has_this_tag(tag):
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", tag)
    assert registry.tag_of(registry.class_of(tag)) == tag
    assert registry.is_foreign(tag) == tag.startswith("sklearn-")


def test_every_class_has_one_tag():
    kinds = [registry.class_of(tag) for tag in registry.CLASSES]
    assert len(set(kinds)) == len(kinds)


def test_classes_of_one_name_have_tags_of_their_own():
    one, other = (registry.class_of(f"perceptron-{end}classes") for end in ("", "loop-"))
    assert one is not other and one.__name__ == other.__name__


@pytest.mark.parametrize("name", ["FlatSVM", "flat_svm", "linnaeus:FlatSVM", "", None, 5, ["hm3"]])
def test_unknown_tags_are_refused_by_name(name):
    for ask in (registry.class_of, lambda tag: upgrades.tag_named(tag, 2)):
        with pytest.raises(UserError) as error:
            ask(name)
        assert f"it names the class {name!r}, which a model may not hold." in str(error.value)


@pytest.mark.parametrize("make", [lambda: fitted("TopDown: tree")[0], lambda: text_pipeline()[0]])
def test_no_module_is_named(make):
    text = json.dumps(to_state(make()).tree)
    assert "linnaeus." not in text and "sklearn." not in text


# -- older formats --------------------------------------------------------------------------


def test_every_class_of_the_first_format_has_a_tag_of_its_own():
    tags = [upgrades.tag_named(name, 1) for name in upgrades.names_1()]
    assert len(set(tags)) == len(tags) == 76
    assert set(tags) <= registry.CLASSES.keys()


def test_tags_are_no_names_of_the_first_format_nor_the_reverse():
    with pytest.raises(UserError, match="'flat-svm', which a model may not hold"):
        upgrades.tag_named("flat-svm", 1)
    with pytest.raises(UserError, match="'linnaeus.estimators.hm3:HM3', which a model may not"):
        upgrades.tag_named("linnaeus.estimators.hm3:HM3", 2)


def test_attributes_and_fields_are_changed_step_by_step(monkeypatch):
    rule = decisions.RCut(taxonomy=TAX, k=2)
    tree = to_state([rule, TAX]).tree
    tree[0]["attributes"]["number"] = tree[0]["attributes"].pop("k")
    changes = {
        ("rcut", 1): lambda parts: {"n" if k == "number" else k: v for k, v in parts.items()},
        ("rcut", 2): lambda parts: {"k" if k == "n" else k: v for k, v in parts.items()},
        ("scut", 1): lambda parts: pytest.fail("of another class"),
    }
    monkeypatch.setattr(upgrades, "CHANGES", changes)
    monkeypatch.setattr(document, "VERSION", 3)
    tree[0]["$object"] = "linnaeus.decisions.rcut:RCut"
    found = to_state([rule, TAX])
    again, _ = from_state(State(tree, found.texts, found.arrays, version=1))
    assert again.k == 2
    assert_same(again.get_params(), rule.get_params())
