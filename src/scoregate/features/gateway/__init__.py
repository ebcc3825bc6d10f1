"""`gateway`: a proxy between suites and the providers of models, and what it counted."""
