"""``linnaeus methods``: the list, and one method."""

import json

from linnaeus.model.methods import METHODS


def test_all_methods_with_advice(linnaeus):
    code, out, err = linnaeus("methods")
    assert code == 0 and err == ""
    for name in METHODS:
        assert any(line.startswith(name) for line in out.splitlines()), name
    assert "Parameters of one: linnaeus methods NAME" in out
    found = json.loads(linnaeus("methods", "--json")[1])
    assert [row["method"] for row in found] == list(METHODS)
    assert all(row["advice"] and row["cost"] and row["limits"] for row in found)


def test_one_method_with_its_parameters(linnaeus):
    code, out, _ = linnaeus("methods", "rr-svm")
    assert code == 0 and "rr-svm (RecursiveSVM)" in out and "C : float, default=1.0" in out
    found = json.loads(linnaeus("methods", "rr-svm", "--json")[1])
    assert found["parameters"]["C"] == 1.0 and "taxonomy" not in found["parameters"]


def test_a_method_that_is_not_known(linnaeus):
    code, out, err = linnaeus("methods", "smv")
    assert code == 1 and out == "" and "did you mean 'svm'?" in err
