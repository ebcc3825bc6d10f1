"""Sources of the baseline, the run that a run is compared with: one module for each."""
