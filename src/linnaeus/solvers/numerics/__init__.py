"""What every family of solvers is built from: examples as arrays, elimination, Newton steps."""
