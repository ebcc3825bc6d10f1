"""The comparison of a run with its baseline."""
