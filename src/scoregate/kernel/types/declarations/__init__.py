"""Declarations: rules, limits and settings as data, and the types of settings. What applies them is elsewhere."""
