"""Run one suite in this process, and say what happens."""
