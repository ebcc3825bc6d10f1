"""A kit."""
