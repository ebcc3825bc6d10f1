"""Costs: what the run used, was expected to use, and what has no price."""
