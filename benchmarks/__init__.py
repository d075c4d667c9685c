"""Measurements: every `bench_*.py` has a `main()` that prints a table of ratios."""
