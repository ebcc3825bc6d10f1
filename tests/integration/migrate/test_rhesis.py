"""From Rhesis: its judge and scoregate's agree on a test set that its SDK has exported."""

from __future__ import annotations

from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import use_python
from tests.integration.migrate.runs import check_same

# Its declared dependencies take gigabytes (PyTorch with CUDA); these are the ones that test sets and judges import.
SDK = "rhesis-sdk==0.6.8.post1"
REQUIREMENTS = (
    "aiohttp-security", "aiohttp-session", "appdirs", "diskcache", "httpx", "jinja2", "jsonfinder",
    "langchain-community<0.4.2", "langchain-openai", "litellm", "marshmallow", "mcp", "nest-asyncio", "numpy",
    "opentelemetry-exporter-otlp-proto-http", "opentelemetry-sdk", "pandas", "python-dotenv", "pyyaml", "ragas==0.4.3",
    "requests", "scikit-learn", "tenacity", "tqdm", "websockets",
)  # fmt: skip


def test_the_page_works(reader: Reader) -> None:
    use_python(reader, "rhesis", REQUIREMENTS, alone=[SDK])
    reader.environment["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    # Rhesis asks for "score", scoregate for "answer": each finds its own in one object.
    reader.models.answers("", {"reason": "It answers fully.", "score": 5, "answer": 5})
    reader.models.answers("within 30 days", {"reason": "The receipt is missing.", "score": 3, "answer": 3})
    reader.follow()
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["complete"], failed={"How long can I return a jacket?"})
