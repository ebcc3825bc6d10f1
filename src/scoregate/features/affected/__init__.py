"""Run only the suites that a change can affect; the others keep the results of the base's run."""
