"""The correlated multinomial logit: a Bayesian softmax model over a tree, by MCMC.

    p(k | x) = softmax_k(w_k.x),  w_k = sum of phi_n over the path to k,
    phi_n ~ N(0, 1/alpha_parent(n)),  alpha ~ Gamma(a, b)

[Shahbaba2007]; corrMNL in Table VII of [GopalYang2015]. `linnaeus.solvers.bayes.corrmnl` has the
sampler.
"""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning

from linnaeus.estimators._multiclass import Exclusive
from linnaeus.execution import executor
from linnaeus.parameters import COUNT, FUNCTION, NONE, POSITIVE, SHARE, Limits, whole
from linnaeus.solvers.bayes import corrmnl
from linnaeus.solvers.bayes.hblr_model import ClassTree, tree_of
from linnaeus.solvers.numerics import hmc
from linnaeus.taxonomy import Taxonomy

RHAT = 1.05  # above it chains disagree
ESS = 100  # independent draws that an answer should rest on


class CorrelatedMNL(Exclusive):
    """Probabilities of classes averaged over draws from the posterior. For small data only.

    The weights of a class are the sum of increments along its path, so classes that share a path
    have correlated weights. An iteration costs some 10 gradients of the whole data: 10,000 samples
    with 80 features and 63 classes take minutes. More than 100,000 increments are refused: use
    `HBLR` with model="M1", whose posterior is an approximation of this one.

    Warns where an R-hat is above 1.05 or an effective sample size below 100.

    Parameters
    ----------
    taxonomy : Taxonomy or None, default=None
        A tree or forest, whose leaves are the classes; None for the labels that occur.
    a : float, default=2.0
        Shape of the Gamma prior of every precision (`HBLR` takes ``prior=(a, b)``); with a <= 1
        increments have an infinite variance, and chains mix badly where classes can be separated.
    b : float, default=1.0
        Rate of the Gamma prior.
    n_samples : int, default=1500
        Iterations that are kept, of each chain: samples of the posterior, not of the data.
    n_burn_in : int, default=1000
        Iterations before these, in which the sampler is tuned.
    n_chains : int, default=2
        Chains that start independently.
    target_acceptance : float, default=0.8
        What the step is tuned to.
    fit_intercept : bool, default=True
        Whether to append a constant feature, regularised like any other.
    intercept_scaling : float, default=1.0
        Size of the constant feature.
    callback : callable or None, default=None
        Called with the iterations done and those to do, now and then.
    n_jobs : int or None, default=None
        Threads over chains; None for one, -1 for all cores. The result does not depend on it.
    checkpoint : str, Path or None, default=None
        Folder that keeps the state from time to time: a fit that was stopped goes on from there, to
        the same result.
    random_state : int, RandomState instance or None, default=None
        Seed of everything that is drawn.

    Attributes
    ----------
    coef_ : ndarray of shape (n_trained, n_features)
        Posterior means of the weights; one row for two exclusive classes without a taxonomy.
    coef_names_ : ndarray of shape (n_trained,)
        The classes that were trained, one for each row of `coef_`.
    intercept_ : ndarray of shape (n_trained,)
        What is added to the scores.
    precision_ : dict
        Posterior mean of the precision of the children of each inner node; None stands for the
        node above several roots.
    draws_ : ndarray of shape (n_draws, n_trained, rank)
        Draws of the weights, chain after chain, in the directions of `basis_`; predictions are
        means over these. All that are made or, if these are more than 20 million numbers, as many
        as that allows, evenly spaced.
    basis_ : ndarray of shape (n_features + fit_intercept, rank)
        The directions.
    monte_carlo_error_ : float
        Largest standard error of a probability that comes of the finite number of draws, over up to
        100 training samples; for others see ``predict_proba(X, return_error=True)``.
    rhat_, ess_ : dict
        R-hat and effective sample size of 'log_likelihood', 'log_precision' and 'coef' (up to 200
        weights, evenly chosen); [Vehtari2021].
    acceptance_, divergences_ : ndarray of shape (n_chains,)
        After the burn-in.
    n_gradients_ : int
        Gradients of all chains.
    n_iter_ : int
        Iterations of each chain.
    classes_ : ndarray of shape (n_classes,)
        The classes, in the order of the columns of scores.
    taxonomy_ : Taxonomy or None
        The taxonomy.
    n_features_in_ : int
        Number of features.
    targets_ : object
        How labels become columns and back; internal.

    Examples
    --------
    >>> from linnaeus import CorrelatedMNL, Taxonomy
    >>> tax = Taxonomy.from_edges([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> X = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]] * 5
    >>> model = CorrelatedMNL(tax, n_samples=800, n_burn_in=400, random_state=0)
    >>> model.fit(X, ["cat", "dog", "oak"] * 5).predict([[-0.9, -0.8]])
    array(['oak'], dtype='<U3')
    """

    limits = Limits(
        a=POSITIVE,
        b=POSITIVE,
        n_samples=whole(8),  # to compare halves
        n_burn_in=COUNT,
        n_chains=COUNT,
        target_acceptance=SHARE,
        callback=FUNCTION | NONE,
    )

    def __init__(
        self,
        taxonomy: Taxonomy | str | None = None,
        a: float = 2.0,
        b: float = 1.0,
        n_samples: int = 1500,
        n_burn_in: int = 1000,
        n_chains: int = 2,
        *,
        target_acceptance: float = 0.8,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        callback: Any = None,
        n_jobs: int | None = None,
        checkpoint: str | Path | None = None,
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.a = a
        self.b = b
        self.n_samples = n_samples
        self.n_burn_in = n_burn_in
        self.n_chains = n_chains
        self.target_acceptance = target_acceptance
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.callback = callback
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.random_state = random_state

    # -- fitting ----------------------------------------------------------------------------

    def _dtype(self, X: sp.csr_array) -> Any:
        return np.dtype(np.float64)

    def _solve(self, X: sp.csr_array, Y: sp.csr_array, weight: Any, dtype: Any, seed: int) -> Any:
        t, K = self._one_class(Y), Y.shape[1]
        grown = self.targets_.taxonomy or Taxonomy.flat(range(K))
        tree = rooted(grown)
        d = X.shape[1] + bool(self._bias())
        corrmnl.check_size(X.shape[0], d, tree.n_nodes - 1, K)
        data = corrmnl.reduce(X, t, self._bias(), weight)
        self.basis_ = data.basis
        names: Any = self.targets_.names if self.targets_.taxonomy is None else grown.nodes
        inner = np.unique(tree.parent[tree.parent >= 0]).tolist()
        owners = [names[v] if v < len(grown) else None for v in inner]
        plan = corrmnl.Plan(
            int(self.n_burn_in), int(self.n_samples), int(self.n_chains), self.target_acceptance
        )
        found = corrmnl.sample(
            data, tree, (self.a, self.b), plan, seed=seed, executor=executor(self.n_jobs),
            callback=self.callback,
        )  # fmt: skip
        return found, owners, corrmnl.largest_error(data, found.draws, plan.n_chains)

    def _store(self, solution: tuple[corrmnl.Posterior, list[Any], float]) -> None:
        found, owners, self.monte_carlo_error_ = solution
        W = found.mean @ self.basis_.T
        W = W[1:] - W[:1] if self.targets_.binary else W
        bias = self._bias()
        self.coef_ = np.ascontiguousarray(W[:, :-1] if bias else W)
        self.intercept_ = W[:, -1] * bias if bias else np.zeros(len(W))
        self.draws_ = found.draws
        self.precision_ = dict(zip(owners, found.precision.tolist(), strict=True))
        self.acceptance_, self.divergences_ = found.acceptance, found.divergences
        self.n_gradients_ = found.n_gradients
        self.n_iter_ = int(self.n_burn_in) + int(self.n_samples)
        self.rhat_ = {name: hmc.rhat(draws) for name, draws in found.watched.items()}
        self.ess_ = {name: hmc.ess(draws) for name, draws in found.watched.items()}
        self._warn()

    def _warn(self) -> None:
        """Say where the chains are not to be trusted."""
        rhat = max(float(np.nanmax(v)) for v in self.rhat_.values() if np.isfinite(v).any())
        ess = min(float(np.nanmin(v)) for v in self.ess_.values() if np.isfinite(v).any())
        if rhat > RHAT or ess < ESS:
            warnings.warn(
                f"The chains of CorrelatedMNL have an R-hat of up to {rhat:.3f} (should be below "
                f"{RHAT}) and an effective sample size of as few as {ess:.0f} (should be above "
                f"{ESS}), with {self.divergences_.sum()} divergences; probabilities have "
                f"Monte Carlo errors of up to {self.monte_carlo_error_:.2g}. Raise n_burn_in and "
                f"n_samples, or scale the features to a range near 1.",
                ConvergenceWarning,
                stacklevel=4,
            )

    # -- answers ----------------------------------------------------------------------------

    def predict_proba(self, X: Any, return_error: bool = False) -> Any:
        """Probabilities, one column for each of `classes_`.

        With one label per sample they sum to 1. For label sets a node has the sum over the classes
        at or below it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            One row per sample.
        return_error : bool, default=False
            Whether to return Monte Carlo errors too.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Means over the draws.
        error : ndarray of shape (n_samples, n_classes)
            Their standard errors, by means of batches of draws; with `return_error` only.
        """
        p = super().predict_proba(X)
        if not return_error:
            return p
        part, means = copy.copy(self), []
        for batch in hmc.batches(len(self.draws_), int(self.n_chains)):
            part.draws_ = self.draws_[batch]
            means.append(super(CorrelatedMNL, part).predict_proba(X))
        return p, hmc.batch_error(means)

    def _scores(self, X: Any) -> np.ndarray:
        """Logarithms of the mean probabilities; the log odds alone for two exclusive classes."""
        bias = self._bias()
        Z = np.asarray(X @ (self.basis_[:-1] if bias else self.basis_))
        Z = Z + bias * self.basis_[-1] if bias else Z
        total = np.full((Z.shape[0], self.draws_.shape[1]), -np.inf)
        for W in self.draws_:
            np.logaddexp(total, log_softmax(Z @ W.T, axis=1), out=total)
        total -= np.log(len(self.draws_))
        return total[:, [1]] - total[:, [0]] if self.targets_.binary else total


def rooted(taxonomy: Taxonomy) -> ClassTree:
    """The tree of a taxonomy, with one more node above its roots unless there is a single one."""
    parent, roots = taxonomy.tree.parent.astype(np.int64), taxonomy.root_numbers
    if roots.size > 1 or taxonomy.n_children[roots[0]] == 0:
        parent[roots] = len(taxonomy)
        parent = np.append(parent, -1)
    return tree_of(parent, taxonomy.leaf_numbers)
