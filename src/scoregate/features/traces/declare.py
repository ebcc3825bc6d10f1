"""The setting `otlp_receiver`."""

from __future__ import annotations

from scoregate.kernel.types.declarations.declaration import FLAG, Feature, Setting

OTLP_RECEIVER = Setting(
    "otlp_receiver",
    FLAG,
    False,
    """Receive spans that suites in any language send over OTLP: `OTEL_EXPORTER_OTLP_ENDPOINT` is set for them. Spans
    whose attribute `scoregate.case` names a case become its trajectory. An endpoint of your own gets no spans then, but
    still metrics and logs.
    """,
    "What runs",
    after="base_runs",
    condition=bool,
)
FEATURE = Feature("traces", settings=(OTLP_RECEIVER,))
