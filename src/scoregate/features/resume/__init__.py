"""Resume a run that did not finish: its results are reused."""
