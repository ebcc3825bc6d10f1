"""The files of a suite: Python, cases and prompts. Texts of a configuration are only literals in them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scoregate.convert.conversion import Suite
from scoregate.errors import UsageError
from scoregate.kernel.host.file_access import create_file
from scoregate.kernel.types.json_io import dump

CASES = "cases.jsonl"
_MOST_BYTES = 200_000_000

_HEAD = '''"""Written by `scoregate convert`. The suite is yours now: change it as you like."""

from pathlib import Path

from scoregate import evaluate
'''
_IMPORT_PROMPTS = "from scoregate.evals.prompts import read_prompt\n"
_TASK = """

def make_task(prompt, model, parameters):
    template = read_prompt(FOLDER / prompt)

    async def answer(input):
{answer}

    return answer

"""
_TASK_OF_MESSAGES = """

def make_task(prompt, model, parameters):
    async def answer(input):
        return (await get_model(model).a_generate(input, **parameters)).text

    return answer

"""
_ECHO = """        if model == "echo":
            return template.render_text(input)
"""
_CALL = """        if model in ("exec", "http", "python"):
            return await call_provider(model, template.render_text(input), input, PROJECT, **parameters)
"""
_PROGRAMS = {"exec", "http", "python"}
_ASK = """        prompt = template.render(input)
        return (await get_model(model).a_generate(prompt, **parameters)).text
"""
_OWN = """        prompt = template.render(input)
        raise NotImplementedError("No provider was converted: call your application here.")
"""


def list_files(suite: Suite, folder: Path) -> dict[str, str]:
    """The files of a suite by their names.

    Args:
        suite: the suite.
        folder: where they will be written.

    Raises:
        UsageError: the cases are too large.
    """
    lines, size = [], 0
    for case in suite.cases:
        lines.append(dump(case).decode())
        size += len(lines[-1])
        if size > _MOST_BYTES:
            raise UsageError(f"the cases are larger than {_MOST_BYTES:,} bytes")
    return {suite.file: format_suite(suite, folder), CASES: "".join(f"{line}\n" for line in lines), **suite.prompts}


def format_suite(suite: Suite, folder: Path) -> str:
    """The Python file of a suite.

    Args:
        suite: the suite.
        folder: where it will be written.
    """
    models = {each["model"] for each in suite.variants.values()}
    has_prompts = bool(suite.prompts)
    parts = [_HEAD, _IMPORT_PROMPTS if has_prompts else ""]
    if models & _PROGRAMS:
        parts.append("from scoregate.evals.providers import call_provider\n")
    if models - {None, "echo"} - _PROGRAMS:
        parts.append("from scoregate.models import get_model\n")
    if suite.scorers:
        parts.append(f"from scoregate.scorers import {', '.join(sorted({name for name, _ in suite.scorers}))}\n")
    parts.append("\nFOLDER = Path(__file__).parent\n")
    if models & _PROGRAMS:
        relative = Path(os.path.relpath(suite.folder, folder.resolve())).as_posix()
        parts.append(f"PROJECT = (FOLDER / {_format_literal(relative)}).resolve()\n")
    variants = (
        f"    {_format_literal(name)}: {_format_literal(dict(each))},\n" for name, each in suite.variants.items()
    )
    parts.append(f"TASKS = {{\n{''.join(variants)}}}\n")
    task = _TASK.replace("{answer}", _format_answer(suite).rstrip("\n")) if has_prompts else _TASK_OF_MESSAGES
    parts.append(task)
    parts.append(_format_call(suite))
    return "".join(parts)


def _format_answer(suite: Suite) -> str:
    models = {each["model"] for each in suite.variants.values()}
    if None in models:
        return _OWN
    if models == {"echo"}:
        return "        return template.render_text(input)\n"
    asks = models - {"echo"} - _PROGRAMS
    call = _CALL if models & _PROGRAMS else ""
    if not asks and "echo" not in models:
        # Without its `if`, since all models are programs.
        call = _CALL.split("\n", 1)[1].replace("            ", "        ", 1)
    elif not asks:
        return f"{call}        return template.render_text(input)\n"
    return f"{_ECHO if 'echo' in models else ''}{call}{_ASK if asks else ''}"


def _format_call(suite: Suite) -> str:
    lines = ["\nresult = evaluate(", f"    {_format_literal(suite.name)},", f'    data=FOLDER / "{CASES}",']
    if len(suite.variants) == 1:
        name = next(iter(suite.variants))
        lines.append(f"    task=make_task(**TASKS[{_format_literal(name)}]),")
    else:
        lines.append("    task={name: make_task(**task) for name, task in TASKS.items()},")
    lines += ["    scorers=[", *_format_scorers(suite.scorers), "    ],"]
    lines += [f"    {name}={_format_literal(value)}," for name, value in suite.options.items()]
    return "\n".join((*lines, ")", ""))


def _format_scorers(scorers: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    for function, arguments in scorers:
        given = [
            _format_literal(value) if name == "name" and not index else f"{name}={_format_literal(value)}"
            for index, (name, value) in enumerate(arguments.items())
        ]
        yield f"        {function}({', '.join(given)}),"


def _format_literal(value: Any) -> str:
    """Plain data as Python, in ASCII: nothing of a configuration becomes code."""
    if isinstance(value, str):
        # JSON and Python write a printable ASCII text in the same way.
        return json.dumps(value) if value.isascii() and value.isprintable() else ascii(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_format_literal(key)}: {_format_literal(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_format_literal, value))}]"
    return repr(value)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Create files. None is written if one of them exists.

    Args:
        folder: the folder, which may be missing.
        files: the texts of files by their names.

    Raises:
        UsageError: a file exists, or can't be written.
    """
    existing = [name for name in files if os.path.lexists(folder / name)]  # `lexists`: a broken link counts, too
    if existing:
        raise UsageError(
            f"{folder / existing[0]} exists; nothing was written",
            advice="Name another folder with --out, or remove the file.",
        )
    try:
        for name, text in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            create_file(target, text)
    except OSError as error:
        raise UsageError(f"{target} can't be written: {error.strerror or error}", advice="Check your rights.") from None
