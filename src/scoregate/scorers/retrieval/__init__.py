"""Scorers for answers that rest on retrieved passages: with a model, and on the ids of passages without one."""
