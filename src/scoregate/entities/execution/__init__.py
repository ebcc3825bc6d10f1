"""Running tests against what is under test: as a suite like any other, here and now."""
