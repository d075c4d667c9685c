"""Losses of margins with their conjugates, for second-order steps on all classes at once.

Every loss c loss(z) has multipliers a = -c loss'(z) and a gain: a - conj(a) for the hinges, the
entropy c H(a / c) for the logistic loss. Arrays are (n_classes, n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from scipy.special import entr, expit

from linnaeus.solvers.numerics.gram import Values


class MarginLoss(ABC):
    """A loss, its multipliers and their curvature; the last two where it is smooth."""

    smooth: ClassVar[bool] = True
    bounded: ClassVar[bool] = True  # whether multipliers are at most c

    @abstractmethod
    def value(self, c: Values, z: Values) -> float:
        """sum c loss(z)"""

    @abstractmethod
    def gain(self, c: Values, A: Values) -> float:
        """The least of sum c loss(z) + a z over all z."""

    def multipliers(self, c: Values, z: Values) -> Values:
        """-c loss'(z)"""
        return np.where(z < 1.0, c, 0.0)

    def curvature(self, c: Values, A: Values) -> Values:
        """c loss''(z) where z has these multipliers."""
        return np.zeros_like(A)


class Hinge(MarginLoss):
    """max(0, 1 - z)"""

    smooth = False

    def value(self, c: Values, z: Values) -> float:
        return float(np.vdot(c, np.maximum(0.0, 1.0 - z)))

    def gain(self, c: Values, A: Values) -> float:
        return float(A.sum())


class SquaredHinge(MarginLoss):
    """max(0, 1 - z)^2"""

    bounded = False

    def value(self, c: Values, z: Values) -> float:
        return float(np.vdot(c, np.maximum(0.0, 1.0 - z) ** 2))

    def gain(self, c: Values, A: Values) -> float:
        return float(A.sum()) - 0.25 * float(np.vdot(A, A / c))

    def multipliers(self, c: Values, z: Values) -> Values:
        return np.asarray(2.0 * c * np.maximum(0.0, 1.0 - z))

    def curvature(self, c: Values, A: Values) -> Values:
        return np.where(A > 0, 2.0 * c, 0.0)


class Logistic(MarginLoss):
    """log(1 + exp(-z))"""

    def value(self, c: Values, z: Values) -> float:
        return float(np.vdot(c, np.logaddexp(0.0, -z)))

    def gain(self, c: Values, A: Values) -> float:
        share = A / c
        return float(np.vdot(c, entr(share) + entr(1.0 - share)))

    def multipliers(self, c: Values, z: Values) -> Values:
        return np.asarray(c * expit(-z))

    def curvature(self, c: Values, A: Values) -> Values:
        return np.asarray(A * (1.0 - A / c))


LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "logistic": Logistic()}
