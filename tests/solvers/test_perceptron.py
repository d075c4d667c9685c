"""Perceptrons and Hieron against plain twins in exact arithmetic; their bounds, special cases."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from linnaeus import Taxonomy
from linnaeus.losses import class_attributes, class_loss
from linnaeus.solvers.online import perceptron, perceptron_fast
from strategies import edge_lists

# -- plain twins -----------------------------------------------------------------------------------


def exact(matrix):
    return [[Fraction(value) for value in row] for row in np.asarray(matrix).tolist()]


def scores(w, L, x):
    s = [sum(a * b for a, b in zip(row, x, strict=True)) for row in w]
    return [sum(a * b for a, b in zip(row, s, strict=True)) for row in L]


def add(w, L, y, z, t, x):
    for v, row in enumerate(w):
        for k in range(len(x)):
            row[k] += t * (L[y][v] - L[z][v]) * x[k]


def worst_pair(F, labels):
    others = [z for z in range(len(F)) if z not in labels]
    y = min(sorted(labels), key=lambda c: F[c])
    z = max(others, key=lambda c: F[c])
    return y, z


def plain_online(X, Y, L, D, epochs):
    """Weights, their mean, the log and the number of visits, in exact arithmetic."""
    w = [[Fraction(0)] * len(X[0]) for _ in L[0]]
    total = [[Fraction(0)] * len(X[0]) for _ in L[0]]
    log, step = [], 0
    for _ in range(epochs):
        before = len(log)
        for i, x in enumerate(X):
            if not 0 < len(Y[i]) < len(L):
                continue
            step += 1
            F = scores(w, L, x)
            y, z = worst_pair(F, Y[i])
            if F[y] <= F[z]:
                add(w, L, y, z, D[y][z], x)
                log.append((i, y, z, step))
            total = [[a + b for a, b in zip(*rows, strict=True)]
                     for rows in zip(total, w, strict=True)]  # fmt: skip
        if len(log) == before:
            break
    mean = [[a / max(1, step) for a in row] for row in total]
    return w, mean, log, step


def plain_minover(X, Y, L, D, c, limit):
    w = [[Fraction(0)] * len(X[0]) for _ in L[0]]
    log = []
    usable = [i for i in range(len(X)) if 0 < len(Y[i]) < len(L)]
    for _ in range(limit * len(usable)):
        best = None
        for i in usable:
            F = scores(w, L, X[i])
            y, z = worst_pair(F, Y[i])
            if best is None or F[y] - F[z] < best[0]:
                best = F[y] - F[z], i, y, z
        margin, i, y, z = best
        if margin > c:
            break
        add(w, L, y, z, D[y][z], X[i])
        log.append((i, y, z))
    return w, log


def logged(run, *names):
    return list(zip(*(getattr(run.log, name).tolist() for name in names), strict=True))


# -- problems --------------------------------------------------------------------------------------


@st.composite
def problems(draw, schemes=("ones", "flat"), losses=("half_distance", "zero_one"), one=False):
    """A taxonomy, whole-numbered examples and label sets, some empty or full."""
    tax = Taxonomy.from_edges(draw(edge_lists(max_nodes=8)))
    q = len(tax.leaves)
    assume(q > 1)
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d),
                               min_size=n, max_size=n)), dtype=float)  # fmt: skip
    sets = st.sets(st.integers(0, q - 1), min_size=int(one), max_size=1 if one else q)
    Y = [draw(sets) for _ in range(n)]
    return tax, X, Y, draw(st.sampled_from(schemes)), draw(st.sampled_from(losses))


def indicator(Y, q):
    out = np.zeros((len(Y), q), np.int8)
    for i, labels in enumerate(Y):
        out[i, list(labels)] = 1
    return sp.csr_array(out)


def build(tax, X, Y, scheme, loss, kernel=False):
    L = class_attributes(tax, scheme)
    classes = perceptron.Classes.of(L, class_loss(loss, tax))
    Y = indicator(Y, len(tax.leaves))
    if kernel:
        problem = perceptron.build(None, X @ X.T, Y, classes)
        return problem, np.zeros((L.shape[1], len(X)))
    problem = perceptron.build(sp.csr_array(X), None, Y, classes)
    return problem, np.zeros((X.shape[1], L.shape[1]))


def weights(problem, run, X, weight=1.0, divisor=1):
    L = problem.classes.attributes
    W = np.zeros((X.shape[1], L.shape[1]))
    perceptron.add_weights(sp.csr_array(X), perceptron.coefficients(run.log, len(X), L, weight), W)
    return W.T / divisor


def exact_parts(tax, scheme, loss):
    return exact(class_attributes(tax, scheme).toarray()), exact(class_loss(loss, tax).matrix())


# -- the same as plain loops -----------------------------------------------------------------------


@given(problems())
def test_online_and_averaged_are_exact_in_primal_and_kernel_form(problem):
    tax, X, Y, scheme, loss = problem
    w, mean, log, steps = plain_online(exact(X), Y, *exact_parts(tax, scheme, loss), 4)
    built, W = build(*problem)
    run = perceptron.run(built, W, "perceptron", max_iter=4)
    assert logged(run, "example", "right", "wrong", "step") == log
    assert run.n_steps == steps
    assert exact(W.T) == w
    assert exact(weights(built, run, X)) == w
    averaged = weights(built, run, X, run.n_steps + 1.0 - run.log.step, max(1, steps))
    assert averaged.tolist() == [[float(a) for a in row] for row in mean]
    built, S = build(*problem, kernel=True)
    dual = perceptron.run(built, S, "perceptron", max_iter=4)
    assert logged(dual, *dual.log._fields) == logged(run, *run.log._fields)
    assert_array_equal(S, W.T @ X.T)  # the state of the kernel form: scores of all examples


@given(problems(), st.sampled_from([0.0, 2.0]))
def test_minover_is_exact_in_primal_and_kernel_form(problem, margin):
    tax, X, Y, scheme, loss = problem
    w, log = plain_minover(exact(X), Y, *exact_parts(tax, scheme, loss), margin, 3)
    built, _ = build(*problem)
    run = perceptron.minover(built, margin=margin, max_iter=3)
    assert logged(run, "example", "right", "wrong") == log
    assert exact(weights(built, run, X)) == w
    dual = perceptron.minover(build(*problem, kernel=True)[0], margin=margin, max_iter=3)
    assert logged(dual, *dual.log._fields) == logged(run, *run.log._fields)


@given(problems(schemes=("flat",), losses=("zero_one",), one=True))
def test_flat_is_the_plain_multiclass_perceptron(problem):
    """[Cai2008] Algorithm 1: one weight vector per class, the label and the best rival."""
    tax, X, Y, _, _ = problem
    W = np.zeros((len(tax.leaves), X.shape[1]))
    for _ in range(3):
        for x, labels in zip(X, Y, strict=True):
            (y,) = labels
            F = W @ x
            F[y] = -np.inf
            z = int(F.argmax())
            if W[y] @ x <= F[z]:
                W[y] += x
                W[z] -= x
    built, state = build(*problem)
    perceptron.run(built, state, "perceptron", max_iter=3)
    assert_array_equal(state.T, W)


def test_untouched_siblings_tie_with_any_attributes():
    """Sums of thirds and roots round; classes that are told apart by nothing still tie."""
    tax = Taxonomy.from_edges([("r", "A"), ("r", "B"), *(("A", f"a{i}") for i in range(3)),
                               ("B", "B1"), *(("B1", f"b{i}") for i in range(3))])  # fmt: skip
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    Y = [{int(i)} for i in rng.integers(1, 5, size=40)]
    for scheme in ("depth", "perclass"):
        built, W = build(tax, X, Y, scheme, None)
        run = perceptron.run(built, W, "perceptron", max_iter=3)
        assert 5 not in run.log.wrong  # b2, never seen, ties with b1 until that moves
        kernel, S = build(tax, X, Y, scheme, None, kernel=True)
        dual = perceptron.run(kernel, S, "perceptron", max_iter=3)
        assert logged(dual, "example", "right", "wrong") == logged(run, "example", "right", "wrong")


# -- the mistake bound -----------------------------------------------------------------------------


@st.composite
def separable(draw):
    """Examples whose label sets a known w* ranks with a known margin."""
    tax = Taxonomy.from_edges(draw(edge_lists(max_nodes=9)))
    L = class_attributes(tax, draw(st.sampled_from(["ones", "flat", "depth", "perclass"])))
    assume(L.shape[0] > 1)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    w = rng.normal(size=(L.shape[1], 3))
    w /= np.linalg.norm(w)
    X = rng.normal(size=(draw(st.integers(1, 12)), 3))
    F = X @ (L @ w).T
    Y, gamma = [], np.inf
    for f in F:
        order = np.argsort(-f)
        k = int(rng.integers(1, f.size))
        Y.append(set(order[:k].tolist()))
        gamma = min(gamma, f[order[k - 1]] - f[order[k]])
    assume(gamma > 0.02)
    return tax, X, Y, L, gamma, draw(st.sampled_from(["half_distance", "zero_one", "normalized"]))


@pytest.mark.slow
@given(separable())
def test_updates_stay_within_the_mistake_bound(case):
    """[Cai2008] Proposition 5: at most (2 D_max R P / (D_min gamma))^2 updates, then none."""
    tax, X, Y, L, gamma, name = case
    loss = class_loss(name, tax)
    D = loss.matrix()[~np.eye(loss.n_classes, dtype=bool)]
    R = np.linalg.norm(X, axis=1).max()
    P = np.sqrt(L.power(2).sum(axis=1).max())
    bound = (2 * D.max() * R * P / (D.min() * gamma)) ** 2
    assume(bound < 20_000)
    classes = perceptron.Classes.of(L, loss)
    problem = perceptron.build(sp.csr_array(X), None, indicator(Y, L.shape[0]), classes)
    passes = int(bound) + 2
    online = perceptron.run(problem, np.zeros((3, L.shape[1])), "perceptron", max_iter=passes)
    smallest = perceptron.minover(problem, max_iter=passes)
    for run in (online, smallest):
        assert run.converged
        assert run.log.size.size <= bound


# -- Hieron ----------------------------------------------------------------------------------------


def numbers(seed, n=12, d=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), [{int(y)} for y in rng.integers(0, 5, size=n)]


TAX = Taxonomy.from_edges(
    [("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1"), ("B", "b2"), ("B", "b3")]
)


def plain_hieron(X, Y, L, D, rule, epochs):
    W = np.zeros((L.shape[1], X.shape[1]))
    log = []
    for _ in range(epochs):
        for i, x in enumerate(X):
            (y,) = Y[i]
            F = L @ W @ x
            z = int((F if rule == "top" else np.sqrt(D[y]) + F - F[y]).argmax())
            h = np.sqrt(D[y, z]) - (F[y] - F[z])
            if z != y and h > 0:
                u = L[y] - L[z]
                tau = h / (u @ u * (x @ x))
                W += tau * np.outer(u, x)
                log.append((i, y, z))
    return W, log


@pytest.mark.parametrize("rule", ["top", "hinge"])
@pytest.mark.parametrize("scheme", ["ones", "flat", "depth", "perclass"])
@pytest.mark.parametrize("seed", range(3))
def test_hieron_is_its_formula(rule, scheme, seed):
    X, Y = numbers(seed)
    L, D = class_attributes(TAX, scheme).toarray(), class_loss("distance", TAX).matrix()
    expected, log = plain_hieron(X, Y, L, D, rule, 3)
    problem, W = build(TAX, X, Y, scheme, "distance")
    run = perceptron.run(problem, W, rule, max_iter=3)
    assert_allclose(W.T, expected, atol=1e-10)
    assert logged(run, "example", "right", "wrong") == log
    kernel, S = build(TAX, X, Y, scheme, "distance", kernel=True)
    dual = perceptron.run(kernel, S, rule, max_iter=3)
    assert_allclose(dual.log.size, run.log.size, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_a_step_of_hieron_is_the_nearest_point_with_the_margin(seed):
    X, Y = numbers(seed, n=1, d=3)
    rng = np.random.default_rng(seed)
    L, D = class_attributes(TAX, "perclass").toarray(), class_loss(None, TAX).matrix()
    old = rng.normal(size=(L.shape[1], 3))
    problem, _ = build(TAX, X, Y, "perclass", None)
    W = old.T.copy()
    run = perceptron.run(problem, W, "hinge", max_iter=1)
    (y,) = Y[0]
    if run.log.size.size == 0:
        F = L @ old @ X[0]
        assert (np.sqrt(D[y]) + F - F[y]).max() <= 1e-9
        return
    z = int(run.log.wrong[0])
    direction = np.outer(L[y] - L[z], X[0]).ravel()
    solved = minimize(
        lambda w: 0.5 * ((w - old.ravel()) ** 2).sum(),
        old.ravel(),
        jac=lambda w: w - old.ravel(),
        constraints={"type": "ineq", "fun": lambda w: direction @ w - np.sqrt(D[y, z])},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert_allclose(W.T.ravel(), solved.x, atol=1e-5)


@pytest.mark.parametrize("rule", ["top", "hinge"])
def test_hieron_does_not_depend_on_the_size_of_attributes_and_features(rule):
    X, Y = numbers(0)
    L, loss = class_attributes(TAX, "ones"), class_loss(None, TAX)
    found = []
    for attribute, feature in ((1.0, 1.0), (3.0, 1.0), (1.0, 1e-6), (0.25, 1e5)):
        classes = perceptron.Classes.of(attribute * L, loss)
        problem = perceptron.build(sp.csr_array(feature * X), None, indicator(Y, 5), classes)
        W = np.zeros((4, L.shape[1]))
        perceptron.run(problem, W, rule, max_iter=3)
        found.append(feature * X @ W @ (attribute * L).T)
    for other in found[1:]:
        assert_allclose(other, found[0], atol=1e-9)


@pytest.mark.parametrize("rule", ["top", "hinge"])
def test_half_distances_divide_the_weights_of_hieron_by_the_root_of_two(rule):
    X, Y = numbers(1)
    (a, V), (b, W) = (build(TAX, X, Y, "ones", name) for name in ("distance", "half_distance"))
    perceptron.run(a, V, rule, max_iter=3)
    perceptron.run(b, W, rule, max_iter=3)
    assert_allclose(W, V / np.sqrt(2), atol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e100])
def test_the_perceptron_does_not_depend_on_the_size_of_features(scale):
    X, Y = numbers(2)
    (a, V), (b, W) = (build(TAX, s * X, Y, "depth", None) for s in (1.0, scale))
    first, second = (perceptron.run(p, w, "perceptron", max_iter=4) for p, w in ((a, V), (b, W)))
    assert logged(first, "example", "right", "wrong") == logged(second, "example", "right", "wrong")
    assert_allclose(W / scale, V, rtol=1e-9, atol=1e-12)


# -- parts -----------------------------------------------------------------------------------------


@given(problems(schemes=("ones", "flat", "depth", "perclass"), losses=("normalized",)))
def test_shared_sums_give_the_scores_of_the_classes(problem):
    tax, _, _, scheme, loss = problem
    L = class_attributes(tax, scheme)
    classes = perceptron.Classes.of(L, class_loss(loss, tax)).arrays
    assert classes.p_node.size <= L.nnz
    raw = np.random.default_rng(0).normal(size=L.shape[1])
    sums, F = np.empty(classes.p_node.size + 1), np.empty(L.shape[0])
    perceptron_fast.sums_to_scores(classes, raw, sums, F)
    assert_allclose(F, L @ raw, atol=1e-14)


@given(problems(losses=("normalized", "distance", "zero_one")), st.booleans())
def test_losses_of_pairs_and_rows(problem, as_table):
    tax, _, _, _, name = problem
    loss = class_loss(name, tax)
    table = loss.matrix()
    loss = class_loss(table, tax) if as_table else loss
    classes = perceptron.Classes.of(class_attributes(tax, "flat"), loss)
    mark, row = np.zeros(classes.n_nodes), np.empty(len(table))
    for y in range(len(table)):
        perceptron_fast.loss_row(classes.arrays, y, mark, row)
        assert_allclose(row, table[y], atol=1e-14)
        assert not mark.any()
        for z in range(len(table)):
            if z != y:
                pair = perceptron_fast.pair_loss(classes.arrays, y, z)
                assert pair == pytest.approx(table[y, z], abs=1e-14)


def test_one_of_equal_inputs_is_kept():
    X = np.array([[1.0, 0], [0, 1], [1, 0], [0, 0], [1, 0]])
    Y = [{0}, {1}, {2}, {3}, {0}]
    for kernel in (False, True):
        problem, _ = build(TAX, X, Y, "ones", None, kernel)
        assert perceptron.without_repeats(problem, None).order.tolist() == [0, 1, 3]
        drawn = perceptron.without_repeats(problem, np.random.default_rng(1)).order
        assert drawn.size == 3 and set(drawn.tolist()) >= {1, 3}


def test_equal_inputs_with_different_labels_hold_minover_up():
    X = np.array([[1.0, 0], [1, 0], [0, 1]])
    problem, _ = build(TAX, X, [{0}, {1}, {2}], "ones", None)
    stuck = perceptron.minover(problem, max_iter=7)
    assert not stuck.converged and stuck.n_steps == 21 and stuck.n_iter == 7
    assert perceptron.minover(perceptron.without_repeats(problem, None), max_iter=7).converged


def test_compact_copies():
    W = np.zeros((4, 5))
    W[1, 2] = W[3, 0] = 2.0
    for share, sparse in ((0.5, True), (0.01, False)):
        copy = perceptron.compact(W, share)
        assert sp.issparse(copy) == sparse
        assert_array_equal(copy.toarray() if sparse else copy, W)


# -- golden values ---------------------------------------------------------------------------------


def rational(rows):
    return np.array([[float(Fraction(a)) for a in row] for row in rows])


def named(log, tax):
    names = [tax.leaves[k] for k in log.right], [tax.leaves[k] for k in log.wrong]
    return list(zip(log.example.tolist(), *names, strict=True))


def test_golden_perceptrons(golden_file):
    golden = golden_file("ranking")
    for case in golden["perceptron"]:
        tax = Taxonomy.from_edges(golden["taxonomies"][case["taxonomy"]]["edges"])
        X = np.array(case["X"], float)
        Y = [{tax.leaves.index(name) for name in labels} for labels in case["Y"]]
        problem, W = build(tax, X, Y, case["attributes"], case["loss"])
        run = perceptron.run(problem, W, "perceptron", max_iter=case["max_epochs"])
        online = case["online"]
        assert_array_equal(W.T, rational(online["node_weights"]))
        assert named(run.log, tax) == [(u["i"], u["pos"], u["neg"]) for u in online["log"]]
        assert run.log.step.tolist() == [u["step"] for u in online["log"]]
        assert (run.n_steps, run.n_iter) == (online["steps_L"], online["epochs_run"])
        assert run.converged == online["converged"]
        mean = weights(problem, run, X, run.n_steps + 1.0 - run.log.step, run.n_steps)
        assert_array_equal(mean, rational(case["averaged"]["node_weights"]))
        run = perceptron.minover(problem, max_iter=case["max_epochs"])
        smallest = case["minover"]
        assert named(run.log, tax) == [(u["i"], u["pos"], u["neg"]) for u in smallest["log"]]
        assert_array_equal(weights(problem, run, X), rational(smallest["node_weights"]))
        assert run.converged == smallest["converged"]


def test_golden_hieron(golden_file):
    golden = golden_file("ranking")
    for case in golden["hieron"]:
        tax = Taxonomy.from_edges(golden["taxonomies"][case["taxonomy"]]["edges"])
        X, Y = np.array(case["X"]), [{tax.leaves.index(name)} for name in case["y"]]
        for rule, key in (("top", "online"), ("hinge", "averaged")):
            expected = case[key]
            problem, W = build(tax, X, Y, case["attributes"], case["loss"])
            run = perceptron.run(problem, W, rule, max_iter=case["epochs"])
            last = expected.get("last_node_weights", expected["node_weights"])
            assert_allclose(W.T, last, atol=1e-6)
            assert_allclose(run.log.size, [u["tau"] for u in expected["log"]], atol=1e-6)
            rivals = [u["predicted"] for u in expected["log"]]
            assert [tax.leaves[k] for k in run.log.wrong] == rivals
            if key == "averaged":
                mean = weights(problem, run, X, run.n_steps + 1.0 - run.log.step, run.n_steps)
                assert_allclose(mean, expected["node_weights"], atol=1e-6)
