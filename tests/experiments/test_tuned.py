"""The table of settings: values by the definition, equals in order."""

import numpy as np
import pytest

from linnaeus.experiments.strategy import AlongC, FoldPath
from linnaeus.experiments.tuned import SettingsTable


def records(*values, C=(1.0,), rule="zero", seconds=1.0):
    return [
        {
            "C": c,
            "seconds": seconds,
            "unconverged": 1,
            "rules": {rule: {"micro_f1": v, "other": 2 * v}},
        }
        for c, v in zip(C, values, strict=True)
    ]


def unit(fold, features=None, **parameters):
    return FoldPath(AlongC(features or {}, parameters, (1.0,)), fold)


def test_means_and_errors_are_those_of_the_folds():
    table, values = SettingsTable(3, "micro_f1"), [0.5, 0.7, 0.9]
    for fold, value in enumerate(values):
        assert table.best is None and not table.rows()
        table.add(unit(fold), records(value, seconds=0.5))
    (row,) = table.rows()
    assert row["mean"] == row["micro_f1"] == pytest.approx(0.7) and row["other"] == 2 * row["mean"]
    assert row["error"] == pytest.approx(np.std(values, ddof=1) / np.sqrt(3))
    assert row["seconds"] == 1.5 and row["unconverged"] == 3 and table.best is row


def test_of_equals_the_simpler_is_best():
    table = SettingsTable(1, "micro_f1")
    table.add(unit(0, {"min_df": 2}), records(0.5))
    table.add(unit(0, loss="b"), records(0.5, 0.5, C=(1.0, 10.0), rule="scut"))
    table.add(unit(0, loss="b"), records(0.5, 0.5, C=(10.0, 1.0)))
    table.add(unit(0, loss="a"), records(0.5))
    table.add(unit(0), records(0.4, rule="own"))
    found = [(r["features"], r["parameters"], r["rule"], r["C"]) for r in table.rows()]
    b, a = {"loss": "b"}, {"loss": "a"}
    assert found == [
        ({}, b, "zero", 1.0),
        ({}, a, "zero", 1.0),
        ({}, b, "zero", 10.0),
        ({}, b, "scut", 1.0),
        ({}, b, "scut", 10.0),
        ({"min_df": 2}, {}, "zero", 1.0),
        ({}, {}, "own", 1.0),
    ]
    assert table.best == table.rows()[0] and table.best["error"] is None


def test_a_rule_that_a_fold_lacks_is_left_out():
    table = SettingsTable(2, "micro_f1")
    table.add(unit(0), records(0.5) + records(0.9, rule="closed"))
    table.add(unit(1), records(0.6))
    assert [row["rule"] for row in table.rows()] == ["zero"]
