"""Recordings: each function of these modules makes a small project and runs commands in it.

The docstring of a function becomes the line `about` of its world. `tests.golden.record_runs` calls them all.
"""
