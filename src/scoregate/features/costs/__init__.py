"""Costs: what a run is expected to use, whether its budget suffices, and what it used."""
