"""The verbs of ``python -m benchmarks``."""
