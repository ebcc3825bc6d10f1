"""Which cases of a project a command runs."""
