"""Objects as plain data and back: equal parts, shared parts, and no code."""

import functools
import json
import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import LinearSVC
from storage_objects import CASES, TAX, X, Y, assert_same, fitted, text_pipeline

import linnaeus
from linnaeus import FlatSVM, Taxonomy, decisions, kernels
from linnaeus.errors import UserError
from linnaeus.storage import registry
from linnaeus.storage.state import State, from_state, to_state
from linnaeus.text import SpectrumVectorizer, TfidfVectorizer
from marks import slow


def through_json(value, **options):
    """An object after it was written to JSON and read again."""
    found = to_state(value)
    tree = json.loads(json.dumps(found.tree, allow_nan=False))
    texts = json.loads(json.dumps(found.texts, allow_nan=False))
    numbers = {
        name: np.array(a, a.dtype.newbyteorder("="), order="C") for name, a in found.arrays.items()
    }
    return from_state(State(tree, texts, numbers, seconds=found.seconds), **options)


def answers(model, inputs):
    """Everything that a fitted estimator says about inputs."""
    said = [model.predict(inputs)]
    said += [model.decision_function(inputs)] if hasattr(model, "decision_function") else []
    return said + ([model.predict_proba(inputs)] if hasattr(model, "predict_proba") else [])


# What was taught is kept by what all estimators share: every form of it by one of each kind.
TAUGHT = {
    "sparse rows, lists", "closed dense indicator", "sparse indicator", "numbers, a generator",
    "two classes", "class weights",
}  # fmt: skip
ONE_KIND_EACH = {"FlatSVM", "HM3", "HierarchicalPerceptron", "RankingSVM", "TopDown"}


def is_slow(case):
    name, _, way = case.partition(": ")
    return way in TAUGHT and name not in ONE_KIND_EACH


@pytest.mark.parametrize("case", [slow(case) if is_slow(case) else case for case in CASES])
def test_estimators_come_back(case):
    model, inputs = fitted(case)
    again = through_json(model)
    assert_same(model, again, case)
    assert_same(answers(model, inputs), answers(again, inputs), case)


def test_every_case_of_the_table_is_an_estimator_that_is_exported():
    assert {case.partition(":")[0] for case in CASES} == {
        name for name in linnaeus.__all__ if hasattr(getattr(linnaeus, name), "fit")
    }


def test_every_estimator_decision_kernel_and_vectoriser_has_a_tag():
    public = [getattr(linnaeus, name) for name in linnaeus.__all__]
    public += [getattr(decisions, name) for name in decisions.__all__]
    public += [getattr(kernels, name) for name in kernels.__all__]
    public += [TfidfVectorizer, SpectrumVectorizer]
    wanted = [
        kind
        for kind in public
        if isinstance(kind, type)
        and (hasattr(kind, "fit") or issubclass(kind, kernels.Kernel))
        and kind not in (decisions.Decision, kernels.Kernel)
    ]
    assert len(wanted) > 30
    assert [kind for kind in wanted if registry.tag_of(kind) is None] == []


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", ["HierarchicalPerceptron", "Hieron"])
def test_online_learning_goes_on(name, sparse):
    model = getattr(linnaeus, name)(TAX, random_state=0)
    for rows in (slice(0, 20), slice(20, 40)):
        model.partial_fit(X[rows], Y[rows])
    if sparse:
        model.sparsify()
    again = through_json(model)
    for one in (model, again):
        one.partial_fit(X[40:], Y[40:])
        one.trace_[-1].pop("seconds")
    assert_same(model, again)
    assert_same(answers(model, X), answers(again, X))


def test_sparsified_weights_stay_sparse():
    model = fitted("FlatSVM: pruned")[0].sparsify()
    again = through_json(model)
    assert sp.issparse(again.coef_)
    assert_same(answers(model, X), answers(again, X))


def test_a_warm_start_goes_on_after_loading():
    model, _ = fitted("FlatSVM: warm start")
    again = through_json(model)
    np.testing.assert_allclose(again.fit(X, Y).coef_, model.coef_, atol=1e-8)
    assert again.n_iter_ == 0
    plain = through_json(fitted("FlatSVM: tree")[0])
    assert not hasattr(plain, "duals_") and not hasattr(plain, "kept_")


DECISIONS = [
    decisions.Argmax,
    decisions.ClosedArgmax,
    decisions.InstanceCut,
    decisions.RCut,
    decisions.SCut,
    decisions.SetSize,
    decisions.Threshold,
    functools.partial(decisions.TopDownConsistent, decision=decisions.SCut()),
]


@pytest.mark.parametrize("kind", DECISIONS, ids=lambda k: getattr(k, "__name__", "consistent"))
@pytest.mark.parametrize("labels", ["one", "lists", "indicator"])
def test_decisions_come_back(kind, labels):
    y = {"one": Y, "lists": [[v] for v in Y], "indicator": TAX.encode(Y)}[labels]
    try:
        model = kind(FlatSVM(TAX, random_state=0), taxonomy=TAX, random_state=0).fit(X, y)
    except TypeError:  # has no such parameter
        model = kind(FlatSVM(TAX, random_state=0), taxonomy=TAX).fit(X, y)
    again = through_json(model)
    assert_same(model, again)
    assert_same(answers(model, X), answers(again, X))
    scores = model.class_scores(X)
    assert_same(model.decide(scores), again.decide(scores))
    alone = kind(taxonomy=TAX).fit_scores(scores, TAX.encode(Y))
    assert_same(alone.decide(scores), through_json(alone).decide(scores))


def test_pipelines_of_scikit_learn_come_back():
    model, texts = text_pipeline()
    again = through_json(model)
    assert_same(answers(model, texts), answers(again, texts))
    model.memory = "a folder of pickles"
    assert through_json(model).memory is None


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(SimpleImputer(), StandardScaler(), LinearSVC(random_state=0)),
        make_pipeline(SimpleImputer(add_indicator=False), MinMaxScaler(), LogisticRegression()),
        make_pipeline(SimpleImputer(strategy="median"), OneVsRestClassifier(LogisticRegression())),
        decisions.SCut(make_pipeline(SimpleImputer(), Normalizer(), FlatSVM()), cv=KFold(3)),
    ],
    ids=["svc", "logistic", "one against the rest", "a decision"],
)
def test_models_of_scikit_learn_come_back(model):
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model = clone(model).fit(holes, Y)
    again = through_json(model)
    assert_same(model, again)
    assert_same(answers(model, holes), answers(again, holes))


def test_labels_that_all_examples_have_come_back():
    indicator = np.column_stack([Y == "a1", np.ones(60, int)]).astype(int)
    with pytest.warns(UserWarning, match="is present in all training"):
        model = OneVsRestClassifier(LinearSVC(random_state=0)).fit(X, indicator)
    assert_same(answers(model, X), answers(through_json(model), X))


@pytest.mark.parametrize(
    "vectorizer",
    [
        TfidfVectorizer(ngram_range=(1, 2)),
        TfidfVectorizer(hashing=64),
        TfidfVectorizer(stop_words=["a"], analyzer="char"),
        SpectrumVectorizer(p=2, q=1),
    ],
    ids=repr,
)
def test_vectorisers_come_back(vectorizer):
    texts = ["a fine day", "a finer\ud800 day", "tag für tag"]
    vectorizer.fit(texts)
    again = through_json(vectorizer)
    assert_same(vectorizer, again)
    assert_same(vectorizer.transform(texts), again.transform(texts))


def test_a_spectrum_of_lists_comes_back():
    vectorizer = SpectrumVectorizer(p=2).fit([["x", "y", "z"], ["y", "z", "z"]])
    assert_same(vectorizer, through_json(vectorizer))


# -- plain values ---------------------------------------------------------------------------

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.text(st.characters(categories=["Cs", "L"])),  # lone surrogates too
    hnp.from_dtype(np.dtype("f4")),
    hnp.from_dtype(np.dtype("i2")),
    hnp.from_dtype(np.dtype("?")),
    st.sampled_from([np.str_("name"), np.dtype("f4"), np.dtype("U3"), np.float32, int, slice(1)]),
)
keys = st.one_of(
    st.text(), st.sampled_from(["$array", "$", "a/b", "a~1b", "~", "0"]), st.integers()
)
hashable = st.one_of(keys, st.tuples(keys, st.booleans()))
arrays = hnp.arrays(
    st.sampled_from(["?", "i1", "u2", "<i8", ">i4", "f2", "f4", ">f8", "U3", ">U2"]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
values = st.recursive(
    scalars | arrays,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(hashable, inner, max_size=4),
        st.sets(hashable, max_size=4),
        st.frozensets(hashable, max_size=4),
    ),
    max_leaves=12,
)


def native(value):
    """The same with arrays in the machine's order of bytes, as they come back."""
    if isinstance(value, np.ndarray):
        return value.astype(value.dtype.newbyteorder("="))
    if isinstance(value, dict):
        return {k: native(v) for k, v in value.items()}
    return type(value)(map(native, value)) if type(value) in (list, tuple) else value


@given(values)
def test_plain_values_come_back(value):
    assert_same(native(value), through_json(value))


@settings(max_examples=20)
@given(st.lists(st.text(max_size=3), max_size=5), st.integers(999, 1001))
def test_long_lists_come_back(names, n):
    value = {"list": (names + ["x"]) * (n // 5), "tuple": tuple(range(n)), "floats": [0.5] * n}
    value |= {"names": np.array([str(i) for i in range(n)]), "mixed": [*range(n), float("nan")]}
    value |= {"terms": {f"{i}": i for i in range(n)}, "not terms": {f"{i}": -i for i in range(n)}}
    assert_same(value, through_json(value))


def test_columns_first_arrays_stay_so():
    a = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    again = through_json([a, a.T, a[:, ::2], np.broadcast_to(1.0, (3, 2))])
    assert again[0].flags.f_contiguous and not again[0].flags.c_contiguous
    assert again[1].flags.c_contiguous
    assert_same([a, a.T, a[:, ::2], np.ones((3, 2))], again)


def test_object_arrays_keep_what_they_hold():
    a = np.empty((2, 2), object)
    a[:] = [[1, "1"], [(1, 2), None]]
    assert_same(a, through_json(a))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix])
@pytest.mark.parametrize("shape", [(3, 4), (0, 3), (3, 0)])
def test_sparse_matrices_come_back(kind, shape):
    matrix = kind(np.arange(12.0).reshape(3, 4)[: shape[0], : shape[1]] % 3)
    again = through_json(matrix)
    assert_same(matrix, again)
    assert_same((matrix * 2).toarray(), (again * 2).toarray())
    wide = kind((matrix.data, matrix.indices.astype(np.int64), matrix.indptr), matrix.shape)
    assert_same(wide.toarray(), through_json(wide).toarray())


def test_generators_of_random_numbers_go_on():
    rng = np.random.RandomState(3)
    rng.normal(size=3)
    again = through_json(rng)
    assert_same(rng.normal(size=700), again.normal(size=700))


# -- taxonomies -----------------------------------------------------------------------------

TAXONOMIES = {
    "tree": TAX,
    "empty": Taxonomy.flat([]),
    "numbers and texts": Taxonomy.from_edges([(1, "1"), (1, 2), (None, "x")]),
    "dag with links": Taxonomy.from_edges(
        [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), (None, "e")], [("e", "b"), ("c", "b")]
    ),
    "misc": TAX.with_misc(),
    "odd names": Taxonomy.from_edges([("a\tb", "c\nd"), ("a\tb", "\ud800")]),
    "many": Taxonomy.from_edges([(f"p{i // 7}", f"p{i}") for i in range(1, 3000)]),
}


@pytest.mark.parametrize("name", TAXONOMIES)
def test_taxonomies_come_back_with_their_numbers(name):
    tax = TAXONOMIES[name]
    again = through_json(tax)
    assert_same(tax, again)
    assert hash(tax) == hash(again) and not again.dag.parents.flags.writeable
    assert_same(tax.ancestor_matrix, again.ancestor_matrix)
    assert set(vars(again)) - set(vars(tax)) == set()


def test_what_can_be_computed_again_is_not_written():
    tax = Taxonomy.from_edges(TAX.edges)
    before = to_state(tax)
    assert tax.ancestor_matrix.nnz and tax.edges and tax.levels
    after = to_state(tax)
    assert before.tree == after.tree and before.arrays.keys() == after.arrays.keys()
    loss = linnaeus.losses.class_loss("distance", TAX)
    loss.matrix()
    assert "_classes_below" in vars(loss)
    assert "_classes_below" not in vars(through_json(loss))


# -- sharing --------------------------------------------------------------------------------


def test_what_is_shared_is_shared_again():
    big, inner = np.arange(1000.0), {"x": [1]}
    value = {"a/b": {"c": big}, "a": [big, TAX, inner, (inner, TAX)], ("k",): inner}
    found = to_state(value)
    assert len([name for name in found.arrays if "parents" not in name and "ptr" not in name]) == 1
    again = through_json(value)
    assert again["a/b"]["c"] is again["a"][0]
    assert again["a"][1] is again["a"][3][1]
    assert again["a"][2] is again["a"][3][0] is again["k",]


def test_an_estimator_has_one_taxonomy():
    again = through_json(fitted("FlatSVM: tree")[0])
    assert again.taxonomy is again.taxonomy_


def test_lists_may_hold_themselves():
    loop = [1]
    loop.append({"loop": loop})
    again = through_json(loop)
    assert again[1]["loop"] is again


# -- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda text: text, r"model.features\[?.*is a function \(<lambda>\).*tokenise beforehand"),
        (functools.partial(max, 1), r"is a function \(partial\)"),
        (np.sin, r"is a function \(sin\)"),
        (os.system, r"is a function \(system\)"),
        (object(), r"is a builtins.object \(.*plain values and arrays"),
        (os.PathLike, r"is .*PathLike.*cannot be saved"),
        (b"bytes", r"is a builtins.bytes \(b'bytes'\)"),
        (1j, r"is a builtins.complex"),
        (np.array([1j]), r"of NumPy's type complex128"),
        (np.array(["2026-01-01"], "M8[D]"), r"of NumPy's type datetime64"),
        (np.ma.masked_array([1.0]), r"MaskedArray"),
        (sp.coo_array(np.eye(2)), r"coo_array"),
        (np.random.default_rng(0), r"numpy.random._generator.Generator"),
        pytest.param(1 << 20_000, r"is an integer of 20,001 bits", id="long"),
    ],
)
def test_what_is_no_data_is_refused(value, message):
    with pytest.raises(UserError, match=message) as error:
        to_state({"features": value})
    assert str(error.value).startswith("model.features ")


def test_the_place_of_a_function_is_named():
    vectorizer = TfidfVectorizer(analyzer=str.split).fit(["a b"])
    with pytest.raises(UserError, match=r"^model\.0\.vectorizer\.analyzer is a"):
        to_state([{"vectorizer": vectorizer}])


def test_classes_of_others_are_refused():
    class Mine(FlatSVM):
        pass

    with pytest.raises(UserError, match="Mine.*cannot be saved"):
        to_state(Mine(TAX).fit(X, Y))


def test_deep_nesting_is_refused():
    value = []
    for _ in range(150):
        value = [value]
    with pytest.raises(UserError, match="too deep"):
        to_state(value)
    tree = []
    for _ in range(150):
        tree = [tree]
    with pytest.raises(UserError, match="nested too deeply"):
        from_state(State(tree, {}, {}))


FLAT = "flat-svm"
A = {"a": np.arange(3), "b": np.array([0, 1, 9], np.int32), "f": np.ones(2)}
CSR = {"$sparse": "csr_array", "shape": [2, 2], "data": {"$array": "f"}}


@pytest.mark.parametrize(
    "tree",
    [
        {"$object": "os:system", "attributes": {}},
        {"$object": "builtins:eval", "attributes": {}},
        {"$object": "builtins:object", "attributes": {}},
        {"$object": "subprocess:Popen", "attributes": {"args": "true"}},
        {"$object": "linnaeus.files:LineReader", "attributes": {}},
        {"$object": "linnaeus:FlatSVM", "attributes": {}},
        {"$object": "linnaeus.estimators.flat:FlatSVM", "attributes": {}},
        {"$object": ["os", "system"], "attributes": {}},
        {"$object": FLAT},
        {"$object": FLAT, "attributes": [1]},
        {"$object": "label-form", "attributes": {}},
        {"$named": FLAT, "fields": {}},
        {"$named": "builtins:tuple", "fields": {}},
        {"$named": "label-form", "fields": {"kind": "one"}},
        {"$named": "label-form", "fields": {"kind": 1, "names": 2, "x": 3}},
        {"$reduce": ["os.system", ["true"]]},
        {"$same": "model/nothing"},
        {"$same": ["model"]},
        {"$tuple": 5},
        {"$tuple": {"$text": "missing"}},
        {"$tuple": {"$text": "bad"}},
        {"$dict": [[1]]},
        {"$dict": [[{"a": 1}, 2]]},
        {"$set": [[1]]},
        {"$float": "1.0"},
        {"$scalar": "x", "dtype": "<f8"},
        {"$scalar": 1, "dtype": "<M8[D]"},
        {"$scalar": 1, "dtype": "V8"},
        {"$dtype": "f8,f8"},
        {"$dtype": [["a", "<f8"]]},
        {"$type": "numpy.ndarray"},
        {"$slice": [1, 2, 3, 4]},
        {"$range": [0, 1, 0]},
        {"$array": "missing"},
        {"$array": ["a"]},
        {"$texts": ["a"], "dtype": "<U9999999", "shape": [1]},
        {"$texts": ["a"], "dtype": "<U1", "shape": [10**12]},
        {"$texts": ["a"], "dtype": "<U1", "shape": [-1]},
        {"$texts": [5], "dtype": "<U1", "shape": [1]},
        CSR | {"indices": {"$array": "b"}, "indptr": {"$array": "b"}},
        CSR | {"indices": {"$array": "a"}, "indptr": {"$array": "a"}},
        CSR | {"indices": {"$array": "f"}, "indptr": {"$array": "a"}},
        CSR | {"indices": [0, 1], "indptr": {"$array": "a"}},
        CSR | {"indices": {"$array": "b"}, "indptr": {"$array": "b"}, "shape": [10**20, 2]},
        CSR | {"indices": {"$array": "b"}, "indptr": {"$array": "b"}, "shape": [-2, 2]},
        CSR | {"$sparse": "spmatrix"},
        {"$taxonomy": {}},
        {"$taxonomy": {"nodes": {"$tuple": ["a", "a"]}, "parent_ptr": [0, 0, 0], "parents": []}},
        {"$taxonomy": {"nodes": {"$tuple": ["a", 0.5]}, "parent_ptr": [0, 0, 0], "parents": []}},
        {"$taxonomy": {"nodes": ["a"], "parent_ptr": [0, 0], "parents": []}},
        {"$taxonomy": {"nodes": {"$tuple": ["a", "b"]}, "parent_ptr": [0, 0, 1], "parents": [1]}},
        {"$taxonomy": {"nodes": {"$tuple": ["a", "b"]}, "parent_ptr": [0, 0, 1], "parents": [-1]}},
        {"$taxonomy": {"nodes": {"$tuple": ["a", "b"]}, "parent_ptr": [0, 9, 1], "parents": [0]}},
        {"$taxonomy": {"nodes": {"$tuple": ["a"]}, "parent_ptr": [0, 0], "parents": [],
                       "related": [[0, 7]]}},
        {"$random": {"bit_generator": "MT19937", "state": {"key": {"$array": "a"}, "pos": 10**6}}},
        {"$random": {"bit_generator": "MT19937", "state": {"key": {"$array": "a"}, "pos": 5}}},
        {"$random": {"bit_generator": "os.system", "state": {"pos": 0}}},
    ],
    ids=lambda tree: json.dumps(tree)[:60],
)  # fmt: skip
def test_crafted_states_are_refused(tree):
    with pytest.raises(UserError):
        from_state(State({"inside": [tree]}, {"bad": [["nested"]]}, A))


def test_nothing_is_imported_for_a_name_outside_the_table(monkeypatch):
    monkeypatch.setattr(registry.importlib, "import_module", lambda name: pytest.fail(name))
    with pytest.raises(UserError, match="'antigravity:fly', which a model may not hold"):
        from_state(State({"$object": "antigravity:fly", "attributes": {}}, {}, {}))


def test_another_version_of_scikit_learn_is_told():
    model, texts = text_pipeline()
    tree = json.loads(json.dumps(to_state(model).tree))
    tree["version"] = "0.1"
    with pytest.warns(UserWarning, match="a Pipeline of scikit-learn 0.1; installed is"):
        again = from_state(State(tree, {}, to_state(model).arrays))
    assert_same(model.predict(texts), again.predict(texts))
