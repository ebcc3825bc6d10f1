"""The label `scoregate: skip`: a pull request without a run."""
