"""`alert`: reports scores of the base branch that got worse."""
