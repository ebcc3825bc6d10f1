"""A chat service as a user of the product has it: REST, a WebSocket, sessions, three ways of letting in, faults."""

from tests.fakes.chat_service.server import ChatService

__all__ = ["ChatService"]
