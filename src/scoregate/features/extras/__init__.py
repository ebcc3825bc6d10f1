"""`repeats = "auto"`: more trials of the cases that leave a comparison undecided."""
