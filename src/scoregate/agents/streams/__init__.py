"""The event streams of agents' command lines: one module for each format."""
