"""Where a run's suites are executed: on this machine, or in parts on the workers of a cluster."""
