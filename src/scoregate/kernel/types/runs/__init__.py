"""Runs: what suites measured, in columns, and the policy that they are checked against."""
