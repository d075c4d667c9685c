"""Every parameter of every estimator and decision refuses what it cannot mean, in one sentence.

The classes, their parameters and the limits of these are found by themselves: a new parameter
without a limit fails here.
"""

import re

import numpy as np
import pytest

from every_estimator import DECISIONS, EVERY, TAX, examples, make
from linnaeus import FlatSVM, HierarchicalPerceptron, TopDown
from linnaeus.errors import UserError
from linnaeus.parameters import NONE, Limit, Limits, choice, limits_of, whole


class Odd:
    """Something that no parameter means."""

    def __repr__(self):
        return "Odd()"


WRONG = [
    None, True, "1", "no", "unknown", 2.5, 0, -1, -2, float("nan"), float("inf"), -0.5, b"x", (),
    [], {}, Odd(), FlatSVM, np.array(["a"]), np.zeros((2, 2, 2)), complex(1, 1), 10**400,
]  # fmt: skip
PARAMETERS = [(kind, name) for kind in EVERY for name in kind().get_params(deep=False)]


def refused(kind, name):
    limit = limits_of(kind)[name]
    return [value for value in WRONG if not limit.holds(value)]


@pytest.mark.parametrize(("kind", "name"), PARAMETERS, ids=lambda v: getattr(v, "__name__", v))
def test_wrong_values_are_refused_by_name(kind, name):
    X, y = examples()
    assert name in limits_of(kind), f"{kind.__name__}.{name} has no limit"
    values = refused(kind, name)
    assert len(values) > len(WRONG) // 2 - 2, "the limit holds almost anything"
    for value in values:
        with pytest.raises(UserError) as caught:
            make(kind).set_params(**{name: value}).fit(X, y)
        message = str(caught.value)
        shown = re.escape(" ".join(repr(value).split())[:40])
        assert re.match(rf"{name}(=| is ){shown}", message), message
        assert re.search(r"\. (Use|It must be) .+\.$", message), message
        assert "\n" not in message


@pytest.mark.parametrize(("kind", "name"), PARAMETERS, ids=lambda v: getattr(v, "__name__", v))
def test_defaults_are_within_the_limits(kind, name):
    assert limits_of(kind)[name].holds(kind().get_params(deep=False)[name])


@pytest.mark.parametrize("kind", DECISIONS, ids=lambda kind: kind.__name__)
def test_decisions_refuse_them_without_an_estimator_too(kind):
    rule = kind(taxonomy=TAX, random_state="seed")
    Y = TAX.encode([["a1"], ["b1"]])
    for call in (lambda: rule.fit_scores(Y.toarray(), Y), lambda: rule.decide(Y.toarray())):
        with pytest.raises(UserError, match="random_state is 'seed'"):
            call()


def test_batches_are_checked_too():
    X, y = examples()
    with pytest.raises(UserError, match=r"^shuffle is 'no'. It must be True or False.$"):
        HierarchicalPerceptron(TAX, shuffle="no").partial_fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": "1"}, "C is '1'. It must be a positive number."),
        ({"C": None}, "C is None. It must be a positive number."),
        ({"C": float("nan")}, "C is nan. It must be a positive number."),
        ({"tol": None}, "tol is None. It must be a positive number."),
        ({"tol": True}, "tol is True. It must be a positive number."),
        ({"max_iter": 2.5}, "max_iter is 2.5. It must be a positive whole number."),
        ({"fit_intercept": "no"}, "fit_intercept is 'no'. It must be True or False."),
        ({"n_jobs": "2"}, "n_jobs is '2'. It must be a positive whole number, -1 for all cores "
         "or None."),
        ({"loss": "hing"}, "loss='hing' is not known (did you mean 'hinge'?). Use 'squared_hinge' "
         "or 'hinge'."),
        ({"dtype": "int8"}, "dtype is 'int8'. It must be 'float32', 'float64' or None."),
        ({"class_weight": {"a1": "x"}}, "The class weight of 'a1' is 'x'. It must be a positive "
         "number."),
    ],
)  # fmt: skip
def test_the_words(parameters, message):
    X, y = examples()
    with pytest.raises(UserError, match=f"^{re.escape(message)}$"):
        FlatSVM(TAX, **parameters).fit(X, y)


@pytest.mark.slow
def test_numbers_of_numpy_are_numbers():
    X, y = examples()
    FlatSVM(
        TAX, C=np.float32(1), max_iter=np.int8(100), fit_intercept=np.True_, n_jobs=np.int64(1),
        random_state=np.random.RandomState(0), dtype=np.dtype("f4"),
    ).fit(X, y)  # fmt: skip
    TopDown(TAX, stop=np.float64(0.5)).fit(X, y)


def test_limits_join_and_inherit():
    limit = choice("a", "b") | whole(3) | NONE
    assert all(limit.holds(v) for v in ("a", "b", 3, 10, None))
    assert not any(limit.holds(v) for v in ("c", 2, 3.0, True))

    class Mine(FlatSVM):
        limits = Limits(C=Limit(("two",), lambda v: v == 2))

    assert limits_of(Mine)["C"].holds(2) and not limits_of(Mine)["C"].holds(1)
    assert limits_of(Mine)["tol"] is limits_of(FlatSVM)["tol"]
