"""Accepted regressions and the quarantine: their entries, which cases count, and what reports say."""
