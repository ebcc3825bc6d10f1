"""What a run will cost: estimates from the base's run, the limit before the run, and models that retire."""
