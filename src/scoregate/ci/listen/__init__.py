"""Hear what foreign SDKs say of their suites: their calls become events."""
