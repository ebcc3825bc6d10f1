"""Results as events and metrics of OpenTelemetry, sent to a collector."""
