"""Spans that suites send over OTLP become trajectories of their cases."""
