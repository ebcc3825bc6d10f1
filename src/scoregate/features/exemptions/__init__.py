"""Accepted regressions and the quarantine: what reports say about them."""
