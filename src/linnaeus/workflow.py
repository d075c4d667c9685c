"""What the front ends do, as functions of paths and numbers that return plain results."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linnaeus.collection import Collection, Part
from linnaeus.errors import UserError, shorten
from linnaeus.taxonomy import Taxonomy

Step = Callable[[str, int, int], None]

CS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)  # the values tried in [GopalYang2015] section 6


def load_taxonomy(path: str | Path, format: str | None = None) -> Taxonomy:
    """Read a taxonomy file, or the ``taxonomy.*`` of a collection folder."""
    path = Path(path)
    if not path.is_dir():
        return Taxonomy.read(path, format)
    found = sorted(path.glob("taxonomy.*"))
    if len(found) != 1:
        names = ", ".join(p.name for p in found) or "none"
        raise UserError(f"{path} must hold one file taxonomy.*, but it has: {names}. Name a file.")
    return Taxonomy.read(found[0], format)


def taxonomy_as_dict(taxonomy: Taxonomy, root: Any = None) -> dict[str, Any]:
    """Every node with its relatives, for machines."""
    part = taxonomy if root is None else taxonomy.subtree(root)
    nodes = [
        {
            "id": v,
            "title": part.title(v),
            "depth": int(part.depth[i]),
            "parents": part.parents(v),
            "children": part.children(v),
        }
        for i, v in enumerate(part.nodes)
    ]
    return {"nodes": nodes, "related": part.related}


def check_taxonomy(path: str | Path, format: str | None = None) -> dict[str, Any]:
    """What a maintainer would want to know, as findings with their nodes."""
    from linnaeus.taxonomy.diagnose import findings

    taxonomy = load_taxonomy(path, format)
    return {
        "summary": repr(taxonomy).strip("<>").removeprefix("Taxonomy: "),
        "findings": [finding._asdict() for finding in findings(taxonomy)],
    }


def taxonomy_stats(path: str | Path, format: str | None = None) -> dict[str, Any]:
    """The counts that describe a taxonomy."""
    from linnaeus.taxonomy.diagnose import stats

    return stats(load_taxonomy(path, format))


def convert_taxonomy(
    source: str | Path,
    target: str | Path,
    source_format: str | None = None,
    target_format: str | None = None,
    drop_root: bool = False,
) -> dict[str, Any]:
    """Read in one format, write in another; the counts of what was written."""
    taxonomy = load_taxonomy(source, source_format)
    if drop_root:
        taxonomy = taxonomy.without_top()
    taxonomy.write(target, target_format)
    return {"path": str(target), "nodes": len(taxonomy), "edges": len(taxonomy.edges)}


class LearnedTaxonomy(NamedTuple):
    """A taxonomy learned from a collection, and what there is to say about it."""

    taxonomy: Taxonomy
    summary: dict[str, Any]


def learn_taxonomy(
    data: str | Path,
    target: str | Path,
    target_format: str | None = None,
    step: Step | None = None,
    jobs: int = 1,
    **options: Any,
) -> LearnedTaxonomy:
    """Learn a taxonomy from the training part of a collection and write it.

    A collection without a taxonomy will do; where there is one, the classes are its leaves and the
    inner nodes that carry labels of their own. options : of `linnaeus.induction.learn_taxonomy`
    """
    from linnaeus.induction import learn_taxonomy as learn
    from linnaeus.induction import sibling_agreement
    from linnaeus.taxonomy.formats import check_target

    check_target(target, target_format)
    given, part = _training_part(Path(data))
    X, y = _features(part), part.labels
    if given is not None:
        own = given.most_specific(given.encode(y))
        used = np.union1d(given.leaf_numbers, own.indices)
        y, options["classes"] = own[:, used], given.names(used.tolist())
    if options.get("method") == "confusion":
        from linnaeus import FlatSVM

        options["estimator"] = FlatSVM(n_jobs=jobs, random_state=options.get("random_state", 0))
    if step is not None:
        options["callback"] = lambda done, total: step("learn", done, total)
    found = learn(X, y, **options)
    if given is not None:
        titles = {v: given.titles[v] for v in found.leaves if v in given.titles}
        found = Taxonomy.from_edges(found.edges, titles=titles)
    found.write(target, target_format)
    compared = given is not None and given.edges and len(found.leaves) > 1
    agreement = sibling_agreement(found, given) if compared and given is not None else None
    return LearnedTaxonomy(found, _shape(found, len(part), str(target), agreement))


def _shape(taxonomy: Taxonomy, n_rows: int, target: str, agreement: float | None) -> dict[str, Any]:
    """The counts that describe a learned taxonomy."""
    leaf_parents = taxonomy.tree.parent[taxonomy.leaf_numbers]
    _, sizes = np.unique(leaf_parents, return_counts=True)
    return {
        "path": target,
        "rows": n_rows,
        "classes": len(taxonomy.leaves),
        "clusters": len(taxonomy) - len(taxonomy.leaves) - 1,
        "levels": [len(level) for level in taxonomy.levels],
        "cluster_sizes": sorted(sizes.tolist(), reverse=True),
        "agreement": agreement,
    }


def _training_part(folder: Path) -> tuple[Taxonomy | None, Part]:
    """The taxonomy of a collection, if it has one, and its training part."""
    from linnaeus.io import collect, iter_rows, read_collection
    from linnaeus.io.find import find_file
    from linnaeus.io.read import READERS

    if folder.is_dir() and find_file(folder, "taxonomy", None, None) is None:
        file = find_file(folder, "train", None, READERS)
        if file is not None and ".arff" not in file.suffixes:  # those bring their taxonomy
            return None, collect(iter_rows(file))
    data = read_collection(folder, parts=["train"])
    return data.taxonomy, data.part("train")


def _features(part: Part) -> Any:
    """The feature matrix of a part; texts become weighted word counts."""
    if part.texts is None:
        return part.X
    return _vectorizer().fit_transform(part.texts)


def _vectorizer() -> Any:
    from linnaeus.text import TfidfVectorizer

    return TfidfVectorizer(stop_words="english", sublinear_tf=True)


def protocol(
    data: str | Path,
    methods: list[str],
    *,
    folds: int = 10,
    t: list[int] | None = None,
    repetitions: int = 10,
    hierarchies: int = 5,
    parameters: dict[str, Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> Any:
    """Run methods through the protocols of `linnaeus.protocols` on a training part: a `Study`.

    methods : names of methods; "name:flat" is without the taxonomy, "name:learned" learns one from
        every training part, "name:random" takes `hierarchies` random ones
    t : rows per class, in place of folds
    """
    from linnaeus import protocols
    from linnaeus.io import read_collection

    collection = read_collection(data, parts=["train"])
    part = collection.part("train")
    entries: dict[str, Any] = {}
    for method in methods:
        entries |= _entries(method, collection.taxonomy, part, hierarchies, parameters, seed, jobs)
    X = part.X if part.texts is None else part.texts
    common: dict[str, Any] = {"random_state": seed}
    if step is not None:
        common["callback"] = lambda done, total: step("fit", done, total)
    if t:
        common |= {"t": t, "repetitions": repetitions}
        return protocols.per_class_study(entries, X, part.labels, collection.taxonomy, **common)
    return protocols.cross_validate_ranking(
        entries, X, part.labels, collection.taxonomy, folds=folds, **common
    )


def _entries(
    method: str, taxonomy: Taxonomy, part: Part, hierarchies: int,
    parameters: dict[str, Any] | None, seed: int, jobs: int,
) -> dict[str, Any]:  # fmt: skip
    """What a method and its variant stand for: {name: classifier, or a function that makes one}."""
    from sklearn.pipeline import make_pipeline

    from linnaeus.induction import learn_taxonomy as learn
    from linnaeus.methods import make
    from linnaeus.protocols import random_hierarchies

    name, _, variant = method.partition(":")
    texts = part.texts is not None

    def build(taxonomy: Taxonomy | None) -> Any:
        model = make(name, taxonomy, parameters, seed, jobs)
        return make_pipeline(_vectorizer(), model) if texts else model

    def learned(rows: Any, labels: Any) -> Any:
        return build(learn(_vectorizer().fit_transform(rows) if texts else rows, labels))

    if variant == "":
        return {method: build(taxonomy)}
    if variant == "flat":
        return {method: build(None)}
    if variant == "learned":
        make(name, None, parameters)  # a mistake shows before the first fold
        return {method: learned}
    if variant == "random":
        drawn = random_hierarchies(taxonomy, hierarchies, seed)
        return {f"{method} {i}": build(other) for i, other in enumerate(drawn, 1)}
    raise UserError(
        f"The variant {variant!r} of {method!r} is not known. Use flat, learned or random."
    )


def label_set_protocol(
    data: str | Path,
    methods: Sequence[str] | None = None,
    *,
    Cs: Sequence[float] = CS,
    folds: int = 5,
    cut: str | None = "instance",
    against: str | None = None,
    parameters: dict[str, Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> Any:
    """Train on a collection, predict the label sets of its test part: a `LabelSetStudy`.

    methods : as in the paper's Table II, or others by their names; if not given, all of the table
    Cs : the values of C to choose from, by cross-validation on the training part
    folds : for C, and for the thresholds of rows with several labels
    against : the baseline of all methods; if not given, those of the paper
    Without a test part a quarter of the training part is held out.
    """
    from linnaeus import protocols
    from linnaeus.io import read_collection

    collection = read_collection(data)
    train, test = _train_and_test(collection, seed)
    entries = label_set_methods(
        methods, collection.taxonomy, Cs, folds, parameters, seed, jobs, step
    )
    X, X_test = train.X, test.X
    if train.texts is not None:
        words = _vectorizer()
        X, X_test = words.fit_transform(train.texts), words.transform(test.texts)
    return protocols.label_set_study(
        entries, X, train.labels, X_test, test.labels, collection.taxonomy, cut=cut, cv=folds,
        against=None if against is None else _all_against(against, entries), random_state=seed,
    )  # fmt: skip


def label_set_methods(
    methods: Sequence[str] | None,
    taxonomy: Taxonomy,
    Cs: Sequence[float] = CS,
    folds: int = 5,
    parameters: dict[str, Any] | None = None,
    seed: int = 0,
    jobs: int = 1,
    step: Step | None = None,
) -> dict[str, Any]:
    """{name: function that chooses C and makes the classifier}, for `protocols.label_set_study`."""
    from linnaeus.methods import published, table_methods

    if not Cs or not all(0 < C < np.inf for C in Cs):
        raise UserError(f"The values of C are {shorten(list(Cs))}. Give positive numbers.")
    if folds < 2:
        raise UserError(f"The number of folds is {folds}. Use 2 or more.")
    found = dict(published(name) for name in (table_methods() if methods is None else methods))
    common = (taxonomy, Cs, folds, parameters or {}, seed, jobs)
    entries: dict[str, Any] = {}
    for name, method in found.items():
        begin = None if step is None else partial(step, name, len(entries), len(found))
        told = None if step is None else partial(step, f"{name}: C")
        entries[name] = _Chooser(method, *common, begin, told)
        entries[name].build(several=False)  # a mistake shows before the first fit
    return entries


@dataclass(frozen=True)
class _Chooser:
    """Makes a method's classifier, with the C that is best in cross-validation."""

    method: Any  # a `methods.Published`
    taxonomy: Taxonomy
    Cs: Sequence[float]
    folds: int
    parameters: dict[str, Any]
    seed: int
    jobs: int
    begin: Callable[[], None] | None  # told when the choice is made
    told: Callable[[int, int], None] | None  # about fits for the choice

    def __call__(self, X: Any, y: Any) -> Any:
        from linnaeus.protocols import NotApplicable

        several = not isinstance(y, np.ndarray)
        if several and self.method.several is None:
            raise NotApplicable("for one label per row only")
        model = self._chosen(self.build(several), X, y)
        if self.begin is not None:
            self.begin()
        return model

    def build(self, several: bool) -> Any:
        """The classifier, before C is chosen."""
        from linnaeus.methods import make

        own = {**self.method.parameters, **(self.method.several or {} if several else {})}
        parameters = own | self.parameters
        return make(self.method.method, self.taxonomy, parameters, self.seed, self.jobs)

    def _chosen(self, model: Any, X: Any, y: Any) -> Any:
        from linnaeus.tuning import c_path

        if "C" not in model.get_params() or "C" in self.parameters:
            return model
        if len(self.Cs) == 1:
            return model.set_params(C=self.Cs[0])
        path = c_path(
            model, X, y, self.Cs, cv=self.folds, random_state=self.seed, callback=self.told
        )
        return path.estimator


def _all_against(baseline: str, methods: Iterable[str]) -> dict[str, str]:
    from linnaeus.methods import published

    name = published(baseline)[0]
    return {method: name for method in methods if method != name}


def _train_and_test(collection: Collection, seed: int) -> tuple[Part, Part]:
    """The training part and the test part, or a stratified quarter of the training part."""
    train = collection.part("train")
    if collection.test is not None:
        return train, collection.test
    from linnaeus.splits import train_test_split

    rest, held = train_test_split(collection.Y("train"), 0.25, seed)
    return train.take(rest.tolist()), train.take(held.tolist())


class DemoResult(NamedTuple):
    """What the demonstration made, measured and predicted."""

    collection: Collection
    report: Any
    seconds: dict[str, float]
    example: int  # a row of the test part
    predicted: list[list[Any]]  # closed label sets, one per test row
    scores: Any  # (n_test, n_nodes)


def demo(
    n_train: int = 800, n_test: int = 200, seed: int = 0, n_jobs: int = 1, step: Step | None = None
) -> DemoResult:
    """Newsroom documents, one linear model per node, the best closed label set for each text."""
    from joblib import parallel_config
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    from linnaeus.decisions import ClosedArgmax
    from linnaeus.metrics import evaluate
    from linnaeus.synthetic import newsroom

    seconds: dict[str, float] = {}
    step = step or (lambda *_: None)

    def timed(what: str, done: int, work: Callable[[], Any]) -> Any:
        step(what, done, 4)
        start = time.perf_counter()
        result = work()
        seconds[what] = time.perf_counter() - start
        return result

    data = timed("generate", 0, lambda: newsroom(n_train, n_test, random_state=seed))
    taxonomy = data.taxonomy
    Y_train, Y_test = (taxonomy.closure(data.Y(part)) for part in ("train", "test"))
    model = make_pipeline(
        _vectorizer(),
        ClosedArgmax(
            OneVsRestClassifier(LinearSVC(random_state=seed), n_jobs=n_jobs),
            taxonomy,
            shift="fit",
            random_state=seed,
        ),
    )
    with warnings.catch_warnings(), parallel_config(backend="threading"):
        # with few stories some nodes have none in a fold
        warnings.filterwarnings("ignore", "Label not .* is present in all training examples")
        timed("fit", 1, lambda: model.fit(data.part("train").texts, Y_train))
    scores = timed("score", 2, lambda: model.decision_function(data.part("test").texts))
    predicted = timed("decide", 3, lambda: model.predict(data.part("test").texts))
    report = timed("evaluate", 4, lambda: evaluate(taxonomy, Y_test, predicted, scores))
    sets = taxonomy.decode(predicted)
    return DemoResult(data, report, seconds, _telling_row(taxonomy, Y_test, sets), sets, scores)


def _telling_row(taxonomy: Taxonomy, Y_test: Any, predicted: list[list[Any]]) -> int:
    """A row worth drawing: several labels, nearly all of them right."""
    truth = taxonomy.decode(Y_test)

    def interest(i: int) -> tuple[float, int]:
        wrong = len(set(truth[i]) ^ set(predicted[i]))
        return (-abs(wrong - 1) if truth[i] else -99, len(truth[i]))

    return max(range(len(truth)), key=interest)
