"""A dataset and judges of the store."""

from scoregate import Client
from scoregate.offline_tests import observe

client = Client(project_name="support-bot")


@observe(span_type="tool")
def look_up(question: str) -> str:
    return "We open at nine, and never on Sundays."


def my_agent(input: str) -> str:
    return look_up(input)


client.offline_tests.run(
    test_config="nightly-regression",
    agent_function=my_agent,
    pass_condition_fn=lambda fields, scorers: all(s.value != "unknown" for s in scorers),
    max_concurrency=1,
)
