"""`drift_control`: cases of the base, asked again, show how far the provider of a model moved."""
