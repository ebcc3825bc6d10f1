"""What to do about an error that a foreign SDK told of, where we know better than its message."""

from __future__ import annotations

import re

_KNOWN = (
    (
        re.compile(r"requires openai version 1\.x"),
        "Autoblocks' own judges work with openai 1.x alone: `pip install 'openai>=1,<2'` where the command runs. "
        "scoregate's judges work with any: import from scoregate.testing instead.",
    ),
    (
        re.compile(r"requires ragas version 0\.2\.x"),
        "Autoblocks' own ragas evaluators work with ragas 0.2 alone: `pip install 'ragas==0.2.*'` where the command "
        "runs. Those of scoregate.testing.evaluators also work with later ones.",
    ),
    (
        re.compile(r"You must set the '?OPENAI_API_KEY'? environment variable"),
        "Set OPENAI_API_KEY for the command; in a job, from a secret: "
        "`env: OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}`.",
    ),
)


def advice_for(message: str) -> str:
    """What to do about an exception of that text; empty where we do not know."""
    return next((advice for pattern, advice in _KNOWN if pattern.search(message)), "")
