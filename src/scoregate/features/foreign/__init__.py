"""Suites of other SDKs, which report to a local server."""
