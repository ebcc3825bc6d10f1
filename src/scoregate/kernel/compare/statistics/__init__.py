"""Tests, intervals and distributions, for pairs of numbers."""
