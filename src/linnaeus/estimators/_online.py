"""What the Perceptrons and Hieron share: passes, batches, new classes, answers.

Weights are kept for attributes, see `online.perceptron_weights`; those of classes are made from
them when asked for. Scores are X w L', or with another kernel (k C) L', C the coefficients of the
examples.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from linnaeus.errors import UserError
from linnaeus.estimators import _batches, _online_row, _targets
from linnaeus.estimators._base import TOO_LARGE
from linnaeus.estimators._kernel import has_weights
from linnaeus.estimators._linear import LARGE, check_range, tidy
from linnaeus.estimators._ranked import Ranked, above, extended
from linnaeus.estimators._rows import read_rows
from linnaeus.estimators._running_sizes import RunningSizes
from linnaeus.labels import parse
from linnaeus.parameters import FLAG, Limits, fitting, is_inferred, settled
from linnaeus.solvers.online import newcomers, perceptron
from linnaeus.solvers.online.perceptron import OnlineProblem, PerceptronRun
from linnaeus.solvers.online.perceptron_weights import Weights, growth
from linnaeus.taxonomy import Taxonomy

SAMPLE = 2_000_000  # scores to learn the sizes of label sets from, at most
SPARSE = 0.25  # share of weights below which they are kept sparse
START = 100  # visits in which classes are expected to turn up
MANY_WEIGHTS = 100_000_000  # from which on they are float32 by default


def _is_table(attributes: Any) -> bool:
    return not (attributes is None or isinstance(attributes, str) or callable(attributes))


class Online(Ranked):
    """Base of estimators that learn from one example after the other.

    A subclass has `_rule()`, which of `online.perceptron.RULES` it follows, and `_averages()`.
    """

    max_iter: int
    shuffle: bool
    limits = Limits(shuffle=FLAG)
    class_kernel: Any
    needs_inner_products = False

    def _rule(self) -> str:
        raise UserError(f"{type(self).__name__} is only a base. Use one of its subclasses.")

    def _averages(self) -> bool:
        raise UserError(f"{type(self).__name__} is only a base. Use one of its subclasses.")

    # -- all examples at once ---------------------------------------------------------------

    @fitting
    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Learn from examples, in as many passes as it takes, `max_iter` at most.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample; or a kernel matrix of shape (n_samples, n_samples), or what the
            kernel takes.
        y : array-like, sparse matrix or list of lists
            Labels in any form of `linnaeus.labels`: one per sample, an indicator over the nodes of
            the taxonomy (without one, over any columns), or lists of labels.

        Returns
        -------
        Self
            The fitted estimator.
        """
        features: Any = None
        if self._is_linear():
            X, Y, _, dtype, seed = self._prepared(X, y, None)
            features, K = self._with_constant(X.astype(dtype, copy=False)), None
        else:
            X = K = self._gram_to_fit(X)
            Y, seed = self._learn_targets(y, len(K)), self._seed()
        self._check_labels(Y)
        self.shared_ = perceptron.Classes.of(*self._class_model())
        result = self._train(perceptron.build(features, K, Y, self.shared_), features, seed)
        self._check_finite(self.weights_.answer())
        self._keep(result, first=True)
        self.weights_.remember(Y.shape[1])
        self.weights_.note(_numbered(Y.shape[0]) if features is None else features, Y)
        self.sizes_ = RunningSizes()
        self._learn_sizes(X, Y, seed)
        return self

    def _train(self, problem: OnlineProblem, X: Any, seed: int) -> PerceptronRun:
        """Make all passes, and keep what they give."""
        n = problem.inputs.norm2.size
        W = self._empty(X, n, problem)
        result = perceptron.run(
            problem, W, self._rule(), max_iter=self.max_iter, shuffle=self.shuffle, seed=seed
        )
        T = result.n_steps
        if X is None:
            self.weights_ = Weights(self._sum(result, None, n), T)
        else:
            self.weights_ = Weights(perceptron.compact(W, SPARSE) if self._averages() else W, T)
        if self._averages():
            W.fill(0)
            self.weights_.mean = self._sum(result, X, n, T + 1.0 - result.log.step, T, W)
        return result

    def _sum(
        self, result: PerceptronRun, X: Any, n: int, weight: Any = 1.0, divisor: int = 1,
        out: Any = None,
    ) -> Any:  # fmt: skip
        """Updates times their weights, over a divisor: exact where the sums are.

        Weights of features X, in `out` if given; or where X is None, coefficients of n examples.
        """
        C = perceptron.coefficients(result.log, n, self.shared_.attributes, weight)
        if X is None:
            return C / max(1, divisor)
        W = np.zeros((X.shape[1], C.shape[1]), X.dtype) if out is None else out
        perceptron.add_weights(X, C, W)
        return np.divide(W, max(1, divisor), out=W)

    def _empty(self, X: Any, n: int, problem: OnlineProblem) -> np.ndarray:
        """The state of the loops before any update."""
        s = problem.classes.attributes.shape[1]
        return np.zeros((s, n)) if X is None else np.zeros((X.shape[1], s), X.dtype)

    def _check_finite(self, weights: Any) -> None:
        values = weights.data if sp.issparse(weights) else weights
        if not np.isfinite([values.min(initial=0.0), values.max(initial=0.0)]).all():
            raise UserError(f"The weights of {type(self).__name__} are not finite. {TOO_LARGE}")

    def _keep(self, result: PerceptronRun, first: bool) -> None:
        """What is left for users to see."""
        if first:
            self.trace_: list[dict[str, float]] = []
            self.n_updates_ = self.n_steps_ = 0
        self.trace_ += result.trace
        self.n_iter_ = len(self.trace_)
        self.n_updates_ += len(result.log.size)
        self.n_steps_ += result.n_steps
        self.converged_ = result.converged

    def _check_labels(self, Y: sp.csr_array) -> None:
        """Refuse label sets that the method cannot learn from."""

    def _learn_sizes(self, X: Any, Y: sp.csr_array, seed: int) -> None:
        """Learn from training scores how many labels to answer, where several were taught."""
        if self.targets_.one:
            return
        rows, most = np.arange(Y.shape[0]), max(1, SAMPLE // Y.shape[1])
        if rows.size > most:
            rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
        inputs = X[rows] if self._is_linear() else X[rows] - self._bias() ** 2
        self.sizes_.add(self._scores(inputs), sp.csr_array(Y[rows]))

    # -- a batch at a time ------------------------------------------------------------------

    @fitting
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, taxonomy: Taxonomy | None = None
    ) -> Self:
        """Go on learning: one pass over a batch, in its order.

        Classes that are new, or had no example in the first 100 visits, are learned from the rows
        of the batch that has their first ones in several passes, while the scores of all others
        stay as they are; the means of the rows of these keep them apart. With averaging, the mean
        goes over all visits since a class came. The number of labels to answer, where several are
        taught, is learned from the scores of all batches, each after its pass.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample, as in `fit`.
        y : array-like, sparse matrix or list of lists
            Labels in any form of `linnaeus.labels`: one per sample, an indicator over the nodes of
            the taxonomy (without one, over any columns), or lists of labels.
        classes : array-like of shape (n_classes,) or None, default=None
            Without a taxonomy, all classes that may come, to be given with the first batch; with
            one, nodes that are classes besides its leaves.
        taxonomy : Taxonomy or None, default=None
            A larger taxonomy with all nodes of the one before. A new node starts with what the
            nodes above it have learned. With attributes="flat" a new class starts from zero;
            attributes given as a matrix must be given again, with rows for all classes and new
            columns last, and so must a class kernel.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_batches()
        first, linear = not hasattr(self, "weights_"), self._is_linear()
        if linear and not first and classes is taxonomy is None and not is_inferred(self.taxonomy):
            row = _online_row.read(self, X, y)
            if row is not None:
                self._keep(_online_row.learn(self, row), first)
                return self
        if linear:
            X = tidy(read_rows(self, X, reset=first, accept_sparse="csr"))
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        before = () if first else self.targets_.names
        Y = self._batch_labels(y, n, classes, taxonomy, first)
        new = np.empty(0, int) if first else self._newcomers(Y, before)
        run = self._batch if linear else self._kernel_batch
        self._keep(run(X, Y, new, first), first)
        self.n_steps_ += int(np.count_nonzero(np.diff(Y[:, new].indptr)))  # visited in another way
        if not self.targets_.one:
            self._go_on_with_sizes(self._scores(X if linear else self._gram(X)), Y, before)
        return self

    def _go_on_with_sizes(
        self, scores: np.ndarray, Y: sp.csr_array, before: tuple[Any, ...]
    ) -> None:
        """Learn sizes of label sets from a batch; what is known of them is carried over."""
        if before and before != self.targets_.names:
            place = _places(before, self.targets_.names)
            means = self.weights_.means(not self._is_linear())[1]
            side = (
                means
                if self._is_linear()
                else means @ (self._gram(self.X_fit_) + self._bias() ** 2)
            )
            known = self.weights_.scores(side) @ self.shared_.attributes.T
            self.sizes_.grow(place, np.asarray(known, float), scores.astype(float), Y)
        self.sizes_.add(scores, Y)

    def _check_batches(self) -> None:
        if self._kernel_is("precomputed"):
            raise UserError(
                "partial_fit cannot know the kernel between old and new examples. Use a kernel of "
                "linnaeus.kernels instead of kernel='precomputed', or fit."
            )

    def _newcomers(self, Y: sp.csr_array, before: tuple[Any, ...]) -> np.ndarray:
        """Classes with their first examples here: they came just now, or long after the start."""
        weights, known = self.weights_, set(before)
        new = np.array([name not in known for name in self.targets_.names])
        if weights.counts is not None and weights.n_steps >= START:
            new |= weights.counts == 0
        return newcomers.find(Y, self.shared_.attributes, new)

    def _batch(
        self, X: sp.csr_array, Y: sp.csr_array, new: np.ndarray, first: bool
    ) -> PerceptronRun:
        dtype = self._dtype(X) if first else self.weights_.last.dtype
        check_range(X, dtype)
        X, L = self._with_constant(X.astype(dtype, copy=False)), self.shared_.attributes
        if first:
            self.weights_ = Weights(np.zeros((X.shape[1], L.shape[1]), dtype))
            self.weights_.remember(Y.shape[1])
        weights = self.weights_
        weights.go_on(self._averages(), dense=True)
        result = self._visit(X, None, Y, new, weights.last)
        if weights.moment is not None:
            U = perceptron.coefficients(result.log, X.shape[0], L, result.log.step)
            perceptron.add_weights(X, U, weights.moment)
        weights.n_steps += result.n_steps
        self._take_notes(X, Y, new, None)
        self._check_finite(weights.last[np.unique(X.indices)])  # no other weights have changed
        return result

    def _kernel_batch(self, X: Any, Y: sp.csr_array, new: np.ndarray, first: bool) -> PerceptronRun:
        """The same on coefficients of examples; of later batches those with updates are kept."""
        n, L, constant = Y.shape[0], self.shared_.attributes, self._bias() ** 2
        K = self._kernel_values(X) + constant
        if first:
            self.X_fit_ = X
            self.weights_ = Weights(sp.csr_array((n, L.shape[1])))
            self.weights_.remember(Y.shape[1])
        weights = self.weights_
        weights.go_on(self._averages(), dense=False)
        S = np.ascontiguousarray(np.asarray((self._gram(X) + constant) @ weights.last).T, float)
        result = self._visit(None, K, Y, new, S)
        rows = np.arange(n) if first or new.size else np.unique(result.log.example)
        for name, weight in (("last", 1.0), ("moment", result.log.step)):
            part = getattr(weights, name)
            if part is not None:
                C = perceptron.coefficients(result.log, n, L, weight)
                joined = part + C if first else sp.vstack([part, C[rows]])
                setattr(weights, name, sp.csr_array(joined))
        if not first:
            self.X_fit_ = _joined(self.X_fit_, X, rows)
        weights.n_steps += result.n_steps
        at = weights.last.shape[0] - rows.size + np.arange(rows.size)
        places = sp.csr_array((np.ones(rows.size), (rows, at)), shape=(n, weights.last.shape[0]))
        self._take_notes(places, Y, new, self._gram(self.X_fit_) + constant if new.size else None)
        return result

    def _visit(self, X: Any, K: Any, Y: sp.csr_array, new: np.ndarray, W: Any) -> PerceptronRun:
        """One pass, over rows and classes that are not new."""
        kept = np.setdiff1d(np.arange(Y.shape[1]), new)
        classes = self.shared_.among(kept) if new.size else self.shared_
        problem = perceptron.build(X, K, Y[:, kept] if new.size else Y, classes)
        late = np.diff(Y[:, new].indptr) > 0 if new.size else np.zeros(Y.shape[0], bool)
        problem = problem._replace(order=problem.order[~late[problem.order]])
        result = perceptron.run(problem, W, self._rule(), n_before=self.weights_.n_steps)
        log = result.log._replace(right=kept[result.log.right], wrong=kept[result.log.wrong])
        return result._replace(log=log)

    def _take_notes(self, X: sp.csr_array, Y: sp.csr_array, new: np.ndarray, gram: Any) -> None:
        """Learn the new classes, and remember the examples of all."""
        if new.size:
            model = self.shared_.attributes, self._class_model().loss
            newcomers.introduce(self.weights_, model, X, Y, new, gram)
            Y = sp.csr_array(Y.multiply(~np.isin(np.arange(Y.shape[1]), new)))
        self.weights_.note(X, Y)

    def _batch_labels(
        self, y: Any, n: int, classes: Any, taxonomy: Any, first: bool
    ) -> sp.csr_array:
        """The labels of a batch over all classes; what is new about classes is taken in."""
        if taxonomy is None:
            taxonomy = self.taxonomy if first else self.taxonomy_
        taxonomy, y = settled(taxonomy, y)
        if is_inferred(self.taxonomy):
            y = parse(y, taxonomy, paths=True)
        old = None if first else self.targets_
        targets, Y = _batches.labels(y, taxonomy, classes, old)
        check_consistent_length(np.empty(n), Y)
        self._check_labels(Y)
        targets = _batches.joined(old, targets, Y, classes)
        if first:
            self.sizes_ = RunningSizes()
        if old is None or _batches.changed(old, targets):
            self._take_in(old, targets)
        self.targets_, self.taxonomy_ = targets, taxonomy
        return Y

    def _take_in(self, old: _targets.Targets | None, targets: _targets.Targets) -> None:
        """New classes, or a new taxonomy above them."""
        self.targets_ = targets
        try:
            attributes, loss = self._class_model()
            if old is not None:
                place = _places(old.names, targets.names)
                if self.class_kernel is not None:
                    attributes = extended(self.class_kernel, self.shared_.attributes, place)
                G = self._growth(old, targets, attributes, place)
            shared = perceptron.Classes.of(attributes, loss)
        except UserError:
            if old is None:
                del self.targets_
            else:
                self.targets_ = old
            raise
        if old is not None:
            self.weights_.grow(G, place, len(targets.names))
        self.shared_ = shared

    def _growth(
        self, old: _targets.Targets, new: _targets.Targets, attributes: sp.csr_array, place: Any
    ) -> sp.csr_array:
        """How weights of old attributes become those of new ones."""
        before, s = self.shared_.attributes, self.shared_.attributes.shape[1]
        if _is_table(self.attributes) or self.class_kernel is not None:
            if attributes.shape[1] < s:
                raise UserError(
                    f"The class attributes have {attributes.shape[1]} columns, but had {s} before. "
                    f"Keep the old columns, and append new ones."
                )
            return growth(before, attributes, place, np.arange(s), np.full(place.size, -1))
        if isinstance(self.attributes, str) and self.attributes == "flat":
            return growth(before, attributes, place, place, place)
        number = {key: v for v, key in enumerate(_batches.node_keys(new.taxonomy))}
        column = np.array([number[key] for key in _batches.node_keys(old.taxonomy)])
        return growth(before, attributes, place, column, new.nodes[place])

    # -- weights ----------------------------------------------------------------------------

    @property
    def node_coef_(self) -> Any:  # type: ignore[override]
        """Weights of the attributes, of shape (n_attributes, n_features)."""
        if not self._is_linear():
            raise AttributeError("Only kernel='linear' has weights of features; see dual_coef_.")
        return self.weights_.answer()[: self._n_features()].T

    @property
    def node_intercept_(self) -> np.ndarray:  # type: ignore[override]
        """What is added to the scores of the attributes, of shape (n_attributes,)."""
        if not self._is_linear():
            raise AttributeError("Only kernel='linear' has weights of features; see intercept_.")
        if not self.fit_intercept:
            return np.zeros(self.weights_.last.shape[1])
        constant = sp.csr_array(([self._bias()], ([0], [self._n_features()])))
        return self.weights_.scores(constant).ravel()

    @property
    def coef_(self) -> Any:
        """Weights of the classes, (n_classes, n_features), made from those of attributes."""
        w = self.node_coef_
        return self._folded(self.shared_.attributes.astype(w.dtype) @ w)

    @property
    def intercept_(self) -> np.ndarray:
        """What is added to the scores of the classes, of shape (n_classes,)."""
        if self._is_linear():
            return self._folded(self.shared_.attributes @ self.node_intercept_)
        return np.asarray(self._bias() ** 2 * self.dual_coef_.sum(axis=0))

    @property
    def dual_coef_(self) -> np.ndarray:  # type: ignore[override]
        """Weights of the fitted samples, (n_fitted, n_classes); see the class."""
        if self._is_linear():
            raise AttributeError("With kernel='linear' there is coef_, and no dual_coef_.")
        C = self.weights_.answer() @ self.shared_.attributes.T
        return self._folded(C.toarray().T).T

    def _n_features(self) -> int:
        """Features without the constant one."""
        return int(self.weights_.last.shape[0]) - bool(self.fit_intercept)

    # -- answers ----------------------------------------------------------------------------

    @available_if(has_weights)  # type: ignore[untyped-decorator]
    def sparsify(self) -> Self:
        """Keep the weights as sparse matrices; predictions stay the same.

        Returns
        -------
        Self
            The same object.
        """
        check_is_fitted(self)
        self.weights_ = self.weights_.sparse()
        return self

    def _scores(self, X: Any) -> np.ndarray:
        """Scores of rows of features, or of kernel values, without the constant."""
        if self._is_linear():
            S = self.weights_.scores(X, self._n_features())
            S = S + self.node_intercept_.astype(S.dtype) if self.fit_intercept else S
        else:
            S = self.weights_.scores(X + self._bias() ** 2)
        F = np.asarray((self.shared_.attributes.astype(S.dtype) @ S.T).T)
        return F[:, 1:] - F[:, :1] if self.targets_.binary else F

    def _n_scores(self) -> int:
        return int(self.shared_.attributes.shape[1])

    def _positive(self, scores: np.ndarray) -> sp.csr_array:
        return above(scores, self.sizes_.rule)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "weights_")
        if not self._is_linear():
            return self._gram(X)
        X = read_rows(self, X, reset=False, accept_sparse="csr")
        return sp.csr_array(X) if sp.issparse(X) else X

    def _dtype(self, X: sp.csr_array) -> Any:
        large = X.shape[1] * len(self.targets_.names) >= MANY_WEIGHTS
        return self._float_type(True) if large else super()._dtype(X)

    def _kernel_type(self, size: int, fitting: bool) -> Any:
        return self._float_type(fitting and size >= LARGE)

    def _float_type(self, large: bool) -> Any:
        if self.dtype is not None:
            return np.dtype(self.dtype)
        return np.dtype(np.float32 if large else np.float64)


def _places(old: tuple[Any, ...], new: tuple[Any, ...]) -> np.ndarray:
    """The number of each old class among the new ones."""
    number = {name: j for j, name in enumerate(new)}
    return np.array([number[name] for name in old])


def _numbered(n: int) -> sp.csr_array:
    return sp.csr_array(sp.eye_array(n))


def _joined(old: Any, new: Any, rows: np.ndarray) -> Any:
    """The inputs of a kernel, one after the other: `old`, and some rows of `new`."""
    if sp.issparse(new):
        return sp.csr_array(sp.vstack([old, sp.csr_array(new)[rows]]))
    if isinstance(new, np.ndarray):
        return np.concatenate([old, new[rows]])
    return [*old, *(new[i] for i in rows.tolist())]
