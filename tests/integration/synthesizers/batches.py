"""What a server was asked for."""

from __future__ import annotations

from tests.fakes.openai import OpenAIServer
from tests.fakes.openai.question import Question, parse_chat
from tests.fakes.writer import number_of, size_of


def questions(server: OpenAIServer) -> list[Question]:
    """The questions for tests, by the numbers of their batches."""
    prompts = (parse_chat(body, 0) for body in server.asked("*/chat/completions"))
    return sorted((each for each in prompts if "Yours is batch" in each.last), key=number_of)


def batches(server: OpenAIServer) -> list[tuple[int, int]]:
    """The numbers and sizes of the batches that were asked for, in order: they arrive in any."""
    return sorted((number_of(each), size_of(each)) for each in questions(server))
