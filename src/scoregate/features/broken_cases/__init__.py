"""`fail_on_broken_cases`: cases that always passed in the base, and fail in fresh trials of both sides."""
