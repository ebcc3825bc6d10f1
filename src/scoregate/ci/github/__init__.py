"""GitHub: what a workflow tells of itself, its REST API, and the commands that its log understands."""
