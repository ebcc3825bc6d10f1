"""`gateway`: the calls of models that it counted."""
