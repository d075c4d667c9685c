"""All loops compiled beforehand: small fits of every method, in all variants with own loops.

A loop is compiled for the types that it is called with, and nobody knows these better than its
callers. So the work is done by calling: a few rows, a few labels, a few rounds.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy.sparse as sp

import linnaeus
from linnaeus import compiled, inference, kernels, storage
from linnaeus.decisions import RULES, fit_rule
from linnaeus.errors import UserError
from linnaeus.execution.memory import never_refused
from linnaeus.losses import markov_edges
from linnaeus.solvers.numerics import products
from linnaeus.taxonomy import Taxonomy, closure_fast
from linnaeus.workflow.demonstrating import demo
from linnaeus.workflow.parts import Step

GRAM = kernels.LinearKernel()

# by class: parameters that lead to other loops
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "CorrelatedMNL": [{"n_samples": 8, "n_burn_in": 8, "n_chains": 1}],
    "FlatLogistic": [{}],
    "FlatSVM": [{}, {"loss": "hinge"}, {"prune": 0.1}],
    "GraphM3": [
        {},
        {"optimizer": "csga", "kernel": GRAM},
        {"inference": "loopy"},
        {"inference": "trp", "kernel": GRAM},
        {"edges": "paths", "loss": "path-unif", "consistent": True},
    ],
    "HBLR": [
        {"model": m, "inference": i, "link": k}
        for m in ("M2", "M3")
        for i in ("map", "variational")
        for k in ("softmax", "binary")
    ]
    + [{"schedule": "paper"}, {"schedule": "parity"}, {"inference": "flat"}],
    "HM3": [
        {},
        {"competitors": "consistent", "kernel": GRAM},
        {"optimizer": "csga"},
        {"optimizer": "csga", "kernel": GRAM},
        {"slack": "edge"},
        {"slack": "edge", "kernel": GRAM},
        {"slack": "negative"},
        {"slack": "negative", "kernel": GRAM},
        {"features": "path"},
        {"features": "path", "kernel": GRAM},
    ],
    "HierarchicalPerceptron": [
        {"variant": v, "kernel": k}
        for v in ("averaged", "online", "minover")
        for k in ("linear", GRAM)
    ]
    + [{"attributes": "ones"}, {"attributes": "flat"}],
    "HierarchicalRLS": [{}, {"kernel": GRAM}],
    "Hieron": [{}, {"averaged": False}, {"kernel": GRAM}],
    "MulticlassLogistic": [{}],
    "MulticlassSVM": [{}],
    "OrthogonalTransfer": [{}, {"optimizer": "rda"}],
    "RankingSVM": [
        {"optimizer": o, "slack": s, "kernel": k}
        for o in ("blocks", "greedy")
        for s in ("example", "pair")
        for k in ("linear", GRAM)
    ]
    + [{"optimizer": "greedy", "step": "8b", "max_iter": 1}, {"rescale": "margin"}],
    "RecursiveLogistic": [{}, {"schedule": "parity"}, {"schedule": "jacobi"}, {"root": "free"}],
    "RecursiveSVM": [
        {},
        {"loss": "squared_hinge"},
        {"schedule": "parity"},
        {"root": "free"},
        {"memory": 1},  # weights in parts
    ],
    "TopDown": [
        {},
        {"decode": "beam"},
        {"decode": "beam", "stop": True},
        {"decode": "path", "loss": "logistic"},
        {"decode": "signs", "loss": "hinge"},
        {"local": "multiclass", "stop": "levels"},
        {"local": "multiclass", "loss": "logistic"},
    ],
}


@dataclass(frozen=True)
class CompiledLoops:
    """What is kept, and where.

    loops : how many are kept
    compiled : how many of them by this run, each combination of types counted
    missing : names of loops that no call has reached
    """

    folder: str
    loops: int
    compiled: int
    missing: list[str]
    bytes: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def compile_loops(
    to: str | Path | None = None, step: Step | None = None, jobs: int = 1
) -> CompiledLoops:
    """Fill the folder of compiled loops.

    to : a folder in place of LINNAEUS_CACHE_DIR and the user's cache folder
    jobs : processes; -1 for all cores
    """
    began = time.perf_counter()
    folder = _writable(to)
    before = len(list(folder.iterdir()))
    for i, name in enumerate(_finished(folder.parent, _processes(jobs))):
        if step is not None:
            step(name, i + 1, len(WORK))
    names = _all_loops()
    kept = compiled.kept()
    return CompiledLoops(
        str(folder), len(kept), len(list(folder.iterdir())) - before, sorted(names - set(kept)),
        sum(kept.values()), time.perf_counter() - began,
    )  # fmt: skip


def _writable(to: str | Path | None) -> Path:
    """The folder, if loops can be compiled and kept in it."""
    if numba.config.DISABLE_JIT:
        raise UserError("The compiler is switched off by NUMBA_DISABLE_JIT. Unset it.")
    if to is not None:
        compiled.keep_in(to)
    folder = compiled.folder()
    if folder is None or not os.access(folder, os.W_OK):
        compiled.keep_in(None)  # or all that this process does later would be compiled in memory
        where = to or compiled.default_root() or "the home directory, which does not exist"
        raise UserError(
            f"Compiled loops cannot be kept in {where}. Name a folder of yours that can be written "
            "to with --to or LINNAEUS_CACHE_DIR."
        )
    return folder


def _processes(jobs: int) -> int:
    return min(len(WORK), jobs if jobs > 0 else os.cpu_count() or 1)


def _finished(root: Path, processes: int) -> Iterator[str]:
    """The names of the pieces of work as they are done; the compiler itself has one thread."""
    if processes == 1:
        yield from map(_do, WORK)
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, spawn, compiled.keep_in, (root,)) as pool:
        done: list[Future[str]] = [pool.submit(_do, name) for name in WORK]
        yield from (future.result() for future in as_completed(done))


def _do(name: str) -> str:
    small = closure_fast.SMALL
    closure_fast.SMALL = -1  # compile what small work leaves to the interpreter
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rounds that were too few, and the like
        with never_refused():
            WORK[name]()
    closure_fast.SMALL = small
    return name


def _all_loops() -> set[str]:
    """The names of all loops, also of files that nothing has imported yet."""
    package = Path(linnaeus.__file__).parent
    for file in package.rglob("*_fast.py"):
        import_module(".".join(["linnaeus", *file.relative_to(package).with_suffix("").parts]))
    return set(compiled.LOOPS)


# -- the work ---------------------------------------------------------------------------------


class _Data(NamedTuple):
    """Rows, one label for each, and several."""

    X: sp.csr_array
    one: list[str]
    several: list[list[str]]


@cache
def _taxonomies() -> tuple[Taxonomy | None, ...]:
    """A tree, a DAG, a graph, and none; A is named before its parent, and waits for it."""
    tree = [("A", "a1"), ("A", "a2"), ("r", "A"), ("r", "B"), ("B", "b1"), ("B", "b2"), ("B", "b3")]
    return (
        Taxonomy.from_edges(tree),
        Taxonomy.from_edges([*tree, ("A", "b1")]),
        Taxonomy.from_edges([], related=[*tree, ("a1", "a2"), ("a2", "b1")]),
        None,
    )


@cache
def _shapes() -> tuple[_Data, ...]:
    """Many features of which a row has few, and many rows a feature: solvers differ there."""
    return _data(30, 240, 0.02), _data(70, 2, 0.8)


def _data(n: int, d: int, density: float) -> _Data:
    rng = np.random.default_rng(0)
    X = sp.random_array((n, d), density=density, format="csr", rng=rng)
    leaves = ["a1", "a2", "b1", "b2", "b3"]
    one = [leaves[i % 5] for i in range(n)]
    return _Data(X, one, [[v, leaves[i % 3]] for i, v in enumerate(one)])


def _fits(name: str) -> None:
    """All variants of one class, with each type of numbers, on all kinds of data."""
    kind = getattr(linnaeus, name)
    known = kind().get_params()
    for given in VARIANTS[name]:
        for dtype in ("float64", "float32") if "dtype" in known else (None,):
            more = {"dtype": dtype, "max_iter": 3, "random_state": 0} | given
            settings = {k: v for k, v in more.items() if k in known}
            done = [
                _fit(kind(taxonomy, **settings), data.X, y)
                for data in _shapes()
                for taxonomy in _taxonomies()
                for y in (data.one, data.several)
            ]
            assert any(done), f"{name} with {settings} fits nothing"


def _fit(model: Any, X: sp.csr_array, y: Any) -> bool:
    """Fit and answer, and answer again with arrays that were read from files; if that is possible.

    Some methods are not for several labels, some not for all kinds of taxonomies.
    """
    try:
        model.fit(X, y)
    except UserError:
        return False
    _answer(model, X)
    with TemporaryDirectory() as folder:
        storage.save(model, Path(folder, "model"))
        _answer(storage.load(Path(folder, "model")), X)
    return True


def _answer(model: Any, X: sp.csr_array) -> None:
    model.predict(X)
    for way in ("decision_function", "node_scores", "predict_proba", "predict_node_proba"):
        if hasattr(model, way):
            getattr(model, way)(X)


def _large() -> None:
    """HBLR takes other steps when nonzeros times classes are above a million."""
    data = _data(6000, 240, 0.2)
    for link in ("softmax", "binary"):
        for dtype in ("float64", "float32"):
            linnaeus.HBLR(link=link, dtype=dtype, max_iter=1).fit(data.X, data.one)


def _score() -> None:
    """Scores of models with a million weights and more, trained here or read from a file."""
    side = math.isqrt(products.LARGE) + 1
    for dtype in (np.float64, np.float32):
        X, W = sp.csr_array(sp.eye_array(2, side, dtype=dtype)), np.eye(side, dtype=dtype)
        for writeable in (True, False):
            listed = sp.csr_array(W)
            for array in (W, listed.data, listed.indices, listed.indptr):
                array.setflags(write=writeable)
            for form in (W, listed):
                for rows in (X, X.astype(np.float64)):
                    products.linear_scores(rows, form, np.zeros(side))
            for bias in (np.zeros(side, dtype), np.zeros(side)):
                products.best_scores(X, listed, bias, np.arange(side), 1)


def _grow() -> None:
    """A taxonomy that grows in the middle of a stream."""
    tree, X = _taxonomies()[0], _shapes()[0].X
    larger = Taxonomy.from_edges([*tree.edges, ("A", "a3")])  # type: ignore[union-attr]
    for dtype in ("float64", "float32"):
        for kernel in ("linear", GRAM):
            model = linnaeus.HierarchicalPerceptron(tree, kernel=kernel, dtype=dtype)
            model.fit(X, _shapes()[0].one).partial_fit(X[:9], ["a3"] * 9, taxonomy=larger)


def _decide() -> None:
    rng = np.random.default_rng(0)
    for taxonomy in _taxonomies()[:2]:
        assert taxonomy is not None
        Y = taxonomy.encode(_shapes()[0].several)
        scores = rng.normal(size=Y.shape)
        for name in RULES:
            fit_rule(name, scores, Y, taxonomy, taxonomy.nodes).decide(scores)


def _kernels() -> None:
    texts = ["acgtacgt", "ttgacca", "gattaca"]
    kernels.SubsequenceKernel(2, 0.5).gram(texts)
    kernels.normalize(kernels.SubsequenceKernel(2, 0.5)).gram(texts)


def _infer() -> None:
    """What may be called on scores of one's own."""
    tree = _taxonomies()[0]
    assert tree is not None
    edges = markov_edges(tree.tree)
    truth = tree.closure(_shapes()[0].one).toarray()
    scores = np.zeros((len(truth), edges.child.size, 4))
    inference.max_sum(edges, scores)
    inference.max_sum_except(edges, scores, truth)
    inference.min_sum_supported(edges, scores, scores + 1.0)
    inference.node_margins(edges, scores)
    inference.path_scores(edges, scores)
    inference.label_set_argmax(tree, np.zeros((len(truth), len(tree.leaves))), truth)
    inference.repair(tree, truth)


def _demonstrate() -> None:
    """The whole way of a collection, and a model read from files."""
    shown = demo(60, 20, folder=None)
    with TemporaryDirectory() as folder:
        shown.model.save(Path(folder, "model"))
        storage.load(Path(folder, "model")).predict(shown.collection.part("test").texts)


WORK: dict[str, Callable[[], None]] = {name: partial(_fits, name) for name in VARIANTS} | {
    "HBLR, large": _large,
    "scores of large models": _score,
    "new classes": _grow,
    "decision rules": _decide,
    "kernels": _kernels,
    "inference": _infer,
    "demo": _demonstrate,
}
