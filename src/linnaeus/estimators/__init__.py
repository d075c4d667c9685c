"""Estimators: validate, build, solve, store."""
