"""The app of the page on which people keep or drop rows."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.applications import Starlette
from starlette.routing import Route

from scoregate.web.review_app import build_app, get_route, get_state, post_route
from scoregate.web.row_session import RowSession
from scoregate.web.server import AccessKeys


class RowDecision(BaseModel):
    """The review of a row."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Literal["keep", "drop"]
    comment: str = Field(default="", max_length=10_000)


def build_row_app(session: RowSession, keys: AccessKeys) -> Starlette:
    """Build the app."""
    routes = [
        Route("/state", get_state(session.state)),
        Route("/rows/{key}", get_route(session.details)),
        Route("/rows/{key}", post_route(session.decide, RowDecision), methods=["POST"]),
        Route("/rows/{key}", get_route(session.remove_decision), methods=["DELETE"]),
    ]
    return build_app(routes, keys)
