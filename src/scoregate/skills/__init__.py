"""Suites of skills and other files for agents: the same cases with and without them."""
