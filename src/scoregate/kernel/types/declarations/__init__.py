"""Declarations: rules, limits and settings as data. What applies them is elsewhere, so these modules are light."""
