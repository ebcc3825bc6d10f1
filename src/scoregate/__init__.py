"""Evals as a gate on pull requests."""

__version__ = "0.1.0"
