"""The run of suites: find them, plan, launch, record."""
