"""Converts the configurations of other frameworks into suites of scoregate."""
