"""Find what holds suites, by reading only: nothing is imported, nothing is run."""
