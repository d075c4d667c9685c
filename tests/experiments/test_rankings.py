"""Rankings: folds made by hand, the same draws for every method, losses of the true taxonomy."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from linnaeus import FlatSVM, MulticlassSVM, Taxonomy, TopDown
from linnaeus.errors import UserError
from linnaeus.experiments import (
    METRICS,
    RankingStudy,
    cross_validate_ranking,
    paired_test,
    per_class_study,
    random_hierarchies,
)
from linnaeus.induction import learn_taxonomy
from linnaeus.metrics import (
    maximal_loss,
    parent_accuracy,
    permutation_test,
    top1_accuracy,
    top_loss,
)
from linnaeus.splits import at_most_per_class, k_folds, t_per_class

TREE = Taxonomy.from_edges(
    [("r", "A"), ("r", "B")]
    + [("A", f"a{i}") for i in range(3)]
    + [("B", f"b{i}") for i in range(3)]
)


def points(n=90, seed=0, spread=1.2):
    rng = np.random.default_rng(seed)
    middle = {name: rng.normal(size=5) for name in TREE.nodes}
    y = np.array([TREE.leaves[i % 6] for i in range(n)])
    place = np.array([2 * middle[TREE.parents(name)[0]] + middle[name] for name in y])
    return place + spread * rng.normal(size=(n, 5)), y


X, Y_ONE = points()
LISTS = [[name] if i % 4 else [name, "a0"] for i, name in enumerate(Y_ONE.tolist())]


def test_folds_are_those_made_by_hand():
    model = MulticlassSVM(TREE, random_state=0)
    study = cross_validate_ranking({"m": model}, X, Y_ONE, TREE, folds=4, random_state=3)
    expected = []
    labels = TREE.encode(Y_ONE.tolist())[:, TREE.leaf_numbers]
    for train, test in k_folds(labels, 4, 3):
        S = model.fit(X[train], Y_ONE[train]).class_scores(X[test])
        metrics = (top1_accuracy, top_loss, maximal_loss, parent_accuracy)
        expected.append([f(Y_ONE[test], S, TREE) for f in metrics])
    names = ("top1_accuracy", "top_loss", "maximal_loss", "parent_accuracy")
    for name, values in zip(names, np.array(expected).T, strict=True):
        assert_allclose(study.values[""]["m"][name], values)
        assert study.mean("m", name) == pytest.approx(values.mean())
        assert study.deviation("m", name) == pytest.approx(values.std(ddof=1))
    # one label, balanced, two levels: top loss = 2 - acc - pacc
    means = [study.mean("m", name) for name in ("top_loss", "top1_accuracy", "parent_accuracy")]
    assert means[0] == pytest.approx(2 - means[1] - means[2])


def test_draws_per_class_are_the_same_for_every_method():
    seen = {}

    def spy(name):
        def build(part, labels):
            seen.setdefault(name, []).append((part, labels))
            return FlatSVM(TREE, random_state=0)

        return build

    study = per_class_study(
        {"a": spy("a"), "b": spy("b")}, X, Y_ONE, TREE, t=[1, 3], repetitions=3, random_state=7
    )
    assert tuple(study.values) == ("t=1", "t=3") and study.methods == ("a", "b")
    assert [len(part) for part, _ in seen["a"]] == [6] * 3 + [18] * 3
    for (a, y_a), (b, y_b) in zip(seen["a"], seen["b"], strict=True):
        assert (a == b).all() and (y_a == y_b).all()
    drawn = [train for train, _ in t_per_class(Y_ONE, 1, 3, 7)]
    assert len(drawn) == 3
    for metric in METRICS:
        assert study.mean("a", metric, "t=3") == study.mean("b", metric, "t=3")
    assert study.mean("a", "top1_accuracy", "t=3") > study.mean("a", "top1_accuracy", "t=1")


def test_label_sets_in_every_form():
    Y = TREE.encode(LISTS)
    methods = {
        "with": FlatSVM(TREE, random_state=0),
        "without": FlatSVM(random_state=0),
        "theirs": OneVsRestClassifier(LogisticRegression()),
        "pipeline": make_pipeline(StandardScaler(), FlatSVM(TREE, random_state=0)),
    }
    study = cross_validate_ranking(methods, X, LISTS, TREE, folds=3)
    for metric in METRICS:  # flat models do not care for the taxonomy
        assert study.mean("with", metric) == pytest.approx(study.mean("without", metric), abs=0.02)
    assert study.mean("theirs", "top1_accuracy") > 0.6
    for y in (Y, Y.toarray(), Y[:, TREE.leaf_numbers].toarray()):
        assert cross_validate_ranking(methods, X, y, TREE, folds=3).to_dict() == study.to_dict()


def test_other_kinds_of_rows():
    K = X @ X.T
    methods = {"linear": MulticlassSVM(TREE), "kernel": SVC(kernel="precomputed")}
    assert cross_validate_ranking(methods["kernel"], K, Y_ONE, TREE, folds=3).methods == ("SVC",)
    sparse = cross_validate_ranking(methods["linear"], sp.csr_array(X), Y_ONE, TREE, folds=3)
    dense = cross_validate_ranking(methods["linear"], X, Y_ONE.tolist(), TREE, folds=3)
    assert sparse.mean("MulticlassSVM", "ranking_loss") == pytest.approx(
        dense.mean("MulticlassSVM", "ranking_loss")
    )


def test_a_class_that_training_lacks_comes_last():
    train = np.flatnonzero(Y_ONE != "b2")
    test = np.flatnonzero(Y_ONE == "b2")
    study = cross_validate_ranking(MulticlassSVM(), X, Y_ONE, TREE, folds=[(train, test)])
    assert study.mean("MulticlassSVM", "top1_accuracy") == 0
    assert study.mean("MulticlassSVM", "ranking_loss") == 1
    assert np.isnan(study.deviation("MulticlassSVM", "top1_accuracy"))


def test_inner_nodes_with_labels_are_classes():
    y = Y_ONE.astype(object)
    y[y == "a0"] = "A"
    study = cross_validate_ranking(FlatSVM(TREE, random_state=0), X, y, TREE, folds=3)
    plain = cross_validate_ranking(FlatSVM(TREE, random_state=0), X, Y_ONE, TREE, folds=3)
    for metric in ("top1_accuracy", "parent_accuracy"):  # A/misc lies where a0 lay
        assert study.mean("FlatSVM", metric) == pytest.approx(
            plain.mean("FlatSVM", metric), abs=0.05
        )


def test_random_hierarchies_are_the_same_for_every_method():
    first, again = (random_hierarchies(TREE, 3, 5) for _ in range(2))
    assert first == again and len({t.edges for t in first}) > 1
    for taxonomy in first:
        assert [len(level) for level in taxonomy.levels] == [1, 2, 6]
        assert set(taxonomy.leaves) == set(TREE.leaves)
    methods = {"true": TopDown(TREE, local="multiclass")}
    for i, taxonomy in enumerate(first, 1):
        methods[f"random {i}"] = TopDown(taxonomy, local="multiclass", random_state=0)
    study = cross_validate_ranking(methods, X, LISTS, TREE, folds=3)
    mean, deviation = study.across(["random 1", "random 2", "random 3"], "parent_accuracy")
    assert study.mean("true", "parent_accuracy") > mean and deviation >= 0


def test_taxonomies_learned_in_every_fold():
    def learned(part, labels):
        return TopDown(learn_taxonomy(part, labels), local="multiclass", random_state=0)

    study = cross_validate_ranking({"auto": learned}, X, Y_ONE, TREE, folds=3)
    assert study.mean("auto", "top1_accuracy") > 0.5
    assert cross_validate_ranking(learned, X, LISTS, TREE, folds=3).methods == ("learned",)


def test_a_smaller_corpus():
    sizes = []

    def build(part, labels):
        sizes.append(len(part))
        return FlatSVM(TREE)

    cross_validate_ranking(build, X, Y_ONE, TREE, folds=3, at_most=4)
    assert sizes == [16] * 3  # two thirds of 6 x 4
    assert at_most_per_class(Y_ONE, 4).size == 24


def test_comparison_is_the_permutation_test():
    methods = {"good": MulticlassSVM(TREE), "bad": MulticlassSVM(TREE, C=1e-6)}
    done = []
    study = cross_validate_ranking(
        methods, X, Y_ONE, TREE, folds=10, callback=lambda *a: done.append(a)
    )
    assert done == [(i, 20) for i in range(1, 21)]
    result = paired_test(study, "good", "bad")
    assert [row.metric for row in result.rows] == list(METRICS)
    for row in result.rows:
        a, b = (study.values[""][m][row.metric] for m in ("good", "bad"))
        assert row.pvalue == permutation_test(a, b).pvalue
        assert (row.first, row.second) == (a.mean(), b.mean())
    assert "pacc" in result.table() and str(result) == result.table()
    json.dumps(result.to_dict(), allow_nan=False)


def test_tables_and_plain_data():
    study = cross_validate_ranking({"svm": FlatSVM(TREE)}, X, Y_ONE, TREE, folds=2)
    text = study.table()
    assert text.splitlines()[0].split() == (
        ["method", "acc", "prec", "top", "loss", "max", "loss", "rloss", "pacc"]
    )
    assert "svm" in text and "±" in text and str(study) == text
    plain = json.loads(json.dumps(study.to_dict(), allow_nan=False))
    assert plain["values"][""]["svm"]["top1_accuracy"]["values"] == (
        study.values[""]["svm"]["top1_accuracy"].tolist()
    )
    once = RankingStudy({"t=1": {"x": {m: np.array([0.5]) for m in METRICS}}})
    assert (
        "±" not in once.table()
        and once.to_dict()["values"]["t=1"]["x"]["top_loss"]["deviation"] is None
    )


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: cross_validate_ranking({}, X, Y_ONE, TREE), "No methods are given"),
        (lambda: cross_validate_ranking("svm", X, Y_ONE, TREE), "'svm' is no classifier"),
        (
            lambda: cross_validate_ranking(FlatSVM(), X[:5], Y_ONE, TREE),
            "X has 5 rows, but y has 90",
        ),
        (lambda: cross_validate_ranking(FlatSVM(), X, Y_ONE, TREE, folds=1), "1 folds were asked"),
        (
            lambda: cross_validate_ranking(FlatSVM(), X, Y_ONE, TREE, folds=[], at_most=2),
            "at_most is given with folds of your own",
        ),
        (lambda: cross_validate_ranking(FlatSVM(), X, Y_ONE, TREE, folds=[]), "no folds"),
        (
            lambda: per_class_study(FlatSVM(), X, Y_ONE, TREE, t=99),
            "With t=99 every row is trained on. Use a smaller t",
        ),
        (
            lambda: per_class_study(FlatSVM(), X, Y_ONE, TREE, repetitions=0),
            "repetitions is 0. Repeat at least once",
        ),
        (
            lambda: cross_validate_ranking(FlatSVM(TREE), X, Y_ONE, TREE, folds=2).mean("x", "y"),
            "The method 'x' is not in the study. It has: FlatSVM",
        ),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(UserError, match=message):
        call()
