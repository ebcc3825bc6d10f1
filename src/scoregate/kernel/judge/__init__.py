"""The judgement of a run: its settings, its policy, and the folder that it is read from."""
