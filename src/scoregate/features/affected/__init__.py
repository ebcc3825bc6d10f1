"""`affected`: only suites that a change can affect run."""
