"""`scoregate mutate`: edits parts of prompts and data, one at a time, and measures whether the evals notice."""
