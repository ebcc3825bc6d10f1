"""Records which files suites depend on, and finds what changed."""
