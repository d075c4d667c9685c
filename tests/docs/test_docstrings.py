"""Docstrings of all that is public: numpydoc's rules, what signatures and fitted objects say."""

import importlib
import inspect
import re
import warnings
from collections import Counter, defaultdict
from functools import cached_property

import numpy as np
import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from sklearn.base import clone

import linnaeus
from linnaeus import Taxonomy, decisions
from linnaeus.execution.memory import never_refused
from linnaeus.model import TableFeatures
from linnaeus.text import SpectrumVectorizer, TfidfVectorizer

CODES = {  # of numpydoc.validate
    "GL06", "GL07", "GL08",  # known sections, in order; there is a docstring
    "SS01", "SS02", "SS03", "SS06",  # a summary: one line that ends in a period
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR07", "PR08", "PR09", "PR10",  # parameters
    "RT01", "RT02", "YD01",  # what comes back; the summary may have said what it means
}  # fmt: skip
APART = ("errors", "labels")  # the vocabulary of our own modules
BOUND = (classmethod, staticmethod)
ESTIMATORS = sorted(n for n, home in linnaeus._EXPORTS.items() if ".estimators." in home)


def exported():
    """The public classes and functions, {full name: object}."""
    found = {}
    for module in ["linnaeus", *(f"linnaeus.{m}" for m in linnaeus._MODULES if m not in APART)]:
        home = importlib.import_module(module)
        for name in getattr(home, "__all__", [name for name in vars(home) if name[0] != "_"]):
            value = getattr(home, name)
            where = getattr(value, "__module__", "") if callable(value) else ""
            if where.startswith("linnaeus." if hasattr(home, "__all__") else module):
                found[f"{where}.{value.__qualname__}"] = value
    return found


def methods(owner):
    """The public methods and properties of a class, but for those that inherit their docstrings."""
    for base in [base for base in owner.__mro__ if base.__module__.startswith("linnaeus.")]:
        for name, value in vars(base).items():
            inherited = any(name in vars(other) for other in base.__mro__[1:])
            ours = inspect.isfunction(value) or is_value(value) or isinstance(value, BOUND)
            ours = ours or hasattr(value, "fn")  # of available_if
            if name[0] != "_" and ours and (value.__doc__ or not inherited):
                yield f"{base.__module__}.{base.__qualname__}.{name}", value


def is_value(member):
    return isinstance(member, property | cached_property)


def is_plain(member):
    """Whether nothing can be given to it that is ours to document."""
    return is_value(member) or (inspect.isclass(member) and issubclass(member, Exception))


def is_record(value):
    """Whether the fields of a class are its parameters: they are documented as attributes."""
    return hasattr(value, "_fields") or hasattr(value, "__dataclass_fields__")


PUBLIC = exported()
DOCUMENTED = dict(PUBLIC)
for owner in filter(inspect.isclass, PUBLIC.values()):
    DOCUMENTED.update(methods(owner))


def entries(text, *sections):
    """{name: (type, description)} of sections of a docstring."""
    doc = NumpyDocString(inspect.cleandoc(text or ""))
    return {
        name: (item.type, " ".join(item.desc))
        for section in sections
        for item in doc[section]
        for name in item.name.split(", ")
    }


@pytest.mark.parametrize("name", DOCUMENTED)
def test_numpydoc_has_no_complaint(name):
    value = DOCUMENTED[name]
    codes = CODES - ({"PR01", "PR02", "RT01"} if is_record(value) or is_value(value) else set())
    found = [f"{code} {text}" for code, text in validate(name)["errors"] if code in codes]
    assert not found, f"{name}: {found}"


@pytest.mark.parametrize("name", [n for n, v in DOCUMENTED.items() if not is_plain(v)])
def test_types_and_defaults_are_those_of_the_signature(name):
    value = getattr(DOCUMENTED[name], "__func__", DOCUMENTED[name])
    value = getattr(value, "fn", value)
    sections = ("Parameters", "Attributes") if is_record(value) else ("Parameters",)
    documented = entries(value.__doc__, *sections)
    fields = getattr(value, "_fields", None) or getattr(value, "__dataclass_fields__", ())
    assert {f for f in fields if f[0] != "_"} <= {*documented}, name
    for parameter in () if is_record(value) else inspect.signature(value).parameters.values():
        if parameter.name in documented:
            kind, default = documented[parameter.name][0], parameter.default
            said = default.__name__ if callable(default) else repr(default)
            wanted = "" if default is parameter.empty else f"default={said}"
            assert kind.partition("default=")[2] == wanted.partition("default=")[2], (
                f"{name}: {parameter.name} : {kind}, but {wanted or 'no default'}"
            )
            assert kind.partition(", default=")[0], name


def test_a_default_that_differs_between_estimators_is_explained():
    """The same name has the same default in all estimators, or the description speaks of it."""
    defaults, said = defaultdict(dict), {}
    for name in ESTIMATORS:
        estimator = getattr(linnaeus, name)
        said[name] = entries(estimator.__doc__, "Parameters")
        for key, value in estimator().get_params(deep=False).items():
            defaults[key][name] = repr(value)
    for key, by_estimator in defaults.items():
        usual = Counter(by_estimator.values()).most_common(1)[0][0]
        for name, value in by_estimator.items():
            explained = "default" in said[name][key][1]
            assert value == usual or explained, f"{name}: {key}={value}, elsewhere {usual}"


# -- attributes of fitted objects --------------------------------------------------------------

TREE = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
LABELS = ["cat", "dog", "oak", "dog", "cat", "oak"] * 3
ROWS = np.eye(4)[[("cat", "dog", "oak").index(label) for label in LABELS]]
ROWS = ROWS + 0.1 * np.random.default_rng(0).normal(size=ROWS.shape)
SETS = [[label, "oak"] if i % 3 else [label] for i, label in enumerate(LABELS)]
KERNEL = {"kernel": "precomputed"}
WAYS = {  # that leave attributes of their own
    "CorrelatedMNL": [{"n_samples": 40, "n_burn_in": 20, "n_chains": 1}],
    "FlatSVM": [{}, {"warm_start": True, "prune": 1e-3}],
    "GraphM3": [{}, KERNEL],
    "HBLR": [{"prior": (1.0, 1.0)}, {"prior": (1.0, 1.0), "inference": "variational"}],
    "HM3": [{}, KERNEL],
    "HierarchicalPerceptron": [{}, KERNEL],
    "HierarchicalRLS": [{}, KERNEL],
    "Hieron": [{}, KERNEL],
    "RankingSVM": [{"warm_start": True}, {"y": SETS}, KERNEL],
    "TopDown": [{}, {"stop": True, "prune": 1e-3}, {"stop": "levels"}],
}
RULES = [v for v in PUBLIC.values() if inspect.isclass(v) and issubclass(v, decisions.Decision)]
RULES.remove(decisions.Decision)


def fitted(name):
    """Fitted objects of a class, with the sizes that are known of each."""
    sizes = {"n_nodes": len(TREE), "n_samples": len(ROWS)}
    for way in WAYS.get(name, [{}]):
        way = dict(way)
        y, X = way.pop("y", LABELS), ROWS @ ROWS.T if way == KERNEL else ROWS
        model = getattr(linnaeus, name)(TREE, **way)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of short chains and few rounds
            model.fit(X, y)
        known = {"n_classes": len(model.classes_), "n_features": model.n_features_in_}
        sizes = sizes | {"fit_intercept": int(model.fit_intercept)}
        yield model, sizes | known
        goes_on = inspect.signature(getattr(model, "partial_fit", model.fit)).parameters
        if "only" in goes_on and way.get("inference", "map") == "map":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                more = clone(model).fit(X, y)
                more.partial_fit(X, y, only=[model.coef_names_.tolist()[0]])
            yield more, sizes | known | {"n_samples": 2 * len(ROWS)}
    if name == "RecursiveSVM":  # whose weights may be in parts
        model = clone(model)
        model.memory = 1
        with never_refused():
            yield model.fit(ROWS, LABELS), sizes | known


def of_kind(value, kind, sizes):
    """Whether a value is what the docstring says; sizes with unknown names are learned."""
    shapes = re.findall(r"\((?=[^()]*,)([^()]*)\)", kind)
    names = {*re.findall(r"\b[A-Za-z]\w+", re.sub(r"\([^()]*\)| of \w+\b(?! shape)", "", kind))}
    if "object" in names or ("None" in names and value is None):
        return True
    if not names & {base.__name__ for base in type(value).__mro__}:
        return False
    return not hasattr(value, "shape") or any(same_shape(value.shape, s, sizes) for s in shapes)


def same_shape(shape, said, sizes):
    terms = [term.strip() for term in said.split(",") if term.strip()]
    if len(terms) != len(shape):
        return False
    for term, size in zip(terms, shape, strict=True):
        if re.fullmatch(r"\w*[a-z]\w*", term):
            sizes.setdefault(term, size)
        if eval(term, {}, sizes) != size:
            return False
    return True


def check_attributes(objects):
    """Every attribute that fitting leaves is documented, as it is; and none that never comes."""
    ours = [base for base in type(objects[0][0]).__mro__ if base.__module__[:8] == "linnaeus"]
    documented = {k: v for o in reversed(ours) for k, v in entries(o.__doc__, "Attributes").items()}
    missing = {*documented}
    for thing, sizes in objects:
        left = {key for key in vars(thing) if key.endswith("_") and key[0] != "_"}
        assert left <= {*documented}, f"{thing}: {left - {*documented}}"
        for key in [key for key in documented if hasattr(thing, key)]:
            value, kind = getattr(thing, key), documented[key][0]
            assert of_kind(value, kind, sizes), f"{thing}: {key} : {kind}, but {value!r}"
            missing.discard(key)
    assert not missing, f"{objects[0][0]} never has {missing}"


@pytest.mark.parametrize("name", ESTIMATORS[::-1])  # others, beside, compile from the first on
def test_attributes_of_fitted_estimators(name):
    check_attributes(list(fitted(name)))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_attributes_of_fitted_decisions(rule):
    sizes = {"n_samples": len(ROWS)}
    ways = {"ClosedArgmax": {"shift": "fit"}, "TopDownConsistent": {"decision": decisions.SCut()}}
    options = ways.get(rule.__name__, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rule(linnaeus.FlatLogistic(TREE), TREE, cv=3, **options).fit(ROWS, LABELS)
    check_attributes([(model, sizes | {"n_classes": len(model.classes_)})])


def test_attributes_of_fitted_features():
    texts = ["the fat cat", "the dog"]
    for features in (SpectrumVectorizer(), TfidfVectorizer()):
        check_attributes([(features.fit(texts), {})])
    tables = [TableFeatures("standard").fit(ROWS), TableFeatures("unit", idf=True).fit(abs(ROWS))]
    check_attributes([(features, {"n_features": 4}) for features in tables])


def test_a_shape_that_is_wrong_is_seen():
    assert of_kind(np.zeros((2, 3)), "ndarray of shape (n_rows, n)", {"n_rows": 2})
    assert not of_kind(np.zeros((2, 3)), "ndarray of shape (n_rows, n)", {"n_rows": 3})
    assert not of_kind(np.zeros(2), "ndarray of shape (n, n)", {}) and not of_kind(1.0, "int", {})
    assert of_kind(np.zeros(2, int), "float or ndarray of int of shape (n,)", {})
    assert of_kind(None, "list of dict or None", {}) and not of_kind(None, "list of dict", {})
