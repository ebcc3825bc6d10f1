"""Mistakes in tasks and scorers."""

from __future__ import annotations

from tools.mistakes.mistake import FILE, SUITE, Mistake, edit

_ASYNC = "\n\nasync def check(output):\n    return True\n\n\nevaluate("
_KEYLESS = edit("scorers=[contains()]", 'scorers=[judge("Is the answer polite?", model="openai/gpt-4o")]')[FILE]
_AWAITED = f"import asyncio\n\n{SUITE}\n\nasyncio.run(main())\n".replace(
    "\nevaluate(", "\nasync def main():\n    await evaluate("
)


def _score(scorers: str) -> dict[str, str]:
    return edit("scorers=[contains()]", f"scorers={scorers}")


def _return(value: str) -> dict[str, str]:
    return edit("\n\nevaluate(", f"\n\ndef score(output):\n    return {value}\n\n\nevaluate(", _score("[score]")[FILE])


MISTAKES = (
    Mistake("A parameter of the task is not a field.", edit("answer(question)", "answer(question, customer)")),
    Mistake("The task is called instead of passed.", edit("task=answer", 'task=answer("When do you open?")')),
    Mistake("The task raises for every case.", edit('return "We', 'return {}["hours"]\n    return "We')),
    Mistake("The result of `evaluate` is awaited.", {FILE: _AWAITED}),
    Mistake("The task is a generator.", edit("return", "yield", SUITE.replace("def answer", "async def answer"))),
    Mistake("The task returns nothing.", edit('    return "We', '    "We')),
    Mistake("Two suites in a file have the same name.", {FILE: SUITE + SUITE.partition("\n\n\n")[2]}),
    Mistake("There are no scorers.", _score("[]")),
    Mistake("`scorers` is missing.", edit("    scorers=[contains()],\n", "")),
    Mistake("A scorer isn't called.", _score("[contains]")),
    Mistake("A parameter of a scorer is misspelled.", _score("[lambda outptu, expected: expected in outptu]")),
    Mistake("Two scorers have the same name.", _score("[contains(), contains()]")),
    Mistake("A scorer returns a text.", _return('"good"')),
    Mistake("A scorer returns NaN.", _return('float("nan")')),
    Mistake("A scorer returns infinity.", _return('float("inf")')),
    Mistake("A scorer returns a number outside of 0 to 1.", _return("85")),
    Mistake("A scorer returns None for every case.", _return("None")),
    Mistake("A scorer raises.", _return('output["text"]')),
    Mistake(
        "A coroutine isn't awaited.",
        edit("\n\nevaluate(", _ASYNC, _score('[lambda output: {"polite": check(output)}]')[FILE]),
    ),
    Mistake(
        "A threshold is outside of the scale.",
        edit(
            "import contains",
            "import scorer",
            edit(
                "\n\nevaluate(",
                "\n\ndef brevity(output):\n    return 0.5\n\n\nevaluate(",
                _score("[scorer(brevity, threshold=80)]")[FILE],
            )[FILE],
        ),
    ),
    Mistake(
        "The bounds of a scale are reversed.",
        edit("import contains", "import scorer", _score("[scorer(len, scale=(100, 0))]")[FILE]),
    ),
    Mistake("An argument of `evaluate` is misspelled.", edit("task=answer", "task=answer,\n    repeat=3")),
    Mistake("An argument of `evaluate` has a wrong value.", edit("task=answer", 'task=answer,\n    timeout="30s"')),
    Mistake("A judge has no key.", {FILE: _KEYLESS.replace("import contains", "import judge")}),
    Mistake(
        "The provider of a model is misspelled.",
        {FILE: _KEYLESS.replace("import contains", "import judge").replace("openai/", "opnai/")},
    ),
    Mistake(
        "A colon is between provider and model.",
        {FILE: _KEYLESS.replace("import contains", "import judge").replace("openai/", "openai:")},
    ),
)
