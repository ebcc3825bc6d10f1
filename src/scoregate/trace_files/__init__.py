"""Exported traces of production systems, as rows that people review before they become cases."""
