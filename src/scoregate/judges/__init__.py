"""Judges with versions: prompts and code that score examples, kept in the repository."""
