"""Slices: the scores of parts of a suite, such as one language."""
