"""`measure_again`: before a gate on scores fails, its suites run again, here and in the base."""
