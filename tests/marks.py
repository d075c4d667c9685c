"""Marks of tests."""

import pytest


def slow(*values):
    """Values of parameters that are tried by `make test-slow` only."""
    return pytest.param(*values, marks=pytest.mark.slow)
