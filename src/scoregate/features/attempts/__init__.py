"""Attempts at the same code are repeats: the verdict of a job that is run again counts the earlier ones, too."""
