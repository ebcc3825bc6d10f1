"""Execution of tests against an endpoint, as a suite."""
