"""Who a token belongs to, over REST and over GraphQL."""

from __future__ import annotations

import re

from tests.fakes.github import show
from tests.fakes.github.exchange import Answer, Call, Refused

VIEWER = re.compile(r"(query(\s+\w+)?)?\s*\{\s*viewer\s*\{\s*login\s*\}\s*\}")
ZEROS = (
    "followers", "following", "public_gists", "public_repos", "private_gists", "total_private_repos",
    "owned_private_repos", "disk_usage", "collaborators",
)  # fmt: skip
UNSET = ("bio", "blog", "company", "email", "hireable", "location", "name")


def get_user(call: Call) -> Answer:
    if call.token.is_installation:
        raise Refused(403, "Resource not accessible by integration")
    dates = {"created_at": show.BEGINNING, "updated_at": show.BEGINNING}
    user_data = {**show.user(call.github, call.token.login), **dict.fromkeys(ZEROS, 0), **dict.fromkeys(UNSET), **dates}
    return Answer({**user_data, "two_factor_authentication": True})


def graphql(call: Call) -> Answer:
    query = call.body.get("query")
    if not isinstance(query, str):
        return Answer({"errors": [{"message": "A query attribute must be specified and must be a string."}]})
    if not VIEWER.fullmatch(query.strip()):
        call.github.violations.append(f"POST /graphql: the fake answers {{ viewer {{ login }} }}, not {query!r}")
        return Answer({"errors": [{"type": "undefinedField", "message": "The fake does not answer this query."}]})
    return Answer({"data": {"viewer": {"login": call.token.login}}})
