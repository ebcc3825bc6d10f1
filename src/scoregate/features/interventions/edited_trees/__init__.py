"""Copies of the work tree with edits, and the runs of suites in them."""
