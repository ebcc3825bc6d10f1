"""Arms: suites that run with a skill or another file for agents, and without it."""
