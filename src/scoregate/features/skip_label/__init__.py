"""The label that lets a pull request pass without a run."""
