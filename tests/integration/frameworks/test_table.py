"""The table of tested frameworks in the guide has the versions that the tests install."""

from __future__ import annotations

import re
from importlib.metadata import version

from tests.docs.project import ROOT
from tests.integration.frameworks.test_node import BRAINTRUST as BRAINTRUST_NODE
from tests.integration.frameworks.test_node import EVALITE, PROMPTFOO, VITEST
from tests.integration.frameworks.test_python import BRAINTRUST, DEEPEVAL, INSPECT, LANGSMITH, PYDANTIC_EVALS


def test_the_table_has_the_versions_that_the_tests_install() -> None:
    text = (ROOT / "docs" / "guides" / "imports.md").read_text(encoding="utf-8")
    table = text.partition("## Tested versions")[2].partition("Other tests read")[0]
    rows = dict(re.findall(r"^\| (\S[^|]*?) \| ([\d.]+) \|", table, re.MULTILINE))
    pinned = {
        "DeepEval": DEEPEVAL[0],
        "Inspect": INSPECT[0],
        "pydantic-evals": PYDANTIC_EVALS[0],
        "Braintrust": BRAINTRUST[0],
        "Braintrust for TypeScript": BRAINTRUST_NODE[0],
        "promptfoo": PROMPTFOO[0],
        "Evalite": EVALITE[0],
        "LangSmith's plug-in for pytest": LANGSMITH[0],
        "vitest": VITEST[0],
    }
    assert rows.pop("pytest").split(".")[0] == version("pytest").split(".")[0]
    assert rows == {name: re.split("==|@", requirement)[1] for name, requirement in pinned.items()}
