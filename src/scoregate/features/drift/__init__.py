"""`drift_control`: what providers changed since the base's run."""
