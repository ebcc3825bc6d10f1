"""Keep the processes of suites apart: an account for each, a workspace that they share, files that none may touch."""
