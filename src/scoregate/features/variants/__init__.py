"""Variants: rankings of suites that ran with several tasks or parameters."""
