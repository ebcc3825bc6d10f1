"""The wing that runs on the host: find suites, launch them, record, compare, judge, report."""
