"""Reports of a verdict: pure functions from a ReportView to text."""
