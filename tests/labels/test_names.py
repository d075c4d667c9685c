"""Names stay what they are: however long, with a NUL at the end, numbers beside texts."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import linnaeus
from every_estimator import DECISIONS, ESTIMATORS, EVERY, examples, make
from linnaeus import Taxonomy, TopDown, decisions
from linnaeus.labels import name_array

pytestmark = pytest.mark.filterwarnings(
    "ignore:The chains of CorrelatedMNL", "ignore::sklearn.exceptions.ConvergenceWarning"
)

LONG = Taxonomy.from_edges(
    [("Animal", "Mammal"), ("Animal", "Reptile"), ("Mammal", "Cow"), ("Mammal", "Ox"),
     ("Reptile", "Boa")]
)  # fmt: skip
NUL = Taxonomy.from_edges([("top\0", "a\0"), ("top\0", "a"), ("b\0\0", "b\0"), ("b\0\0", "c")])


@pytest.mark.parametrize(
    "names",
    [
        ["Cow", "Mammal"], ["a\0", "a"], [1, "1"], [1, 2], [1, 2.0], [True, 2], [(1, 2), (3, 4)],
        [2**70, 1], [b"a\0", b"b"], [],
    ],
)  # fmt: skip
@pytest.mark.parametrize("like", [None, "U3", "S2", "i1", "f4", object])
def test_an_array_holds_the_names_that_were_given(names, like):
    array = name_array(names, like)
    assert array.shape == (len(names),)
    assert array.tolist() == names
    assert [type(v) for v in array.tolist()] == [type(v) for v in names] or like == "f4"


def test_labels_keep_their_type_where_it_holds_them():
    assert name_array([1, 2], np.int8).dtype == np.int8
    assert name_array([1, 1000], np.int8).dtype == np.int64
    assert name_array(["Mammal"], "U3").dtype == "U6"
    assert name_array(["Ox"], object).dtype == object


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("tax", [LONG, NUL], ids=["long", "nul"])
def test_one_label_each_is_answered_with_whole_names(kind, tax):
    X, y = examples(tax.leaves)
    model = make(kind, tax).fit(X, y)
    assert set(model.classes_.tolist()) <= set(tax.nodes)
    answers = model.predict(X).tolist()
    assert set(answers) <= set(tax.nodes)
    assert np.mean([a == b for a, b in zip(answers, y, strict=True)]) > 0.8


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("tax", [LONG, NUL], ids=["long", "nul"])
def test_inner_nodes_with_labels_of_their_own_are_answered_with_whole_names(kind, tax):
    """The rows of the first leaf are labelled with the inner node above it."""
    X, y = examples(tax.leaves)
    inner = tax.parents(tax.leaves[0])[0]
    y = [inner if name == tax.leaves[0] else name for name in y]
    answers = make(kind, tax).fit(X, y).predict(X).tolist()
    assert set(answers) <= set(tax.nodes)
    assert np.mean([a == b for a, b in zip(answers, y, strict=True)]) > 0.6


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_names_without_a_taxonomy(kind):
    X, y = examples(["a\0", "a", "much longer"])
    model = make(kind, None).fit(X, y)
    assert sorted(model.classes_.tolist()) == sorted({*y})
    assert set(model.predict(X).tolist()) <= {*y}


@pytest.mark.parametrize("stop", [True, 0.5, 0.99, "levels"])
@pytest.mark.parametrize("tax", [LONG, NUL], ids=["long", "nul"])
def test_top_down_stops_at_inner_nodes_by_their_whole_names(stop, tax):
    X, y = examples(tax.leaves)
    answers = TopDown(tax, stop=stop, random_state=0).fit(X, y).predict(0.05 * X).tolist()
    assert set(answers) <= set(tax.nodes)
    if stop == 0.99:
        assert set(answers) - set(tax.leaves)  # some rows did stop


def test_batches_name_classes_that_come_later():
    X, y = examples(["Ox", "Boa"])
    model = linnaeus.HierarchicalPerceptron(random_state=0)
    model.partial_fit(X, np.array(y), classes=["Ox", "Boa", "Hippopotamus"])
    assert model.classes_.tolist() == ["Boa", "Hippopotamus", "Ox"]


@pytest.mark.parametrize("kind", DECISIONS, ids=lambda kind: kind.__name__)
def test_decisions_around_other_peoples_classifiers(kind):
    tax = Taxonomy.flat(["a\0", "a", "b"])
    X, y = examples(tax.nodes)
    rule = make(kind, tax, estimator=LogisticRegression()).fit(X, y)
    assert set(rule.predict(X).tolist()) <= set(tax.nodes)


def test_a_saved_model_has_the_names_that_it_had(tmp_path):
    X, y = examples(NUL.leaves)
    for model in (linnaeus.FlatSVM(NUL), decisions.RCut(linnaeus.FlatSVM(NUL), NUL, k=1)):
        model.fit(X, y).save(tmp_path / "model")
        again = linnaeus.load(tmp_path / "model")
        assert again.predict(X).tolist() == model.predict(X).tolist()
