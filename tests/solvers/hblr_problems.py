"""A plain transcription of variational HBLR, and problems, for its tests."""

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, psi

from linnaeus.solvers.bayes import hblr_variational as variational
from linnaeus.solvers.bayes.hblr_model import Gamma, model_of, tree_of

DEEP = [-1, 0, 0, 1, 1, 2, 2, 2, 4, 4]  # leaves at depths 2 and 3
LEAVES = [3, 5, 6, 7, 8, 9]
FIXED = 1e7  # shape and rate of a precision that cannot move


def lam(xi):
    return np.where(xi > 1e-6, np.tanh(xi / 2) / (4 * np.maximum(xi, 1e-6)), 0.125)


class Twin:
    """The updates and the bound as they are written, node by node; slips can be put back."""

    def __init__(self, X, Y, model, prior, link, weight=None, slip=None):
        self.X, self.Y, self.model, self.prior, self.slip = X, Y, model, prior, slip
        tree, (self.n, self.d) = model.tree, X.shape
        self.parent, self.leaves, self.root = tree.parent, tree.leaves, tree.root
        self.softmax, self.K = link == "softmax", len(tree.leaves)
        self.c = np.ones(self.n) if weight is None else weight
        self.width = self.d if model.by_feature else 1
        n_nodes = tree.n_nodes
        self.mu = np.zeros((n_nodes, self.d))
        self.Psi = np.tile(np.eye(self.d), (n_nodes, 1, 1))
        self.tau = np.broadcast_to(prior.shape, (len(model.owners), self.width)).copy()
        self.nu = np.broadcast_to(prior.rate, self.tau.shape).copy()
        self.beta, self.xi = np.zeros(self.n), np.ones((self.n, self.K))
        self.examples()

    def examples(self):
        self.update_xi()
        if self.softmax:
            self.update_beta()
            self.update_xi()

    def A(self, v):
        if v == self.root:
            return np.ones(self.d)
        o = self.model.owner[v]
        return np.broadcast_to(self.tau[o] / self.nu[o], self.d)

    def children(self, v):
        return np.flatnonzero(self.parent == v)

    def scores(self):
        m = self.X @ self.mu[self.leaves].T
        Psi = [self.Psi[v] for v in self.leaves]
        if self.slip == "xi":  # a precision instead of the variance
            Psi = [np.diag(self.A(v)) for v in self.leaves]
        return m, np.stack([((self.X @ P) * self.X).sum(axis=1) for P in Psi], axis=1)

    def update_xi(self):
        m, s = self.scores()
        self.xi = np.sqrt((m - self.beta[:, None]) ** 2 + s)

    def update_beta(self):
        m, L = self.scores()[0], lam(self.xi)
        self.beta = (0.5 * (self.K / 2 - 1) + (L * m).sum(axis=1)) / L.sum(axis=1)

    def update_node(self, v):
        above = self.A(v) * self.mu[self.parent[v]] if v != self.root else np.zeros(self.d)
        if v in self.leaves:
            k = list(self.leaves).index(v)
            L = self.c * lam(self.xi[:, k])
            inverse = 2 * self.X.T @ np.diag(L) @ self.X + np.diag(self.A(v))
            pull = self.X.T @ (self.c * (self.Y[:, k] - 0.5) + 2 * L * self.beta) + above
        else:
            inverse = np.diag(self.A(v) + sum(self.A(c) for c in self.children(v)))
            pull = above + sum(self.A(c) * self.mu[c] for c in self.children(v))
        self.Psi[v] = np.linalg.inv(inverse)
        self.mu[v] = self.Psi[v] @ pull

    def Q(self, v):
        p = self.parent[v]
        return np.diag(self.Psi[v]) + np.diag(self.Psi[p]) + (self.mu[v] - self.mu[p]) ** 2

    def update_owner(self, o):
        below = np.flatnonzero(self.model.owner == o)
        Q = np.array([self.Q(v) for v in below])
        half = 1.0 if self.slip == "nu" else 0.5
        sums = Q.sum(axis=0) if self.width > 1 or self.model.by_feature else Q.sum()
        self.tau[o] = self.prior.shape[o] + 0.5 * Q.size / self.width
        self.nu[o] = self.prior.rate[o] + half * sums

    def blocks(self):
        """Every single update of a sweep, in order."""
        nodes = sorted(range(len(self.mu)), key=lambda v: -self.model.tree.depth[v])
        for v in [*self.leaves, *(v for v in nodes if v not in self.leaves)]:
            yield f"node {v}", lambda v=v: self.update_node(v)
        for o in range(len(self.tau)):
            yield f"owner {o}", lambda o=o: self.update_owner(o)
        yield "xi", self.update_xi
        if self.softmax:
            yield "beta", self.update_beta
            yield "xi again", self.update_xi

    def sweep(self):
        for _, update in self.blocks():
            update()

    def likelihood(self):
        m = self.X @ self.mu[self.leaves].T
        s = np.einsum("ij,njk,ik->in", self.X, self.Psi[self.leaves], self.X)
        z, xi = m - self.beta[:, None], self.xi
        B = (z - xi) / 2 + lam(xi) * (z**2 + s - xi**2) + np.logaddexp(0, xi)
        return float(self.c @ ((self.Y * m - B).sum(axis=1) - self.beta))

    def divergence(self):
        """E log p - E log q of weights and precisions, term by term."""
        d, total = self.d, 0.0
        for v in range(len(self.mu)):
            total += 0.5 * d * (1 + np.log(2 * np.pi)) + 0.5 * np.linalg.slogdet(self.Psi[v])[1]
            if v == self.root:
                total -= 0.5 * d * np.log(2 * np.pi)
                total -= 0.5 * (np.trace(self.Psi[v]) + self.mu[v] @ self.mu[v])
            else:
                o = self.model.owner[v]
                logs = np.broadcast_to(psi(self.tau[o]) - np.log(self.nu[o]), d)
                total += 0.5 * (logs - np.log(2 * np.pi) - self.A(v) * self.Q(v)).sum()
        a = np.broadcast_to(self.prior.shape, self.tau.shape)
        b, t, u = np.broadcast_to(self.prior.rate, a.shape), self.tau, self.nu
        total += (a * np.log(b) - gammaln(a) + (a - 1) * (psi(t) - np.log(u)) - b * t / u).sum()
        return total + float((t - np.log(u) + gammaln(t) + (1 - t) * psi(t)).sum())

    def bound(self):
        return self.likelihood() + self.divergence()


def problem(kind="M3", link="softmax", seed=0, n=30, d=3, parent=DEEP, leaves=LEAVES, a=2.0, b=1.0):
    rng = np.random.default_rng(seed)
    model = model_of(tree_of(parent, leaves), kind)
    X = rng.normal(size=(n, d))
    y = rng.integers(0, len(leaves), n)
    Y = np.eye(len(leaves))[y]
    X += Y @ rng.normal(size=(len(leaves), d))
    if link == "binary":
        Y = np.maximum(Y, rng.random(Y.shape) < 0.2)
    ones = np.ones((len(model.owners), 1))
    return X, Y, model, Gamma(a * ones, b * ones)


def infer(X, Y, model, prior, **options):
    options = {"tol": -1.0, "max_iter": 30, "check": True, **options}
    return variational.solve(X, sp.csr_array(Y), model, prior, **options)
