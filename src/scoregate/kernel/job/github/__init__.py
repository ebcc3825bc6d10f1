"""GitHub: the job's context, the REST API, and workflow commands in the log."""
