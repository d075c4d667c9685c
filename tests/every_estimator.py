"""Every public estimator and decision, found by itself, and small data for all of them."""

import inspect

import numpy as np

import linnaeus
from linnaeus import FlatLogistic, Taxonomy, decisions

QUICK = {"CorrelatedMNL": {"n_burn_in": 20, "n_samples": 20, "n_chains": 1}}
TAX = Taxonomy.from_edges([("r", "A"), ("r", "B"), ("A", "a1"), ("A", "a2"), ("B", "b1")])


def _fitting(module):
    found = [getattr(module, name) for name in module.__all__]
    return [kind for kind in found if isinstance(kind, type) and hasattr(kind, "fit")]


ESTIMATORS = _fitting(linnaeus)
DECISIONS = [kind for kind in _fitting(decisions) if inspect.signature(kind).parameters]
EVERY = [*ESTIMATORS, *DECISIONS]


def make(kind, taxonomy=TAX, **parameters):
    """An estimator that is quick to fit; a decision around one; unknown parameters left out."""
    known = kind().get_params(deep=False)
    parameters = {"random_state": 0} | QUICK.get(kind.__name__, {}) | parameters
    if kind in DECISIONS:
        parameters = {"estimator": FlatLogistic(taxonomy), "cv": 2} | parameters
    return kind(taxonomy=taxonomy, **{k: v for k, v in parameters.items() if k in known})


def examples(names=TAX.leaves, n=30, d=6, seed=0):
    """Groups of rows that are easy to tell, and the name of each row's group in a list."""
    rng = np.random.default_rng(seed)
    label = np.resize(np.arange(len(names)), n)
    X = 3 * rng.normal(size=(len(names), d))[label] + rng.normal(size=(n, d))
    return X, [names[j] for j in label]
