"""Items for the tests of the store."""

from __future__ import annotations

from hypothesis import strategies as st

from scoregate.kernel.types.evaluation import EvaluationOverride, EvaluationOverrideComment, EvaluationOverrideField
from scoregate.store import Override, Verdict, Winner


def correction(output: str, *, judge: float = 0.0, person: float = 1.0, given: str = "hi") -> EvaluationOverride:
    return EvaluationOverride(
        judge,
        person,
        [EvaluationOverrideField("input", "input", given)],
        [EvaluationOverrideField("output", "output", output)],
    )


# Everything that a text can be but half a surrogate pair, with what formats trip over more often than chance has it.
NASTY = st.sampled_from(
    ["", "'", "''=", "=1+1", "'-", "@x", "\r", "\r\n", "\n", '"', '""', ",", ";", "\t", "\x00", "\x1b[31m", "\ufeff"]
)
TEXTS = st.lists(NASTY | st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=3).map("".join)
SCORES = st.floats(0, 1)
_FIELDS = st.lists(st.builds(EvaluationOverrideField, TEXTS, TEXTS, TEXTS), max_size=2)
_PLAIN = {
    name: st.builds(EvaluationOverrideField, st.just(name), st.just(name), TEXTS).map(lambda field: [field])
    for name in ("input", "output")
}
_COMMENTS = st.lists(st.builds(EvaluationOverrideComment, TEXTS | st.just(""), TEXTS | st.just(""), TEXTS), max_size=2)

OVERRIDES = st.builds(
    Override,
    id=st.uuids().map(str),
    by=TEXTS,
    original_score=SCORES,
    override_score=SCORES,
    input_fields=_PLAIN["input"] | _FIELDS,
    output_fields=_PLAIN["output"] | _FIELDS,
    comments=_COMMENTS,
)
VERDICTS = st.builds(
    Verdict,
    id=st.uuids().map(str),
    by=TEXTS,
    case=TEXTS,
    baseline=TEXTS,
    challenger=TEXTS,
    winner=st.sampled_from(Winner),
    comment=TEXTS,
)
