"""The kernel: it runs suites, compares, judges and reports, and knows no feature."""
