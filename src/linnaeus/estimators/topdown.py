"""Local models from the roots to the leaves: TD of [GopalYang2015], H-SVM of [Rousu2006], and
divide and conquer of [Cai2008].

Every node learns from the examples below it which of its children to take. Scores and probabilities
of nodes are put together along paths; see docs/maths/topdown.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, cast
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linnaeus.errors import UserError
from linnaeus.estimators import _targets, _topdown_decode, _topdown_local
from linnaeus.estimators._linear import LinearClassifier, class_costs
from linnaeus.execution import executor, over_blocks
from linnaeus.execution.memory import size_of, workers_of
from linnaeus.inference import paths
from linnaeus.labels import moved, name_array
from linnaeus.parameters import (
    COUNT,
    ESTIMATOR,
    FLAG,
    NONE,
    POSITIVE,
    Limits,
    choice,
    fitting,
    number,
)
from linnaeus.solvers.linear import topdown as local_problems
from linnaeus.solvers.numerics.examples import weighted_examples
from linnaeus.solvers.numerics.rounds import record, relative
from linnaeus.taxonomy import Taxonomy

SEARCHED = 256  # rows that a task searches
# What `_in_one_piece` has made, with the models that it is made of; no attribute, which copies and
# files would have too.
_PIECES: WeakKeyDictionary[Any, tuple[Any, paths.Local | None]] = WeakKeyDictionary()

SLOPE = 4.0  # of the probability of a margin; see docs/maths/topdown.md

METHODS: dict[str, dict[str | None, str]] = {  # local and loss -> what `linear.topdown` calls it
    "binary": {
        None: "squared_hinge",
        "squared_hinge": "squared_hinge",
        "hinge": "hinge",
        "logistic": "logistic",
    },
    "multiclass": {None: "crammer", "hinge": "crammer", "logistic": "softmax"},
}


def _uses_our_solvers(model: Any) -> bool:
    return model.estimator is None


class TopDown(LinearClassifier):
    """A local model at every node decides among its children.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        A tree, a forest or a DAG; None for classes without a hierarchy.
    C : float, default=1.0
        Weight of the loss in every local problem.
    local : {'binary', 'multiclass'}, default='binary'
        'binary': one model per child against its siblings. 'multiclass': one model per parent,
        whose children exclude each other (a sample with several children is given with each of
        them).
    loss : {'squared_hinge', 'hinge', 'logistic'} or None, default=None
        Loss of the local models: any for binary ones, 'hinge' (Crammer and Singer) or 'logistic'
        (softmax) for multiclass ones. The default, None, depends on `local`: 'squared_hinge' or
        'hinge'.
    estimator : object or None, default=None
        A scikit-learn classifier, cloned for every local problem, in place of our solvers. Its
        role is another one than in `linnaeus.decisions`, which wrap one estimator.
    decode : {'greedy', 'signs', 'beam', 'path'}, default='greedy'
        'greedy' follows the best child (with several labels every child with a positive score,
        else the best); 'signs' takes every child with a positive score and no other, so that a row
        may get no label or end at an inner node (H-SVM); 'beam' looks below the `beam` best nodes
        of each level; 'path' looks at all nodes. May be changed after `fit`.
    beam : int, default=10
        Nodes that 'beam' keeps on each level. May be changed after `fit`.
    stop : bool, 'levels' or float, default=False
        Where predictions stop on the way down (`RankingSVM(stop=...)` is about when training
        stops). The default, False: at leaves. True: at the deepest node whose probability reaches
        `threshold_`, chosen for the best hierarchical F1 of out-of-fold predictions. 'levels': one
        such threshold for each depth. A number: that threshold.
    slope : float or None, default=None
        A score s is taken for the probability 1 / (1 + exp(-slope s)); None takes 1 for logistic
        models, 4 for margins.
    fit_intercept : bool, default=True
        Whether to append a constant feature, regularised like any other.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    empty : {'best', 'none'}, default='best'
        What a sample gets, where samples have several labels, if the search takes no class: 'best',
        its best label, if every training sample had one; 'none', no label.
    class_weight : dict, 'balanced' or None, default=None
        Factor of the cost of the samples below a node, {node: factor}, where its model learns to
        tell it from its siblings. 'balanced' makes siblings count alike: (samples of the family) /
        (children x samples of the child).
    prune : float, default=0.0
        Drop weights below this at the end.
    cv : int, default=3
        Folds for stop=True and stop='levels'. The default is low, since every fold trains all
        local models.
    tol : float, default=0.01
        Relative duality gap at which each local problem stops. The default is looser than that of
        the flat machines: there are many small problems, and they only decide among siblings.
    max_iter : int, default=1000
        Most passes of a local solver.
    dtype : {'float32', 'float64'} or None, default=None
        Type to compute in; None takes float32 for large data.
    n_jobs : int or None, default=None
        Threads; None for one, -1 for all cores. The result does not depend on it.
    backend : {'serial', 'threads', 'ray'} or None, default=None
        Where the work is done; None for threads, as `n_jobs` says. The result is the same.
    checkpoint : str, Path or None, default=None
        Folder that keeps finished work: a fit that was stopped goes on from there, to the same
        result.
    memory : str, int or None, default=None
        Most memory for `fit`, such as '8G', or in bytes; None for any. Local models have weights
        for the features of their own samples alone, so they are small. They stay in memory: a limit
        that is too low for them is refused with the one that would do, and fewer workers run where
        not all fit. 'beam' makes a copy of them for the search. Not with `estimator`.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples and of the folds.

    Attributes
    ----------
    edges_ : list of tuple
        (parent or None, child) of every local decision.
    coef_ : csr_array of shape (n_edges, n_features)
        Weights of the local decisions, made when asked for; not with `estimator`.
    coef_names_ : ndarray of shape (n_edges,)
        The child of every local decision, one for each row of `coef_`.
    intercept_ : ndarray of shape (n_edges,)
        What is added to the local scores; not with `estimator`.
    threshold_ : float or ndarray of shape (n_levels,)
        Probability that a node must reach; 0 without `stop`.
    threshold_f1_ : float
        Hierarchical F1 of the out-of-fold predictions, where the threshold was learned.
    classes_ : ndarray of shape (n_classes,)
        The classes, in the order of the columns of scores.
    taxonomy_ : Taxonomy or None
        The taxonomy.
    n_features_in_ : int
        Number of features.
    objective_ : float
        Primal objective of all local problems together.
    dual_objective_ : float
        Dual objective, a bound on the best primal one.
    gap_ : float
        Relative duality gap, ``(objective_ - dual_objective_) / objective_``.
    n_iter_ : int
        Most passes of a local solver.
    trace_ : list of dict
        Seconds, objective and gap after each iteration.
    prune_loss_ : float
        With `prune`, by what share the objective rose.
    targets_, models_, decoder_, leaf_numbers_, sparse_ : object
        The local models and how to go down; internal.

    Examples
    --------
    >>> from linnaeus import Taxonomy
    >>> from linnaeus.estimators.topdown import TopDown
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> TopDown(tax).fit(X, ["cat", "dog", "oak"]).predict([[0.1, 0.9]])
    array(['oak'], dtype='<U3')
    """

    kept = "models_"
    empty = "best"
    limits = Limits(
        local=choice(*METHODS),
        loss=choice("squared_hinge", "hinge", "logistic") | NONE,
        estimator=ESTIMATOR | NONE,
        decode=choice("greedy", "signs", "beam", "path"),
        beam=COUNT,
        stop=FLAG | choice("levels") | number("a number from 0 to 1", lambda v: 0 <= v < 1),
        slope=POSITIVE | NONE,
        cv=COUNT,
    )

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        C: float = 1.0,
        local: str = "binary",
        loss: str | None = None,
        *,
        estimator: Any = None,
        decode: str = "greedy",
        beam: int = 10,
        stop: bool | str | float = False,
        slope: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        empty: str = "best",
        class_weight: Any = None,
        prune: float = 0.0,
        cv: int = 3,
        tol: float = 1e-2,
        max_iter: int = 1000,
        dtype: Any = None,
        n_jobs: int | None = None,
        backend: str | None = None,
        checkpoint: str | Path | None = None,
        memory: str | int | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.C = C
        self.local = local
        self.loss = loss
        self.estimator = estimator
        self.decode = decode
        self.beam = beam
        self.stop = stop
        self.slope = slope
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.empty = empty
        self.class_weight = class_weight
        self.prune = prune
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.backend = backend
        self.checkpoint = checkpoint
        self.memory = memory
        self.random_state = random_state

    # -- fitting ----------------------------------------------------------------------------

    @fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from examples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        y : array-like, sparse matrix or list of lists
            Labels in any form of `linnaeus.labels`: one per sample, an indicator over the nodes of
            the taxonomy (without one, over any columns), or lists of labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Factor of the cost of each sample; None for 1.

        Returns
        -------
        Self
            The fitted estimator.
        """
        if self.loss not in METHODS[self.local]:
            choices = ", ".join(map(repr, METHODS[self.local]))
            raise UserError(
                f"loss={self.loss!r} is not known with local={self.local!r}. Use one of {choices}."
            )
        self.sparse_ = sp.issparse(X)
        super().fit(X, y, sample_weight)
        return self

    def _learns_to_stop(self) -> bool:
        return self.stop is True or (isinstance(self.stop, str) and self.stop == "levels")

    def _columns(self, Y: sp.csr_array) -> sp.csr_array:
        return Y

    def _solve(self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int) -> Any:
        """Train on everything, after `stop` was learned from parts."""
        grown = self.targets_.taxonomy or Taxonomy.flat(range(Y.shape[1]))
        self._check_stop()
        self.leaf_numbers_ = grown.leaf_numbers
        self.decoder_ = self._decoder(grown)
        below = sp.csr_array(Y.astype(np.int8) @ grown.ancestor_matrix[self.leaf_numbers_])
        below.data[:] = 1
        if weight is not None:
            X, below, weight = weighted_examples(X, below, self.C, weight)
        self.threshold_: Any = 0.0
        if not self._learns_to_stop():
            self.threshold_ = float(self.stop)
        elif self.taxonomy_ is not None:
            self._learn_threshold(X, below, weight, dtype, seed)
        return self._train(X, below, weight, dtype, seed)

    def _check_stop(self) -> None:
        form = self.targets_.form
        partial = f"stop={self.stop!r}" if self.stop else "decode='signs'"
        may = bool(self.stop) or self.decode == "signs"
        if may and self.taxonomy_ is not None and (form.kind != "one" or form.codes):
            missing = set(self.taxonomy_.nodes) - set(form.codes or form.columns)
            if missing:
                raise UserError(
                    f"{partial} may predict inner nodes like {min(missing, key=str)!r}, "
                    f"but y has {'numbers' if form.codes else 'columns'} for leaves only. Give "
                    f"names of nodes, or an indicator over taxonomy.nodes."
                )

    def _decoder(self, grown: Taxonomy) -> _topdown_decode.Decoder:
        one = self.targets_.one
        odds = self.loss == "logistic"
        if self.estimator is not None:
            odds = _topdown_local.is_probabilistic(self.estimator)
        slope = self.slope if self.slope is not None else 1.0 if odds else SLOPE
        return _topdown_decode.Decoder(
            grown, paths.families(grown), float(slope), one or self.local == "multiclass", one
        )

    def _train(self, X: sp.csr_array, below: Any, weight: Any, dtype: Any, seed: int) -> Any:
        mirrored = self.targets_.binary and self.local == "binary"
        found = _topdown_local.problems(self.decoder_.fam, below, mirrored)
        found = self._with_costs(found, weight)
        jobs = executor(self._planned_jobs(X, found, dtype))
        if self.estimator is not None:
            return _topdown_local.train_base(
                X, found, weight, self.estimator, self.local == "multiclass", seed, jobs, mirrored,
                self.sparse_,
            )  # fmt: skip
        options = local_problems.LocalOptions(
            METHODS[self.local][self.loss], self.C, self._bias(), self.tol, self.max_iter, seed,
            self.prune,
        )  # fmt: skip
        weight = np.ones(X.shape[0]) if weight is None else weight
        return _topdown_local.train_linear(X, found, weight, options, dtype, jobs, mirrored)

    def _planned_jobs(self, X: Any, found: list[local_problems.LocalProblem], dtype: Any) -> Any:
        """How many workers memory has room for, if it is limited."""
        limit = size_of(self.memory)
        if limit is None:
            return self.n_jobs
        if self.estimator is not None:
            raise UserError(
                "memory and estimator do not go together: what an estimator of yours takes is not "
                "known beforehand. Leave one of them out."
            )
        plan = local_problems.plan(X, found, dtype, limit, self._learns_to_stop() * self.cv)
        return plan.workers(workers_of(self.n_jobs))

    def _with_costs(
        self, found: list[local_problems.LocalProblem], weight: Any
    ) -> list[local_problems.LocalProblem]:
        """The local problems with the factors that `class_weight` means for them."""
        if self.class_weight is None:
            return found
        if self.targets_.binary and self.local == "binary":
            cost = class_costs(self.class_weight, self.targets_, found[0].Y, weight)
            return [found[0]._replace(factor=cost)]
        misc = self.decoder_.taxonomy.misc
        names = [misc.get(name, name) for name in self._node_names()]
        return _topdown_local.with_factors(
            found, self.decoder_.fam, self.class_weight, names, weight
        )

    def _learn_threshold(self, X: Any, below: Any, weight: Any, dtype: Any, seed: int) -> None:
        """The thresholds with the best hierarchical F1 of out-of-fold predictions."""
        n, folds = X.shape[0], min(self.cv, X.shape[0])
        if folds < 2:
            raise UserError(
                f"stop={self.stop!r} needs 2 folds; cv={self.cv}, samples={n}. Give a threshold."
            )
        fold = np.random.default_rng(seed).permutation(n) % folds
        values = _topdown_decode.candidates(self.decoder_, self.decode)
        offered, true = [], []
        for k in range(folds):
            rest, part = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            costs = None if weight is None else weight[rest]
            models = self._train(X[rest], below[rest], costs, dtype, seed)
            for block in self._row_blocks(part.size):
                ways = self._ways(models, X[part[block]], self.decode)
                offered.append(self.decoder_.offers(ways, self.leaf_numbers_, values[0]))
            true.append(below[part])
        grown = self.decoder_.taxonomy
        real = np.array([name not in grown.misc for name in grown.nodes])
        answers, truth = (sp.csr_array(sp.vstack(parts)) for parts in (offered, true))
        held = _topdown_decode.Held(self.decoder_, answers, truth, real)
        self.threshold_, self.threshold_f1_ = _topdown_decode.one_threshold(held, values)
        if self.stop == "levels":
            self.threshold_, self.threshold_f1_ = _topdown_decode.level_thresholds(
                held, values, self.threshold_, self.threshold_f1_
            )

    def _store(self, models: Any) -> None:
        self.models_ = models
        fam, names = self.decoder_.fam, self._node_names()
        above = np.repeat(fam.parent, np.diff(fam.ptr)).tolist()
        self.edges_ = [
            (None if p < 0 else names[p], names[c])
            for p, c in zip(above, fam.child.tolist(), strict=True)
        ]
        parts = models.parts
        if self.estimator is not None:
            fitted = [model for part in parts for model in part]
            self.n_iter_ = max(int(np.max(getattr(model, "n_iter_", 1))) for model in fitted)
            return
        P, D = (np.array([getattr(part, key) for part in parts]) for key in ("objective", "dual"))
        self.intercept_ = np.concatenate([part.intercept for part in parts])
        trace = [record(models.seconds, float(P.sum()), float((P - D).sum()))]
        self._certify(P, D, max(part.n_iter for part in parts), trace)
        if self.prune > 0:
            self.prune_loss_ = relative(sum(part.rise for part in parts), self.objective_)

    def _node_names(self) -> tuple[Any, ...]:
        taxonomy = self.targets_.taxonomy
        return self.targets_.names if taxonomy is None else taxonomy.nodes

    @property
    def coef_names_(self) -> np.ndarray:
        """The nodes that local decisions are about, one for each row of `coef_`; see `edges_`."""
        names = name_array([child for _, child in self.edges_])
        return names[1:] if self.targets_.binary and self.local == "binary" else names

    @property
    def coef_(self) -> sp.csr_array:
        """Weights of every local decision, of shape (n_edges, n_features), made when asked for."""
        if not isinstance(self.__dict__.get("models_"), _topdown_local.LinearModels):
            raise AttributeError("coef_ exists after fit, and for our own solvers only.")
        return self.models_.coef()

    @available_if(_uses_our_solvers)  # type: ignore[untyped-decorator]
    def sparsify(self) -> Self:
        """Do nothing: weights are kept for the features that occur, and `coef_` is sparse.

        Returns
        -------
        Self
            The same object.
        """
        check_is_fitted(self)
        return self

    # -- scoring ----------------------------------------------------------------------------

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores, one column for each of `classes_`; `predict` takes the best for one label.

        Where labels exclude each other, the local score at the root plus the logarithms of the
        probabilities further down, over the slope; else the log odds of the probability of the
        path, over the slope. With one level these are the scores of a flat model. Classes that
        the search passed by come after all that it reached. An inner node that is a column has the
        best score at or below it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            One column for each of `classes_`; one number per sample for one label of two.
        """
        return super().decision_function(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, by all paths whatever `decode` says.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            With one label per sample the rows sum to 1; with several each entry is that of
            the path to the node.
        """
        check_is_fitted(self, "models_")
        one, decoder = self.targets_.one and not self.targets_.by_path, self.decoder_
        nodes = self._label_nodes() if one else self._shown_nodes()

        def finish(ways: paths.Ways) -> np.ndarray:
            if one:
                return np.asarray(softmax(ways.score[nodes].T, axis=1))
            return np.asarray(decoder.probabilities(ways)[nodes].T)

        return np.concatenate(self._blocks(X, finish, "path"))

    def class_probabilities(self, X: Any) -> np.ndarray:
        """Probabilities of the classes that were trained, in the order of training.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray of shape (n_samples, n_trained)
            One column for each class.
        """

        def finish(ways: paths.Ways) -> np.ndarray:
            return self.decoder_.probabilities(ways)[self.leaf_numbers_].T

        return np.concatenate(self._blocks(X, finish, "path"))

    def _label_nodes(self) -> np.ndarray:
        """The leaves, misc leaves among them, of the labels of which one is answered."""
        place = self.targets_.label_columns().place
        return self.leaf_numbers_ if place is None else self.leaf_numbers_[place]

    def _shown_nodes(self) -> np.ndarray:
        """The nodes, misc leaves among them, that the columns of `classes_` stand for."""
        columns = self.targets_.columns()
        if columns.taxonomy is not None:
            return np.asarray(columns.place)
        return self.leaf_numbers_ if columns.place is None else self.leaf_numbers_[columns.place]

    def predict(self, X: Any) -> Any:
        """Labels of samples; with `stop` they may be inner nodes.

        These may then be none of `classes_`, which are the labels seen in training all the same.
        Where several labels are answered and the search takes none, see the parameter `empty`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        ndarray, csr_array or list of lists
            Labels in the form that was taught.
        """
        decoder = self._fitted_decoder()
        if self.taxonomy_ is not None and np.any(self.threshold_):
            return self._predict_partial(X)
        if self.targets_.one:
            nodes = self._label_nodes()
            parts = self._seen_blocks(X, lambda seen: decoder.best_seen(seen, nodes))
            if parts is None:
                parts = self._blocks(X, lambda ways: decoder.best(ways, nodes))
            return self.targets_.labels()[np.concatenate(parts)]
        if self.decode == "signs" and self.taxonomy_ is not None:
            return self._partial_answer(self._sets(X, decoder.taken_sets, decoder.fam.n_nodes))
        n_leaves = self.leaf_numbers_.size
        on = self._sets(X, lambda ways: decoder.leaf_sets(ways, self.leaf_numbers_), n_leaves)
        return _targets.answer(self.targets_, on, self.taxonomy_)

    def _sets(self, X: Any, decide: Callable[[paths.Ways], sp.csr_array], width: int) -> Any:
        """Label sets over the leaves or over all nodes; see the parameter `empty`."""
        taught = self.targets_.taught
        taught = np.arange(self.leaf_numbers_.size) if taught is None else taught
        over_leaves = width == self.leaf_numbers_.size
        answers = taught if over_leaves else self.leaf_numbers_[taught]

        def finish(ways: paths.Ways) -> sp.csr_array:
            on = decide(ways)
            if not self._fills() or (np.diff(on.indptr) > 0).all():
                return on
            best = answers[self.decoder_.best(ways, self.leaf_numbers_[taught])]
            return _targets.with_best(on, best)

        on = sp.vstack(self._blocks(X, finish), format="csr")
        return on if over_leaves else self.decoder_.taxonomy.closure(on)

    def _predict_partial(self, X: Any) -> Any:
        """Labels that may be inner nodes, by the thresholds."""
        decoder, leaves, depth = self.decoder_, self.leaf_numbers_, self.decoder_.taxonomy.depth
        least = np.broadcast_to(self.threshold_, depth.max() + 1)[depth]

        def offers(ways: paths.Ways) -> sp.csr_array:
            return decoder.offers(ways, leaves, least.min())

        if self.targets_.one:
            parts = self._blocks(X, lambda ways: decoder.stopped(offers(ways), least))
            return self._own_names(np.concatenate(parts))
        parts = self._blocks(X, lambda ways: decoder.partial_sets(offers(ways), least))
        return self._partial_answer(sp.vstack(parts, format="csr"))

    def predict_node_proba(self, X: Any) -> sp.csr_array:
        """The probability of every node on the way.

        A user may back off from a class to a node above it with a probability that is high enough.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        csr_array of shape (n_samples, n_nodes)
            Columns are `taxonomy_.nodes`, or `classes_` without a taxonomy; 0 where `decode` did
            not look.
        """
        check_is_fitted(self, "models_")
        n = self.leaf_numbers_.size if self.taxonomy_ is None else len(self.taxonomy_)

        def finish(ways: paths.Ways) -> sp.csr_array:
            return sp.csr_array(self.decoder_.probabilities(ways)[:n].T)

        return sp.csr_array(sp.vstack(self._blocks(X, finish), format="csr"))

    def top_k(self, X: Any, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """The best classes of each sample, and their log probabilities.

        Ranked are the classes that were trained, not the nodes above them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        k : int, default=5
            Number of classes.

        Returns
        -------
        best : ndarray of int of shape (n_samples, k)
            Places in `classes_`, the best first; -1 where the search reached fewer.
        scores : ndarray of shape (n_samples, k)
            Their log probabilities; -inf where there is none.
        """
        columns, numbers = self._ranked_classes()
        leaves = np.sort(self.leaf_numbers_[columns])
        place = np.full(self._fitted_decoder().fam.n_nodes + 1, -1)
        place[self.leaf_numbers_[columns]] = numbers
        k = min(k, leaves.size)

        def finish(ways: paths.Ways) -> tuple[np.ndarray, np.ndarray]:
            score = ways.score if ways.taken is None else np.where(ways.taken, ways.score, -np.inf)
            best, value = paths.best_nodes(score, leaves, k)
            return place[best], value - self.decoder_.log_z(ways)[:, None]

        parts = self._seen_blocks(X, lambda seen: self.decoder_.top_seen(seen, leaves, k))
        if parts is not None:
            parts = [(place[best], value) for best, value in parts]
        best, values = zip(*(parts or self._blocks(X, finish)), strict=True)
        return np.vstack(best), np.vstack(values)

    def _score_blocks(self, X: Any) -> Iterator[np.ndarray]:
        return iter(self._blocks(X, self._decide))

    def _decide(self, ways: paths.Ways) -> np.ndarray:
        found = self.decoder_.decision(ways, self.leaf_numbers_)
        return found[:, [1]] - found[:, [0]] if self.targets_.binary else found

    def _own_names(self, nodes: np.ndarray) -> np.ndarray:
        """Node numbers as names; a misc leaf has the name of its parent."""
        grown = self.decoder_.taxonomy
        names = name_array(grown.misc.get(name, name) for name in grown.nodes)
        kind = object if self.classes_.dtype == object else names.dtype
        return np.asarray(names[nodes], dtype=kind)

    def _partial_answer(self, on: sp.csr_array) -> Any:
        """Closed label sets over the nodes with misc leaves, in the form that was taught."""
        taxonomy, grown = cast(Taxonomy, self.taxonomy_), self.decoder_.taxonomy
        on = moved(on, grown.nodes, taxonomy.nodes)
        on = on if self.targets_.closed else taxonomy.most_specific(on)
        return self.targets_.form.answer(sp.csr_array(on), taxonomy.nodes)

    def _blocks(self, X: Any, finish: Callable[[paths.Ways], Any], decode: Any = None) -> list[Any]:
        """What `finish` makes of the search in each block of rows."""
        X = self._checked(X)

        def work(X: Any, rows: slice) -> Any:
            return finish(self._ways(self.models_, X[rows], decode or self.decode))

        blocks = list(self._row_blocks(X.shape[0]))
        return list(over_blocks(work, [X], blocks, executor(self.n_jobs)))

    def _seen_blocks(self, X: Any, finish: Callable[[paths.Seen], Any]) -> list[Any] | None:
        """What `finish` makes of a beam that keeps what a row sees; None for other searches."""
        local = self._in_one_piece(self.models_, self.decode)
        if local is None:
            return None
        X = self._checked(X)

        def work(X: Any, first: int) -> Any:
            seen = self.decoder_.seen(X[first : first + SEARCHED], local, int(self.beam))
            return finish(seen)

        blocks = list(range(0, max(1, X.shape[0]), SEARCHED))
        return list(over_blocks(work, [X], blocks, executor(self.n_jobs)))

    def _ways(self, models: Any, X: Any, decode: str) -> paths.Ways:
        local = self._in_one_piece(models, decode)
        if local is not None:
            return self.decoder_.seen(X, local, int(self.beam)).ways(self.decoder_.fam.n_nodes)
        return self.decoder_.ways(models.scorer(X), X.shape[0], decode, int(self.beam))

    def _in_one_piece(self, models: Any, decode: str) -> paths.Local | None:
        """Linear models as a beam takes them, made once."""
        if decode != "beam" or not isinstance(models, _topdown_local.LinearModels):
            return None
        known = _PIECES.get(self)
        if known is None or known[0] is not models:
            _PIECES[self] = known = models, models.in_one_piece()
        return known[1]

    def _fitted_decoder(self) -> _topdown_decode.Decoder:
        check_is_fitted(self, "models_")
        return self.decoder_

    def _n_scores(self) -> int:
        return self.decoder_.fam.n_nodes
