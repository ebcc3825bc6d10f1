"""Run one suite in this process and write its events."""
