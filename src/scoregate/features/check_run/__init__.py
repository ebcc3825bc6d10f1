"""A check on the commit that a job measures."""
