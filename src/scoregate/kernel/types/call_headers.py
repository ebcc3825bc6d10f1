"""The headers by which a call of a model names the suite, case and evaluator that make it, for the gateway of a run."""

from __future__ import annotations

from urllib.parse import quote

from scoregate.kernel.types.usage import UsageMeter

# Set for suites by the host that runs a gateway.
ADDRESS_VARIABLE = "SCOREGATE_GATEWAY_URL"
SUITE, CASE, REPEAT, EVALUATOR = (f"x-scoregate-{name}" for name in ("suite", "case", "repeat", "evaluator"))
COUNTED = "x-scoregate-counted"


def describe_origin(meter: UsageMeter) -> dict[str, str]:
    """The headers of a call that counts for a meter; without those that are unknown."""
    names = {SUITE: meter.suite, CASE: meter.case, EVALUATOR: meter.evaluator}
    return {REPEAT: str(meter.repeat), **{header: quote(name) for header, name in names.items() if name}}
