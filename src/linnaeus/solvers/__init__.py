"""Optimisers over plain arrays: a problem, a step, and a certificate for each."""
