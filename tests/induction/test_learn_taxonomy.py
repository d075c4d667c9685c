"""Learned taxonomies: Algorithm 8 literally, other forms of the same data, planted families."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, inconsistent, linkage
from scipy.spatial.distance import pdist

from linnaeus import FlatSVM, Taxonomy
from linnaeus.errors import UserError
from linnaeus.induction import average_links, classes, learn_taxonomy
from linnaeus.kernels import LinearKernel

COLOURS = ["red", "green", "blue"]


def families(taxonomy, root="root"):
    """The classes of every cluster below the root."""
    return [set(taxonomy.children(c)) for c in taxonomy.children(root)]


def planted(n_families=4, size=3, per_class=5, d=12, spread=0.3, seed=0):
    """Instances of classes that lie near the middles of their families."""
    rng = np.random.default_rng(seed)
    middle = 10 * rng.normal(size=(n_families, d))
    centre = np.repeat(middle, size, axis=0) + rng.normal(size=(n_families * size, d))
    y = np.repeat(np.arange(n_families * size), per_class)
    return centre[y] + spread * rng.normal(size=(y.size, d)), y


def test_golden_hierarchies(golden_file):
    cases = golden_file("ranking")["hierarchy"]
    assert cases
    for case in cases:
        C = np.array(case["centroids"])
        links = average_links(pdist(C))
        assert_allclose(links.merges, case["merges"], atol=1e-7)
        assert_allclose(links.inconsistency, case["inconsistency"], atol=1e-9)
        assert links.threshold == pytest.approx(case["threshold"], abs=1e-9)
        assert links.cut.tolist() == case["cut"]
        clusters = [np.flatnonzero(links.clusters() == k).tolist() for k in range(len(C))]
        assert [c for c in clusters if c] == case["clusters"]
        taxonomy = learn_taxonomy(C, np.arange(len(C)))
        names = {f"class{i}": i for i in range(len(C))} | {"root": "root"}
        names |= {f"cluster{i}": f"cluster {i + 1}" for i in range(len(C))}
        expected = {(names[a], names[b]) for a, b in case["edges"]}
        assert set(taxonomy.edges) == expected
        assert taxonomy.leaves == tuple(range(len(C)))


def literal_algorithm_8(C):
    """Clusters as sets, by lists of sets and heights; ties as they come."""
    q = len(C)
    D = np.linalg.norm(C[:, None] - C[None], axis=2)
    now = [(frozenset([i]), None) for i in range(q)]  # (classes, link)
    links = []  # (classes, height, links below)
    while len(now) > 1:
        pairs = [(a, b) for a in range(len(now)) for b in range(a + 1, len(now))]

        def height(pair, now=now):
            a, b = (sorted(now[k][0]) for k in pair)
            return D[np.ix_(a, b)].mean()

        a, b = min(pairs, key=height)
        below = [now[k][1] for k in (a, b) if now[k][1] is not None]
        links.append((now[a][0] | now[b][0], height((a, b)), below))
        now = [x for k, x in enumerate(now) if k not in (a, b)] + [(links[-1][0], len(links) - 1)]
    IC = []
    for _, h, below in links:
        S = np.array([h] + [links[j][1] for j in below])
        sd = S.std(ddof=1) if S.size > 1 else 0.0
        IC.append((h - S.mean()) / sd if sd > 0 else 0.0)
    m = np.mean([c for c in IC if c > 1e-12]) if max(IC, default=0) > 1e-12 else np.inf
    cut = []
    for c, (_, _, below) in zip(IC, links, strict=True):
        cut.append(c > m + 1e-9 or any(cut[j] for j in below))
    kept = [members for (members, _, _), gone in zip(links, cut, strict=True) if not gone]
    biggest = [s for s in kept if not any(s < other for other in kept)]
    return {*biggest, *(frozenset([i]) for i in range(q) if not any(i in s for s in biggest))}


@pytest.mark.parametrize("seed", range(40))
def test_clusters_are_those_of_the_algorithm_and_of_scipy(seed):
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(int(rng.integers(2, 15)), 3)) * rng.choice([1.0, 5.0], (1, 3))
    links = average_links(pdist(C))
    found = links.clusters()
    sets = {frozenset(np.flatnonzero(found == k).tolist()) for k in set(found.tolist())}
    assert sets == literal_algorithm_8(C)
    Z = linkage(pdist(C), "average")
    theirs = fcluster(Z, links.threshold + 1e-9, "inconsistent", R=inconsistent(Z, d=2))
    assert_array_equal(found[:, None] == found, theirs[:, None] == theirs)
    assert found[np.unique(found, return_index=True)[1]].tolist() == list(range(len(sets)))
    firsts = [np.flatnonzero(found == k)[0] for k in range(len(sets))]
    assert firsts == sorted(firsts)


def test_forms_of_the_same_data_give_the_same_taxonomy():
    X, y = planted()
    expected = learn_taxonomy(X, y)
    assert families(expected) == [set(range(3 * k, 3 * k + 3)) for k in range(4)]
    Y = np.eye(12, dtype=int)[y]
    K = X @ X.T
    for data, labels, options in [
        (sp.csr_array(X), y, {}),
        (X.astype(np.float32), y.tolist(), {}),
        (X, [[label] for label in y.tolist()], {}),
        (X, Y, {}),
        (sp.csr_matrix(X), sp.csr_array(Y), {}),
        (K, y, {"kernel": "precomputed"}),
        (X, y, {"kernel": LinearKernel()}),
    ]:
        assert learn_taxonomy(data, labels, **options) == expected


def test_an_instance_counts_for_each_of_its_labels():
    X = np.array([[0.0], [1.0], [8.0], [9.0]])
    y = [["a"], ["a", "b"], ["c", "d"], ["d"]]
    means = np.array([[0.5], [1.0], [8.0], [8.5]])
    assert learn_taxonomy(X, y) == learn_taxonomy(means, list("abcd"))


def test_a_class_without_instances_is_a_cluster_of_its_own():
    X, y = planted()
    names = [*range(6), "empty", *range(6, 12), "void"]
    taxonomy = learn_taxonomy(X, y, classes=names)
    assert taxonomy.leaves == tuple(names)
    assert {"empty"} in families(taxonomy) and {"void"} in families(taxonomy)
    assert {0, 1, 2} in families(taxonomy)
    wide = np.zeros((len(y), 14), dtype=int)
    wide[np.arange(len(y)), [names.index(label) for label in y]] = 1
    assert learn_taxonomy(X, wide, classes=names) == taxonomy


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_classes(n):
    taxonomy = learn_taxonomy(np.arange(n)[:, None], COLOURS[:n])
    assert taxonomy.leaves == tuple(sorted(COLOURS[:n]))
    assert families(taxonomy) == [set(COLOURS[:n])]
    for method in ("kmeans",):
        assert len(learn_taxonomy(np.eye(n), COLOURS[:n], method=method).leaves) == n


def test_distances_by_inner_products_are_the_same(monkeypatch):
    X, _ = planted()
    told = []
    for C in (X, sp.csr_array(X)):
        monkeypatch.setattr(classes, "DIRECT", 0)
        monkeypatch.setattr(classes, "BLOCK", 200)
        assert_allclose(classes.of_points(C, lambda *a: told.append(a)), pdist(X), rtol=1e-9)
    assert told[-1] == (len(X), len(X)) and len(told) > 20
    twice = np.vstack([X, X])
    equal = classes.of_points(twice).reshape(-1)
    assert (equal == 0).sum() == len(X)


def test_cosine_does_not_see_lengths():
    X, y = planted()
    scale = np.repeat(np.random.default_rng(1).uniform(0.1, 9, 12), 5)[:, None]
    expected = learn_taxonomy(X, y, metric="cosine")
    assert learn_taxonomy(scale * X, y, metric="cosine") == expected
    K = (scale * X) @ (scale * X).T
    assert learn_taxonomy(K, y, metric="cosine", kernel="precomputed") == expected


# -- deeper ----------------------------------------------------------------------------------------


@given(st.integers(0, 300))
def test_levels_are_nested(seed):
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(int(rng.integers(3, 25)), 2))
    y = np.arange(len(C))
    flat = learn_taxonomy(C, y)
    for levels in (2, 3, [0.75, 1.0, 1.1], "links"):
        taxonomy = learn_taxonomy(C, y, levels=levels)
        assert taxonomy.is_tree and taxonomy.leaves == tuple(y.tolist())
        inner = [v for v in taxonomy.nodes if v not in taxonomy.leaves and v != "root"]
        finest = {frozenset(taxonomy.children(v)) for v in inner if taxonomy.children(v)[0] in y}
        if not isinstance(levels, list):
            assert finest == {frozenset(f) for f in families(flat)}
        for v in inner:  # coarser clusters add something
            if frozenset(taxonomy.children(v)) not in finest:
                assert len(taxonomy.children(v)) > 1
                below = set(taxonomy.descendants(v)) & set(y.tolist())
                assert len(below) < len(y)


@pytest.mark.parametrize("seed", range(30))
def test_thresholds_and_links_are_the_sets_they_should_be(seed):
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(20, 2))
    q, links = len(C), average_links(pdist(C))
    members = [{i} for i in range(q)]
    for a, b in links.merges[:, :2].astype(int):
        members.append(members[a] | members[b])

    def inner(taxonomy):
        numbers = set(range(q))
        nodes = (v for v in taxonomy.nodes if v not in taxonomy.leaves and v != "root")
        return {frozenset(set(taxonomy.descendants(v)) & numbers) for v in nodes}

    flat = {frozenset(f) for f in families(learn_taxonomy(C, np.arange(q)))}
    strong = links.inconsistency > links.threshold + 1e-9
    kept = {frozenset(members[q + j]) for j in np.flatnonzero(strong)} - {frozenset(range(q))}
    assert inner(learn_taxonomy(C, np.arange(q), levels="links")) == flat | kept
    Z = links.merges
    levels, expected = [0.8, 1.05], set()
    for t in levels:
        labels = fcluster(Z, t + 1e-9, "inconsistent", R=inconsistent(Z, d=2))
        expected |= {frozenset(np.flatnonzero(labels == k).tolist()) for k in set(labels)}
    found = inner(learn_taxonomy(C, np.arange(q), levels=levels))
    assert found - {frozenset(range(q))} == expected - {frozenset(range(q))}


# -- names -----------------------------------------------------------------------------------------


def test_names_are_free_and_classes_keep_theirs():
    X, _ = planted(per_class=1)
    names = ["root", "cluster 1", "cluster 2", *"abcdefghi"]
    taxonomy = learn_taxonomy(X, names, classes=names)
    assert taxonomy.leaves == tuple(names)
    assert taxonomy.roots == ("root'",)
    assert taxonomy.children("root'")[:3] == ("cluster 1'", "cluster 2'", "cluster 3")
    assert len(learn_taxonomy(X, names, root=None).roots) == 4
    assert learn_taxonomy(X, names, root="all").roots == ("all",)


def test_mixed_names_have_an_order():
    X, _ = planted(2, 2, 1)
    taxonomy = learn_taxonomy(X, ["b", 2, "a", 10])
    assert taxonomy.leaves == (2, 10, "a", "b")


def test_the_result_is_good_for_a_classifier(tmp_path):
    X, y = planted(per_class=8)
    Y = np.eye(12, dtype=int)[y]
    taxonomy = learn_taxonomy(X, Y)
    assert (FlatSVM(taxonomy).fit(X, Y).predict(X) == Y).mean() > 0.95  # columns are the leaves
    taxonomy.write(tmp_path / "t.tsv")
    assert len(Taxonomy.read(tmp_path / "t.tsv")) == len(taxonomy)


@pytest.mark.parametrize(
    "X, y, options, message",
    [
        ([[1.0]], ["a"], {"method": "magic"}, "method='magic' is not known. Use one of: auto"),
        ([[1.0]], ["a"], {"metric": "taxi"}, "metric='taxi' is not known"),
        ([[1.0], [2.0]], ["a"], {}, r"X has the shape \(2, 1\), but y has 1 rows"),
        ([[np.nan]], ["a"], {}, "X holds the value nan.*fill in or leave out"),
        ([["x"]], ["a"], {}, "X is of type <U1. Give numbers"),
        ([[1.0]], [[]], {}, "There are no classes"),
        ([[1.0]], [[]], {"classes": ["a"]}, "No row has a label"),
        ([[1.0]], ["b"], {"classes": ["a"]}, "Row 0: 'b' is not a node"),
        ([[1.0]], np.eye(1, 3), {"classes": ["a"]}, "has 3 columns, but `classes` has 1 names"),
        ([[1.0]], ["a"], {"levels": "many"}, "levels is 'many'. Give a number of levels"),
        ([[1.0]], ["a"], {"levels": 0}, "levels is 0. Ask for at least one"),
        ([[1.0]], ["a"], {"levels": []}, r"levels is \[\]. Give a number"),
        ([[1.0]], ["a"], {"branching": 3}, "branching is 3, but method='centroids'"),
        ([[1.0]], ["a"], {"method": "kmeans", "branching": 1}, "branching is 1.*from 2 up"),
        ([[1.0]], ["a"], {"method": "kmeans", "branching": 3, "levels": 2}, "Give one of them"),
        ([[1.0]], ["a"], {"method": "kmeans", "levels": "links"}, "levels is 'links'. For method="),
        ([[1.0]], ["a"], {"method": "kmeans", "kernel": "precomputed"}, "Use method='centroids'"),
        ([[1.0]], ["a"], {"kernel": "poly"}, "kernel is 'poly'. Use 'linear', 'precomputed'"),
        ([[1.0, 2.0]], ["a"], {"kernel": "precomputed"}, r"kernel matrix has the shape \(1, 2\)"),
        ([[1.0]], ["a"], {"estimator": FlatSVM()}, "estimator is given, but method='centroids'"),
        ([[1.0]], ["a"], {"method": "confusion"}, "estimator is None.*needs a classifier"),
        (np.eye(9), np.arange(9), {"method": "centroids", "memory": 500}, "Use method='kmeans'"),
    ],
)
def test_mistakes_are_named(X, y, options, message):
    with pytest.raises(UserError, match=message):
        learn_taxonomy(X, y, **options)
