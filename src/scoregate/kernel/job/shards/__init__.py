"""Shards: a plan divided among jobs, each of which runs a part, and their results merged into one run."""
