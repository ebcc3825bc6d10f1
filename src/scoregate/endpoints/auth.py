"""Who we say that we are: headers and parameters of a request that hold a token or a key."""

from __future__ import annotations

from dataclasses import dataclass, field

from scoregate.endpoints.request_mapping import Outgoing
from scoregate.store.endpoints import ApiKey, BearerToken, ClientCredentials, StoredEndpoint


@dataclass(frozen=True, slots=True)
class Access:
    """`token` is what templates know as `auth_token`; that of `credentials` has yet to be fetched.

    `adds_bearer`: whether a token goes into the header Authorization, because the endpoint puts it nowhere itself.
    """

    token: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    credentials: ClientCredentials | None = None
    adds_bearer: bool = False


def access_of(definition: StoredEndpoint, outgoing: Outgoing) -> Access:
    """How the endpoint is to be addressed.

    Raises:
        EndpointError: a variable is not set.
    """
    auth, place = definition.auth, outgoing.surroundings
    adds = "auth_token" not in outgoing.names and not any(
        name.lower() == "authorization" for name in definition.request_headers
    )
    if isinstance(auth, ClientCredentials):
        return Access(credentials=auth, adds_bearer=adds)
    if isinstance(auth, ApiKey):
        key = place.filled(auth.key)
        return Access(key, query={auth.query: key}) if auth.query else Access(key, headers={auth.header: key})
    token = place.filled(auth.token if isinstance(auth, BearerToken) else definition.auth_token)
    token = token.removeprefix("Bearer ")
    place.hide(token)
    return Access(token, headers=bearer(token) if token and adds else {})


def bearer(token: str) -> dict[str, str]:
    """The header of a token."""
    return {"Authorization": f"Bearer {token}"}
