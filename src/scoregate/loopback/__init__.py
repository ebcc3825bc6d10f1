"""Pages of this machine alone: who is let in, and the server."""
