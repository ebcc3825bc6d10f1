"""Sources of suites that the tests of ragas run."""

from __future__ import annotations

MODELS = """
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from ragas.embeddings import LangchainEmbeddingsWrapper
from ragas.llms import LangchainLLMWrapper

MODELS = {
    "llm": LangchainLLMWrapper(ChatOpenAI(model="gpt-4o")),
    "embeddings": LangchainEmbeddingsWrapper(OpenAIEmbeddings(check_embedding_ctx_length=False)),
}
"""

MAPPED = """
import asyncio, os
from scoregate.testing import evaluators
from scoregate.testing.models import Threshold
from scoregate.testing.run import run_test_suite

QUESTION = "How tall is the Eiffel Tower?"
CASE = {
    "question": QUESTION,
    "expected": "The Eiffel Tower is 300 meters tall. It stands in Paris.",
    "sources": ["Built by the company of Gustave from 1887 on.", "It is 300 meters tall."],
}
OUTPUT = {
    "answer": "The Eiffel Tower is 300 meters tall. It stands in Rome. Nobody visits.",
    "found": ["Tea is hot.", "The Eiffel Tower is 300 meters tall.", "The tower stands in Rome. It is not."],
}

class Mappers:
    threshold = Threshold(gte=0.5)

    def user_input_mapper(self, test_case, output):
        return test_case["question"]

    async def response_mapper(self, output):
        await asyncio.sleep(0)
        return output["answer"]

    def reference_mapper(self, test_case):
        return test_case["expected"]

    async def retrieved_contexts_mapper(self, test_case, output):
        return output["found"]

    def reference_contexts_mapper(self, test_case):
        return test_case["sources"]

def evaluator(name, id=None, **given):
    base = getattr(evaluators, name)
    return type(name, (Mappers, base), {"id": id or name.removeprefix("BaseRagas"), **given})()

def suite(id, *given, cases=(CASE,), output=OUTPUT):
    run_test_suite(id, list(cases), lambda case: output, given, test_case_hash=["question"])
"""

# What needs no model comes first: then it is we who import ragas, while a loop runs.
OF_ALL = f"""{MAPPED}
plain = asyncio.Task
WITHOUT = ["BaseRagasNonLLMContextPrecisionWithReference", "BaseRagasNonLLMContextRecall"]
for name in WITHOUT:
    suite(name, evaluator(name))
print("loops are left alone:", asyncio.Task is plain)
{MODELS}
for name in evaluators.__all__:
    if name.startswith("BaseRagas") and name not in WITHOUT:
        suite(name, evaluator(name, **MODELS))

suite(
    "options",
    evaluator("BaseRagasFactualCorrectness", "precise", mode="precision", **MODELS),
    evaluator("BaseRagasFactualCorrectness", "recalled", mode="recall", atomicity="high", **MODELS),
    evaluator("BaseRagasNoiseSensitivity", "relevant", focus="relevant", **MODELS),
    evaluator("BaseRagasNoiseSensitivity", "irrelevant", focus="irrelevant", **MODELS),
    evaluator("BaseRagasFaithfulness", "focused", focus="relevant", **MODELS),
)
suite(
    "wrong",
    evaluator("BaseRagasFaithfulness", "without a model"),
    evaluator("BaseRagasSemanticSimilarity", "without embeddings"),
    evaluator("BaseRagasFactualCorrectness", "wrong mode", mode="f2", **MODELS),
    evaluator("BaseRagasNoiseSensitivity", "wrong focus", focus="all", **MODELS),
    evaluator("BaseRagasFaithfulness", "raises", response_mapper=lambda self, output: 1 / 0, **MODELS),
    evaluator("BaseRagasFaithfulness", "no text", response_mapper=lambda self, output: 5, **MODELS),
    evaluator("BaseRagasResponseRelevancy", "NaN", response_mapper=lambda self, output: "", **MODELS),
    evaluator("BaseRagasNonLLMContextRecall", "also NaN", reference_contexts_mapper=lambda self, case: []),
    evaluator("BaseRagasSemanticSimilarity", "same", response_mapper=lambda self, output: CASE["expected"], **MODELS),
)
suite(
    "at once",
    evaluator("BaseRagasResponseRelevancy", "at once: relevant", **MODELS),
    evaluator("BaseRagasLLMContextRecall", "at once: recalled", **MODELS),
    cases=[CASE | {{"question": f"How tall is tower {{n}}?"}} for n in range(10)],
)
os.environ["SCOREGATE_MAX_TOKENS"] = "10"
suite("last", evaluator("BaseRagasFaithfulness", "last in the budget", **MODELS))
suite("spent", evaluator("BaseRagasFaithfulness", "over the budget", **MODELS))
suite("free", evaluator("BaseRagasNonLLMContextRecall", "free"))
"""

# ragas' own clients, which its newer versions would rather have than LangChain's.
NEWER = f"""{MAPPED}
from openai import AsyncOpenAI, OpenAI
from ragas.embeddings import OpenAIEmbeddings
from ragas.llms import llm_factory

NEWER = {{
    "llm": llm_factory("gpt-4o", client=AsyncOpenAI()),
    "embeddings": OpenAIEmbeddings(client=OpenAI(), model="text-embedding-3-small"),
}}
for name in evaluators.__all__:
    if name.startswith("BaseRagas"):
        suite(name, evaluator(name, **NEWER))
"""
