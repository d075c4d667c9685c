"""Hierarchical Bayesian logistic regression: HBLR of [GopalYang2015], sections 3 and 4.

    w_root ~ N(0, I),    w_n ~ N(w_parent, prec_n^-1),    prec ~ Gamma(a, b),    label ~ link(w.x)

Classes lean on their relatives, and how much they do is learned: nothing is left to tune. The
solvers are `linnaeus.solvers.bayes.hblr_map` and `hblr_variational`; the mathematics is in
docs/maths/hblr.md.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_random_state

from linnaeus.decisions.columns import Columns
from linnaeus.errors import UserError, shorten
from linnaeus.estimators import _targets
from linnaeus.estimators._base import TOO_LARGE
from linnaeus.estimators._continued import Continued
from linnaeus.execution import executor
from linnaeus.execution.watching import is_interrupted
from linnaeus.inference import predictive
from linnaeus.parameters import FLAG, NONE, Limits, choice, thing
from linnaeus.solvers.bayes import (
    hblr_map,
    hblr_model,
    hblr_prior,
    hblr_spread,
    hblr_variational,
)
from linnaeus.solvers.bayes.hblr_model import Gamma, HBLRModel, Posterior
from linnaeus.solvers.linear import logistic
from linnaeus.taxonomy import Taxonomy

FULL = 512  # features up to which covariance="auto" is full
NUMBERS = 1 << 27  # of covariances stored at most
MANY = 1 << 24  # weights from which those of features that no example has are not stored
REFUSED = 5000  # features from which full covariances are refused
SCHEDULES = (("joint", "paper", "parity"), ("leaves", "parity"))  # of points, of distributions


class HBLR(Continued):
    """Logistic regression with a prior along the hierarchy whose strength is learned.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        A tree or forest; None for classes below one common root.
    model : {'M3', 'M2', 'M1'}, default='M3'
        Whose the precisions are: 'M1' one per parent, 'M2' one per parent and feature, 'M3' one
        per node.
    inference : {'map', 'variational', 'flat'}, default='map'
        How the weights are found (in `GraphM3` it is how label sets are). The default gives point
        estimates of the weights, and variances from the curvature; 'variational' a distribution of
        the weights, and is slower; 'flat' is 'map' without the inner nodes, all leaves below the
        root.
    link : {'softmax', 'binary'}, default='softmax'
        'softmax' for one label per sample, 'binary' for any number.
    prior : {'fisher', 'blr'} or tuple of (a, b), default='fisher'
        From the training data: 'fisher', by the Fisher information with the frequencies of the
        classes; 'blr', with the probabilities of logistic regressions of the classes. Or shape and
        rate of the precisions' Gamma priors: numbers, or {node: value} for every owner of a
        precision (a root that stands above several roots is None). Values may be vectors in M2.
    pool : {'sum', 'information', 'mean'}, default='sum'
        With 'fisher' and 'blr', how M1 and M3 bring features together: 'sum' by variances, which
        rare features make large and precisions small; 'information' by precisions, which frequent
        features make; 'mean' as 'sum', with less weight against the data.
    unit_information : bool, default=False
        With 'fisher' and 'blr', the information of one sample instead of all.
    covariance : {'auto', 'full', 'diagonal'}, default='auto'
        In variational mode, of each leaf; 'auto' goes by the size.
    schedule : {'joint', 'paper', 'parity', 'leaves'} or None, default=None
        Order of the updates; all lead to the same place. 'joint' moves all nodes at once; 'paper',
        and 'leaves' in variational mode, the leaves and then inner nodes level by level from below;
        'parity', in both modes, nodes of odd depth and then of even depth. The default, None, takes
        'joint', or 'leaves' in variational mode.
    fit_intercept : bool, default=True
        Whether to append a constant feature, regularised like any other.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    empty : {'best', 'none'}, default='best'
        What a sample gets, where samples have several labels, if no class scores above 0: 'best',
        its best label, if every training sample had one; 'none', no label.
    warm_start : bool, default=False
        Whether to start from what the last `fit` found. A saved model
        then also holds its rows, so that it can go on by `partial_fit`.
    tol : float, default=0.0001
        Stop when no mean and no logarithm of a precision changes by more in a round; in
        variational mode, when none has more to go, as the last two rounds suggest. The default is
        lower than elsewhere, since it bounds a change and not a gap. In large problems 'map' finds
        the weights to within 10 tol nats per sample only; below 1e-6 exactly.
    max_iter : int, default=1000
        Most rounds over all nodes.
    dtype : {'float32', 'float64'} or None, default=None
        Type to compute in; None takes float32 for large data.
    n_jobs : int or None, default=None
        Threads; None for one, -1 for all cores. The result does not depend on it. They share all
        of variational inference; of partial MAP the precisions, certificates and Newton's steps of
        large data, where otherwise samples are visited one after the other.
    backend : {'serial', 'threads', 'ray'} or None, default=None
        Where the work is done; None for threads, as `n_jobs` says. The result is the same.
    checkpoint : str, Path or None, default=None
        Folder that keeps finished work: a fit that was stopped goes on from there, to the same
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of Monte Carlo probabilities.

    Attributes
    ----------
    mu_ : ndarray of shape (n_nodes, n_features)
        Means of the weights, rows in the order of ``taxonomy_.nodes`` (of `classes_` without a
        taxonomy).
    variance_ : ndarray of shape (n_nodes, n_features)
        Variances of the weights; except in variational mode, by the curvature at the means, which
        is too small, and they too large, for classes that are improbable. `predict_proba` has
        better ones.
    coef_ : ndarray of shape (n_trained, n_features)
        Means of the classes; one row for two exclusive classes without a taxonomy.
    coef_names_ : ndarray of shape (n_trained,)
        The classes that were trained, one for each row of `coef_`.
    intercept_ : ndarray of shape (n_trained,)
        What is added to the scores.
    precision_ : dict
        Expected precision of every owner; in M2 one per feature, that of the constant last.
    lower_bound_ : float
        In variational mode, the bound on the evidence.
    lower_bound_trace_ : list of float
        In variational mode, its course; entry 0 is before the first round.
    objective_ : float
        Log posterior of the weights at the expected precisions, or `lower_bound_`.
    classes_ : ndarray of shape (n_classes,)
        The classes, in the order of the columns of scores.
    taxonomy_ : Taxonomy or None
        The taxonomy.
    n_features_in_ : int
        Number of features.
    n_iter_ : int
        Number of iterations done, in the unit of `max_iter`.
    trace_ : list of dict
        Seconds, objective and gap after each iteration.
    posterior_ : object
        Means, variances and precisions as the solver left them.
    kept_ : object
        The rows so far, in memory, for `partial_fit`; internal.
    held_ : list
        The classes that the last ``partial_fit(only=...)`` left as they were; only after it.
    owners_ : list
        Names of the owners of precisions.
    spread_, dense_, targets_, layout_, seen_, unseen_, unseen_precision_, unseen_variance_ : object
        Variances of the classes' weights for probabilities, the tree of the model and the features
        that occur; internal.

    Examples
    --------
    >>> from linnaeus import HBLR, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.8, 0.3], [0.0, 1.0]]
    >>> model = HBLR(tax, prior=(1.0, 1.0)).fit(X, ["cat", "dog", "oak"])
    >>> model.predict([[0.1, 0.9]])
    array(['oak'], dtype='<U3')
    >>> p, deviation = model.predict_proba([[0.1, 0.9]], return_std=True)
    >>> p.shape, deviation.shape
    ((1, 3), (1, 3))
    """

    limits = Limits(
        model=choice("M1", "M2", "M3"),
        inference=choice("map", "variational", "flat"),
        link=choice("softmax", "binary"),
        prior=choice("fisher", "blr")
        | thing("a pair (a, b)", lambda v: isinstance(v, tuple | list)),
        pool=choice(*hblr_prior.POOLS),
        unit_information=FLAG,
        covariance=choice("auto", "full", "diagonal"),
        schedule=choice(*SCHEDULES[0], "leaves") | NONE,
    )

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        model: str = "M3",
        inference: str = "map",
        link: str = "softmax",
        prior: Any = "fisher",
        *,
        pool: str = "sum",
        unit_information: bool = False,
        covariance: str = "auto",
        schedule: str | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        empty: str = "best",
        warm_start: bool = False,
        tol: float = 1e-4,
        max_iter: int = 1000,
        dtype: Any = None,
        n_jobs: int | None = None,
        backend: str | None = None,
        checkpoint: str | Path | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.model = model
        self.inference = inference
        self.link = link
        self.prior = prior
        self.pool = pool
        self.unit_information = unit_information
        self.covariance = covariance
        self.schedule = schedule
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.empty = empty
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.backend = backend
        self.checkpoint = checkpoint
        self.random_state = random_state

    # -- fitting ----------------------------------------------------------------------------

    def _columns(self, Y: sp.csr_array) -> sp.csr_array:
        return Y

    def _solve(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int,
        past: Any = None, held: Any = None,
    ) -> Posterior:  # fmt: skip
        self._check()
        if self.link == "softmax":
            _targets.the_class(Y, type(self).__name__, 'Use link="binary" for several.')
        n_nodes = 0 if self.taxonomy_ is None else len(self.taxonomy_)
        layout = layout_of(self.targets_, Y.shape[1], n_nodes, self.inference == "flat")
        model = hblr_model.model_of(hblr_model.tree_of(layout.parent, layout.leaves), self.model)
        self.layout_ = layout
        self.owners_ = [layout.names[v] for v in model.owners.tolist()]
        seen = np.flatnonzero(features_of(X, weight))
        self.seen_ = np.append(seen, X.shape[1]) if self._bias() else seen
        if not self.seen_.size:
            raise UserError("All features are 0. Give features that vary, or fit_intercept=True.")
        width = X.shape[1] + bool(self._bias())
        prior = self._prior(model, X[:, seen], Y, weight, width)
        posterior = self._infer(X[:, seen], Y, weight, model, prior, dtype, past, held)
        self.unseen_ = np.setdiff1d(np.arange(width), self.seen_)
        A = hblr_model.unseen_precisions(model, posterior.precisions, prior, self.unseen_)
        self.unseen_precision_, self.unseen_variance_ = A, hblr_model.unseen_variances(model, A)
        self.spread_ = self._spread(model, posterior, X[:, seen], weight)
        self.dense_ = hblr_spread.is_dense(X[:, seen])
        return posterior

    def _spread(self, model: HBLRModel, posterior: Posterior, X: sp.csr_array, weight: Any) -> Any:
        """Variances of the weights of the classes by secants; None where inference gave them."""
        if self.inference == "variational":
            return None
        leaves = model.tree.leaves
        A = hblr_model.expected_precisions(model, posterior.precisions)[leaves]
        return hblr_spread.secant_variances(
            X, posterior.mu[leaves], A, self.link, weight, self._bias()
        )

    def _infer(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, model: HBLRModel, prior: Gamma,
        dtype: Any, past: Any, held: Any,
    ) -> Posterior:  # fmt: skip
        """What the examples say of the features that they have."""
        if prior.rate.shape[1] > self.seen_.size or prior.shape.shape[1] > self.seen_.size:
            prior = Gamma(*(v[:, self.seen_] if v.shape[1] > 1 else v for v in prior))
        nodes = node_keys(self.layout_, self.targets_)
        start = None if past is None else self._start(past, model, prior, nodes)
        options: dict[str, Any] = {
            "link": self.link, "sample_weight": weight, "tol": self.tol, "start": start,
            "max_iter": self.max_iter, "executor": executor(self.n_jobs),
        }  # fmt: skip
        order = self.schedule or SCHEDULES[self.inference == "variational"][0]
        if self.inference != "variational":
            free = None if held is None else free_nodes(model, held < 0, nodes, known_nodes(past))
            return hblr_map.solve(
                X, Y, model, prior, bias=self._bias(), mode=order if free is None else "joint",
                free=free, dtype=dtype, **options,
            )  # fmt: skip
        X = with_constant(X, self._bias())
        kind = self._covariance(X.shape[1], Y.shape[1])
        return hblr_variational.solve(
            X, Y, model, prior, covariance=kind, schedule=order, **options
        )

    def _start(self, past: Any, model: HBLRModel, prior: Gamma, nodes: list[Any]) -> Any:
        """What an earlier fit knew of the weights and precisions of this model."""
        old = known_nodes(past)
        place = {name: v for v, name in enumerate(past.layout_.names)}
        known = hblr_prior.Known(
            past.posterior_, old, past.layout_.leaves,
            [old[place[owner]] for owner in past.owners_], past.seen_,
        )  # fmt: skip
        # a class that has become an inner node is known too
        seen = set(old)
        keys = [("class", k[1]) if k not in seen and ("class", k[1]) in seen else k for k in nodes]
        owners = [keys[v] for v in model.owners.tolist()]
        return hblr_prior.start(known, model, prior, keys, owners, self.seen_)

    def _solve_some(
        self, X: sp.csr_array, Y: sp.csr_array, weight: Any, seed: int, past: Any, held: Any
    ) -> Posterior:
        if self.inference == "variational":
            raise UserError(
                "only cannot be used with inference='variational'. Leave it out, or use 'map'."
            )
        dtype = past.posterior_.mu.dtype
        return self._solve(X, Y, weight, dtype, seed, past, held)

    def _store(self, posterior: Posterior) -> None:
        d, bias = self.n_features_in_, self._bias()
        if not (math.isfinite(posterior.objective) and np.isfinite(posterior.mu).all()):
            raise UserError(f"The objective of HBLR is {posterior.objective}. {TOO_LARGE}")
        self.posterior_ = posterior
        W = posterior.mu[self.layout_.leaves]
        b = bias * W[:, -1] if bias else np.zeros(W.shape[0], W.dtype)
        W = W[:, :-1] if bias else W
        if self.targets_.binary:
            W, b = W[1:] - W[:1], b[1:] - b[:1]
        self.coef_, self.intercept_ = self._all_features(W, d), b
        mean = posterior.precisions.mean
        values = self._wide(mean, self.unseen_precision_) if self.model == "M2" else mean[:, 0]
        self.precision_ = dict(zip(self.owners_, values, strict=True))
        self.objective_, self.n_iter_ = posterior.objective, posterior.n_iter
        self.trace_ = posterior.trace
        if self.inference == "variational":
            self.lower_bound_, self.lower_bound_trace_ = posterior.objective, posterior.bounds
        elif hasattr(self, "lower_bound_"):  # of an earlier fit
            del self.lower_bound_, self.lower_bound_trace_
        if not posterior.converged and not is_interrupted():
            so_far = (
                f"the log posterior of all nodes may still rise by {self.trace_[-1]['gap']:.2g}. "
                f"{self._remedy()}"
                if hasattr(self, "held_")
                else f"means or precisions still moved by more than tol={self.tol:.0e}. "
                "Raise max_iter or tol."
            )
            warnings.warn(
                f"HBLR stopped after {self.n_iter_} rounds, while {so_far}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _check(self) -> None:
        orders = SCHEDULES[self.inference == "variational"]
        if self.schedule is not None and self.schedule not in orders:
            raise UserError(
                f"schedule={self.schedule!r} is not one of inference={self.inference!r}. "
                f"Use {', '.join(map(repr, orders[:-1]))} or {orders[-1]!r}."
            )

    def _covariance(self, d: int, n_classes: int) -> str:
        if self.covariance == "full" and d > REFUSED:
            raise UserError(
                f"Full covariances of {d:,} features are too much. Use covariance='diagonal'."
            )
        if self.covariance != "auto":
            return self.covariance
        return "full" if d <= FULL and n_classes * d * d <= NUMBERS else "diagonal"

    def _prior(self, model: HBLRModel, X: Any, Y: sp.csr_array, weight: Any, width: int) -> Gamma:
        """From the features seen, or as given for all features."""
        if isinstance(self.prior, str):
            return hblr_prior.fisher(
                model, X, Y, bias=self._bias(), sample_weight=weight, pool=self.pool,
                unit_information=self.unit_information,
                weights=self._regressions(X, Y, weight) if self.prior == "blr" else None,
            )  # fmt: skip
        try:
            a, b = self.prior
        except (TypeError, ValueError):
            raise UserError(
                f"prior is {shorten(self.prior)}. Use 'fisher', 'blr' or a pair (a, b)."
            ) from None
        width = width if self.model == "M2" else 1
        shape, rate = (_per_owner(name, value, self.owners_, width)
                       for name, value in (("a", a), ("b", b)))  # fmt: skip
        return Gamma(shape, rate)

    def _regressions(self, X: Any, Y: sp.csr_array, weight: Any) -> np.ndarray:
        """Weights (n_classes, d [+ 1]) of logistic regressions of the classes with C = 1."""
        bias = self._bias()
        found = logistic.solve(
            sp.csr_array(X), Y, bias=bias, sample_weight=weight, dtype=np.float64,
            executor=executor(self.n_jobs),
        )  # fmt: skip
        if not bias:
            return np.asarray(found.coef)
        return np.hstack([found.coef, found.intercept[:, None] / bias])

    # -- what was learned --------------------------------------------------------------------

    @property
    def mu_(self) -> np.ndarray:
        """Means of the weights of every node, of shape (n_nodes, n_features)."""
        return self._of_nodes(self.posterior_.mu, 0.0)

    @property
    def variance_(self) -> np.ndarray:
        """Variances of the weights of every node, of shape (n_nodes, n_features)."""
        return self._of_nodes(self.posterior_.variance, self.unseen_variance_)

    def _of_nodes(self, values: np.ndarray, unseen: Any) -> np.ndarray:
        rows = self.layout_.rows
        unseen = unseen if np.isscalar(unseen) else unseen[rows]
        return self._wide(values[rows], unseen)[:, : self.n_features_in_]

    def _wide(self, values: np.ndarray, unseen: Any) -> np.ndarray:
        """Values of the features seen beside those of the others, (rows, all features)."""
        if not self.unseen_.size:
            return values
        out = np.empty((values.shape[0], self.seen_.size + self.unseen_.size), dtype=values.dtype)
        out[:, self.seen_], out[:, self.unseen_] = values, unseen
        return out

    def _all_features(self, W: np.ndarray, d: int) -> Any:
        """Weights (rows, d), from those of the features seen; sparse if that saves much."""
        seen = self.seen_[self.seen_ < d]
        if seen.size == d:
            return np.ascontiguousarray(W)
        if W.shape[0] * d <= MANY or 4 * seen.size > d:
            out = np.zeros((W.shape[0], d), dtype=W.dtype)
            out[:, seen] = W
            return out
        ends = np.arange(W.shape[0] + 1) * seen.size
        return sp.csr_array((W.ravel(), np.tile(seen, W.shape[0]), ends), shape=(W.shape[0], d))

    def score_moments(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the score w_n.x of every node.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_nodes)
            Means, columns as the rows of `mu_`.
        variance : ndarray of shape (n_samples, n_nodes)
            Variances.
        """
        X = self._checked(X)
        blocks, nodes = self._row_blocks(X.shape[0]), self.layout_.rows
        out = [self._moments(X[rows], nodes, self.posterior_.variance[nodes]) for rows in blocks]
        mean, variance = (np.vstack(part) for part in zip(*out, strict=True))
        return mean, variance

    def predict_proba(
        self, X: Any, method: str = "plugin", return_std: bool = False, n_draws: int = 1000
    ) -> Any:
        """Probabilities, one column for each of `classes_`.

        For label sets a node has what `predict_node_proba` says.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        method : {'plugin', 'probit', 'joint', 'monte_carlo'}, default='plugin'
            'plugin', the means of the weights; 'joint', differences of scores shrunk by how
            uncertain they are; 'probit', single scores shrunk where the curvature at the mode can
            be trusted, else as 'joint'; 'monte_carlo', the mean of `n_draws` draws of the scores.
        return_std : bool, default=False
            Whether to return standard deviations too.
        n_draws : int, default=1000
            Draws of 'monte_carlo' and of the standard deviations.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Probabilities; with one label per sample the rows sum to 1, with binary links as shares
            in the sum of the sigmoids.
        deviation : ndarray of shape (n_samples, n_classes)
            Their standard deviations, with `return_std` only; of nodes that are no classes
            themselves they are not known (nan).
        """
        check_is_fitted(self, "targets_")
        columns, one = self.targets_.columns(), self.targets_.one and not self.targets_.by_path
        p, deviation = self._class_proba(X, method, n_draws, columns.place if one else None)
        if not one:
            p, deviation = self._node_proba(p, columns), _of_classes(deviation, columns)
        return (p, deviation) if return_std else p

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
        return self._class_proba(X, "plugin", 0)[0]

    def predict_node_proba(self, X: Any, method: str = "plugin", n_draws: int = 1000) -> np.ndarray:
        """The probability that a sample belongs to each node.

        It never falls on the way up: with one label per sample it is the sum over the classes
        below, else the probability of at least one of them, which are independent in the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        method : {'plugin', 'probit', 'joint', 'monte_carlo'}, default='plugin'
            As in `predict_proba`.
        n_draws : int, default=1000
            Draws of 'monte_carlo'.

        Returns
        -------
        ndarray of shape (n_samples, n_nodes)
            One column per node of the taxonomy.
        """
        p = self._class_proba(X, method, n_draws)[0]
        return self._node_proba(p, self.targets_.node_columns(self.taxonomy_))

    def _node_proba(self, p: np.ndarray, columns: Columns) -> np.ndarray:
        """Of probabilities of the classes those of nodes."""
        if columns.taxonomy is None:
            return columns.best(p)
        above = columns.taxonomy.ancestor_rows(columns.numbers)[:, columns.place]
        return predictive.node_probabilities(p, above, self._link())

    def _class_proba(
        self, X: Any, method: str, n_draws: int, classes: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of some classes, or of all, and their deviations."""
        X, leaves = self._checked(X), self.layout_.leaves
        chosen = slice(None) if classes is None else classes
        leaves, at_mode = leaves[chosen], self.posterior_.variance[leaves[chosen]]
        spread = getattr(self, "spread_", None)  # models saved by earlier versions have none
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        parts = []
        for rows in self._row_blocks(X.shape[0]):
            m, wide = self._moments(X[rows], leaves, at_mode)
            s = wide
            if spread is not None:
                s = self._moments(X[rows], leaves, spread[chosen], self.dense_)[1]
            parts.append(predictive.probabilities(
                m, s, self._link(), method, rng, n_draws, None if spread is None else wide
            ))  # fmt: skip
        p, deviation = (np.vstack(part) for part in zip(*parts, strict=True))
        return p, deviation

    def _link(self) -> str:
        """From scores to probabilities: with one label per sample they sum to 1."""
        return "shares" if self.link == "binary" and self.targets_.one else self.link

    def _positive(self, scores: np.ndarray) -> sp.csr_array:
        softmax = self.link == "softmax"  # exactly one class is right
        return self._best_alone(scores) if softmax else super()._positive(scores)

    def _moments(
        self, X: Any, nodes: np.ndarray, variance_of: np.ndarray, unseen: bool = True
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the scores of some nodes, given the variances of their weights.

        unseen : whether features that no example has count, as the prior has them
        """
        posterior, X = self.posterior_, with_constant(X, self._bias())
        squares = X.multiply(X).tocsr() if sp.issparse(X) else X * X
        own = squares[:, self.seen_]
        mean = np.asarray(X[:, self.seen_] @ posterior.mu[nodes].T, dtype=np.float64)
        variance = np.asarray(own @ variance_of.T, dtype=np.float64)
        spread = self.unseen_variance_[nodes]
        if not unseen:
            return mean, np.maximum(variance, 0.0)
        if spread.shape[1] > 1:
            variance += squares[:, self.unseen_] @ spread.T
        elif self.unseen_.size:  # the same for all features
            variance += np.outer(squares.sum(axis=1) - own.sum(axis=1), spread)
        if posterior.covariance is not None:
            part = X[:, self.seen_].toarray() if sp.issparse(X) else X[:, self.seen_]
            place = {v: k for k, v in enumerate(self.layout_.leaves.tolist())}
            for j, v in enumerate(nodes.tolist()):
                if v in place:  # what lies off the diagonal
                    full = posterior.covariance[place[v]]
                    off = full - np.diag(np.diag(full))
                    variance[:, j] += np.einsum("ij,ij->i", part @ off, part)
        return mean, np.maximum(variance, 0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.link == "binary"
        return tags


class Layout(NamedTuple):
    """The tree of the model beside the taxonomy."""

    parent: np.ndarray  # of every node of the model; -1 for the root
    leaves: np.ndarray  # nodes of the classes
    names: list[Any]  # of the nodes; None for a root that the taxonomy lacks
    rows: np.ndarray  # the model's node for every node of the taxonomy, or for every class


def layout_of(targets: _targets.Targets, n_classes: int, n_nodes: int, flat: bool) -> Layout:
    """One tree: a common root is put above several, and above a taxonomy of leaves only.

    n_nodes : nodes of the taxonomy; misc leaves have higher numbers
    flat : all classes hang below the root. Inner nodes are then not part of the model, and answer
        with what the root has learned.
    """
    tax = targets.taxonomy
    if tax is None:
        parent = np.append(np.full(n_classes, n_classes), -1)
        everyone = np.arange(n_classes)
        return Layout(parent, everyone, [*targets.names, None], everyone)
    if not tax.is_tree:
        twice = tax.nodes[int(np.argmax(tax.n_parents > 1))]
        raise UserError(
            f"HBLR needs a tree, but {shorten(twice)} has {tax.n_parents.max()} parents. "
            "Use RecursiveLogistic, or a taxonomy in which every node has one parent."
        )
    leaves, parent = np.asarray(targets.nodes, dtype=np.int64), np.array(tax.tree.parent)
    names: list[Any] = list(tax.nodes)
    root = int(tax.root_numbers[0])
    if tax.root_numbers.size > 1 or root in set(leaves.tolist()):
        root = parent.size
        parent = np.append(np.where(parent < 0, root, parent), -1)
        names.append(None)
    rows = np.arange(n_nodes)
    if not flat:
        return Layout(parent, leaves, names, rows)
    kept = np.append(leaves, root)
    place = np.full(parent.size, leaves.size)
    place[leaves] = np.arange(leaves.size)
    star = np.append(np.full(leaves.size, leaves.size), -1)
    return Layout(star, np.arange(leaves.size), [names[v] for v in kept.tolist()], place[rows])


def node_keys(layout: Layout, targets: _targets.Targets) -> list[Any]:
    """What nodes are called from fit to fit: classes by their names, whatever their leaf is."""
    keys: list[Any] = [("node", name) for name in layout.names]
    for j, v in enumerate(layout.leaves.tolist()):
        keys[v] = ("class", targets.names[j])
    return keys


def known_nodes(past: Any) -> list[Any]:
    """The nodes of an earlier fit."""
    return node_keys(past.layout_, past.targets_)


def free_nodes(model: HBLRModel, free: np.ndarray, nodes: list[Any], old: list[Any]) -> np.ndarray:
    """Nodes to be trained: some classes, and new nodes with nothing else below them."""
    known, tree = set(old), model.tree
    out = np.array([key not in known for key in nodes])
    out[tree.leaves] = free
    for level in reversed(tree.levels):
        others = level.sums @ ~out[level.children]
        out[level.nodes] &= others == 0
    return out


def _of_classes(values: np.ndarray, columns: Columns) -> np.ndarray:
    """The values of the classes in the columns of their own nodes, nan in others."""
    if columns.taxonomy is None:
        return columns.best(values)
    out = np.full((len(values), len(columns.taxonomy)), np.nan)
    out[:, columns.numbers] = values
    return np.asarray(out[:, columns.place])


def features_of(X: sp.csr_array, weight: Any) -> np.ndarray:
    """Whether some example with weight has each feature."""
    if weight is not None and not (weight > 0).all():
        X = X[weight > 0]
    return np.asarray(np.bincount(X.indices, minlength=X.shape[1]) > 0)


def with_constant(X: Any, bias: float) -> Any:
    """X with the constant feature, if there is one, as its last column."""
    if not bias:
        return X
    column = np.full((X.shape[0], 1), bias, dtype=X.dtype)
    if sp.issparse(X):
        return sp.csr_array(sp.hstack([X, sp.csr_array(column)]))
    return np.hstack([X, column])


def _per_owner(name: str, value: Any, owners: list[Any], width: int) -> np.ndarray:
    """A hyper-parameter as an array (n_owners, 1 or width)."""
    if isinstance(value, Mapping):
        missing = [v for v in owners if v not in value]
        if missing:
            raise UserError(
                f"The prior's {name} has no value for {shorten(missing[0])}. "
                f"Give one for each of {shorten(owners)}."
            )
        rows = [np.atleast_1d(np.asarray(value[v], dtype=float)) for v in owners]
    else:
        rows = [np.atleast_1d(np.asarray(value, dtype=float))] * len(owners)
    wide = max((row.size for row in rows), default=1)
    for owner, row in zip(owners, rows, strict=True):
        if row.size not in (1, width) or row.ndim != 1:
            raise UserError(
                f"The prior's {name} of {shorten(owner)} has {row.size} values. "
                f"Use one{f', or {width}' if width > 1 else ''}."
            )
        if not all(v > 0 and math.isfinite(v) for v in row.tolist()):
            raise UserError(
                f"The prior's {name} of {shorten(owner)} is {shorten(row.tolist())}. "
                "Use positive numbers."
            )
    return np.array([np.broadcast_to(row, wide) for row in rows])
