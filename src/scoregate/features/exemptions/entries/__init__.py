"""Accepted regressions and quarantined cases: their files, and which of their entries count."""

from scoregate.features.exemptions.entries.load import load_exemptions, load_job_exemptions, read_tree_exemptions

__all__ = ["load_exemptions", "load_job_exemptions", "read_tree_exemptions"]
