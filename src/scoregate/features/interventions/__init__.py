"""Edits of the work tree that are run and compared with it: `scoregate mutate` and `scoregate blame`."""
