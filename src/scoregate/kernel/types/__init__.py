"""Types, comparison, statistics and gate rules that the SDK side and the CI side share; no input, output or clock."""
