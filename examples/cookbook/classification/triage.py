"""Sorts repair requests of tenants: urgent (today), soon (this week) or later."""

import re

URGENT, SOON, LATER = "urgent", "soon", "later"
SIGNALS = {
    r"\bgas\b|smoke|fire|sparks?|burn": 5,
    r"flood|burst|pouring|water .*ceiling": 5,
    r"locked out|break-?in|front door .*(open|close|lock)": 4,
    r"no (heating|power|electricity|water)|heating is (off|dead)|stuck in the (lift|elevator)": 4,
    r"baby|child|wheelchair|elderly": 1,
    r"leak|drip|blocked|does not work|doesn't work|broken|mould": 2,
    r"fridge|oven|toilet|boiler|shower": 1,
    r"when you have time|no hurry|some day": -3,
    r"not urgent": -2,
    r"paint|scratch|squeak|light bulb|name plate|question": -1,
}


def classify(request: str) -> str:
    """The urgency of a request, from the sum of its signals."""
    text = request.lower()
    weight = sum(points for pattern, points in SIGNALS.items() if re.search(pattern, text))
    if weight >= 4:
        return URGENT
    return SOON if weight >= 2 else LATER
