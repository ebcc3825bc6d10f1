"""Mistakes in the files of suites: where they are, what they import, how they end."""

from __future__ import annotations

from tools.mistakes.mistake import FILE, SUITE, Mistake, edit

_FIRST = "from scoregate import evaluate\n"

MISTAKES = (
    Mistake("There is no suite.", {}),
    Mistake("The suite is in a file with another name, outside of `evals/`.", {"hours.py": SUITE}),
    Mistake("git ignores the folder of the suite.", {FILE: SUITE, ".gitignore": "evals/\n"}),
    Mistake("The file on the command line doesn't exist.", {FILE: SUITE}, ("run", "evals/eval_ours.py"), 2),
    Mistake("The suite on the command line doesn't exist.", {FILE: SUITE}, ("run", "--suite", "openning-hours")),
    Mistake("The name of a suite is the only argument.", {FILE: SUITE}, ("run", "opening-hours"), 2),
    Mistake("A suite is named with one colon.", {FILE: SUITE}, ("run", f"{FILE}:opening-hours"), 2),
    Mistake("The case on the command line doesn't exist.", {FILE: SUITE}, ("run", f"{FILE}::opening-hours::When?")),
    Mistake("A bracket is missing.", edit("answer,\n", "answer(,\n")),
    Mistake("A file isn't indented correctly.", edit("    return", "  return 1\n    return")),
    Mistake("The name of a scorer is misspelled in the import.", edit("import contains", "import contain")),
    Mistake("A package isn't installed.", edit(_FIRST, f"import fancy_llm_client\n{_FIRST}")),
    Mistake(
        "Modules import each other.",
        {
            **edit(_FIRST, f"from bot import reply\n{_FIRST}"),
            "bot.py": "from texts import HOURS\n\n\ndef reply(question):\n    return HOURS\n",
            "texts.py": "from bot import reply\n\nHOURS = reply('hours')\n",
        },
    ),
    Mistake(
        "A variable of the environment is missing.", edit(_FIRST, f'import os\n\n{_FIRST}KEY = os.environ["BOT_KEY"]\n')
    ),
    Mistake(
        "The call of `evaluate` is in a function that nothing calls.",
        {FILE: SUITE.replace("evaluate(\n", "def main():\n  evaluate(\n")},
    ),
    Mistake(
        "The suite is started by a function of an installed package.",
        {FILE: "import scoregate\nfrom company_evals import start\n\nstart(scoregate)\n"},
    ),
    Mistake("The script ends before the suite starts.", edit("\n\nevaluate(", "\n\nraise SystemExit\nevaluate(")),
    Mistake(
        "The script is killed, for example because memory is short.",
        edit('    return "We', '    import os\n\n    os.kill(os.getpid(), 9)\n    return "We'),
    ),
    Mistake(
        "The application hangs.",
        edit('    return "We', '    import time\n\n    time.sleep(600)\n    return "We'),
        ("run", "--timeout", "4"),
    ),
    Mistake(
        "The suite prints 10 MB.",
        edit(
            "\n\nevaluate(",
            '\n\nfor number in range(10_000):\n    print("debug " * 180)\n\nevaluate(',
        ),
        code=0,
    ),
    Mistake(
        "The suite is run by Python itself, and every case has an error.",
        edit('    return "We', '    raise ConnectionError("no route to the service")\n    return "We'),
        ("python", FILE),
    ),
)
