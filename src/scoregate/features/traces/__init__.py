"""`otlp_receiver`: spans that suites send over OTLP, as trajectories of their cases."""
