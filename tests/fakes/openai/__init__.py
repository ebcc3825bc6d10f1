"""A fake of OpenAI's API on loopback: whatever speaks that protocol can be tested against it, without a key.

    with OpenAIServer.start() as server:                     # or the fixture `openai_server` of tests.fakes.fixtures
        server.answers(r"capital of France", "Paris")        # a rule: a pattern found in the last message, its answer
        server.answers(r"correct\\?", {"choice": "A"})        # a structured answer; the rest of the schema is filled in
        server.rate_limit("POST", "*/chat/completions", retry_after=1, times=3)
        client = OpenAI(base_url=server.url, api_key="any")
        ...
        assert len(server.asked()) == 2

As a process, for benchmarks and for tests in other languages: `python -m tests.fakes.openai --latency 0.02 --port 0`
prints its address; GET /fake/requests lists the requests, DELETE /fake/requests forgets it.
"""

from tests.fakes.openai.question import Question
from tests.fakes.openai.reply import Reply, ToolCall
from tests.fakes.openai.server import OpenAIServer

__all__ = ["OpenAIServer", "Question", "Reply", "ToolCall"]
