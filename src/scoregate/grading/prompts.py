"""Prompts, as templates in files. Text that may be hostile is in blocks between delimiters that it cannot contain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from scoregate.errors import MissingExtra
from scoregate.kernel.types.json_io import to_text
from scoregate.kernel.types.media import Media
from scoregate.kernel.types.text import replace_surrogates

if TYPE_CHECKING:
    from jinja2 import Environment

_BAR = "="
_BAR_RUN = re.compile(f"{_BAR}+")
_SHORTEST_BAR = 12


def make_delimiter(texts: Iterable[str]) -> str:
    """The start of the lines that begin and end the blocks of these texts.

    It is a bar that is longer than any in the texts, and a digest of them all. The same texts always have the same
    delimiter, so that the cache finds the answer to a repeated question.
    """
    digest, longest = blake2b(digest_size=6), 0
    for text in texts:
        data = text.encode()
        # With its length, so that the same text in other parts has another digest.
        digest.update(b"%d:%b" % (len(data), data))
        if _BAR in text:
            longest = max(longest, *map(len, _BAR_RUN.findall(text)))
    return f"{_BAR * max(_SHORTEST_BAR, longest + 1)} {digest.hexdigest()}"


def _block(delimiter: str, name: str, text: str) -> str:
    """A block of data; `prompts/blocks.j2` writes blocks in the same form."""
    return f"{delimiter} BEGIN {name}\n{text}\n{delimiter} END {name}"


def fenced(text: str, name: str = "output") -> str:
    """A text as a block of data for a prompt of your own. The system prompt says that blocks contain no instructions.

    Args:
        text: the text, which may be hostile.
        name: what the text is, such as "output".
    """
    text = replace_surrogates(text)
    return _block(make_delimiter([text]), name, text)


FOLDER = Path(__file__).parent / "prompts"
_SHARED_TEMPLATES = ("system", "blocks")


class Template(StrEnum):
    """The questions of judges; each is a file in `prompts/`."""

    ACCURACY = "accuracy"
    BATTLE = "battle"
    BEHAVIOR = "behavior"
    CLAIMS = "claims"
    CRITERIA = "criteria"
    GOAL = "goal"
    METRIC = "metric"
    NSFW = "nsfw"
    PASSAGES = "passages"
    TOXICITY = "toxicity"

    @property
    def version(self) -> str:
        """A digest of the file and of the files that all questions share."""
        return digest_texts(*map(_read_template, (*_SHARED_TEMPLATES, self.value)))


def digest_texts(*texts: str) -> str:
    """A digest of prompts, for fingerprints: 16 hexadecimal digits."""
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def system_prompt_version() -> str:
    """A digest of the system prompt of all judges."""
    return digest_texts(_read_template("system"))


def _read_template(name: str) -> str:
    return (FOLDER / f"{name}.j2").read_text(encoding="utf-8")


@cache
def system_prompt() -> str:
    """The system prompt of all judges."""
    return render_template(FOLDER, "system", {})


def render_question(
    template: Template,
    blocks: Mapping[str, str | None],
    *,
    examples: Sequence[Mapping[str, str]] = (),
    values: Mapping[str, str | None] | None = None,
) -> str:
    """Render a question.

    Args:
        template: the question.
        blocks: what is graded, by name, each between delimiters; None is left out.
        examples: blocks as well, each with the `answer` that a person gave.
        values: the other values of the template, such as `criteria`. The project's author writes them, so they have no
            delimiters.

    Raises:
        MissingExtra: jinja2 is not installed.
        TypeError: a block is not a string.
    """
    shown = _check_blocks(blocks)
    cases = [_check_blocks(example) for example in examples]
    fence = make_delimiter([*shown.values(), *(text for case in cases for text in case.values())])
    return render_template(FOLDER, template, {"blocks": shown, "examples": cases, "fence": fence, **(values or {})})


def _check_blocks(blocks: Mapping[str, str | Media | None]) -> dict[str, str]:
    texts = {name: to_text(text) if isinstance(text, Media) else text for name, text in blocks.items()}
    for name, text in texts.items():
        if not isinstance(text, str | None):
            kind = type(text).__name__
            raise TypeError(f"the text to grade must be a string, but the mapper of {name!r} returned a {kind}")
    return {name: replace_surrogates(text) for name, text in texts.items() if text is not None}


def render_messages(folder: Path, question: str, values: Mapping[str, object]) -> list[dict[str, str]]:
    """Render the templates `system` and `question` of a folder as the messages for a model.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    templates = {"system": "system", "user": question}
    return [
        {"role": role, "content": replace_surrogates(render_template(folder, name, values))}
        for role, name in templates.items()
    ]


_environment_lock = Lock()


def render_template(folder: Path, name: str, values: Mapping[str, object]) -> str:
    """Render the template `name` of a folder.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    with _environment_lock:  # only one of many threads loads it
        template = _environment(folder).get_template(f"{name}.j2")
    return template.render(values).strip()


@cache
def _environment(folder: Path) -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtra(
            "the package jinja2, which renders questions to models, is not installed",
            advice="Run: pip install 'scoregate[judges]'",
        ) from None
    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        auto_reload=False,
    )


_PLACEHOLDER = re.compile(r"\{\{[ \t]*(\w(?:[\w .-]*\w)?)[ \t]*\}\}")
_PRELUDE = "Every line that begins or ends a block of data in this message starts with this fence:"


def placeholders(prompt: str) -> tuple[str, ...]:
    """The names between double braces in a prompt, each once, in their order.

    A name begins and ends with a letter, a digit or `_`, and may contain spaces, `.` and `-`. Other text between braces
    is no placeholder.
    """
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(prompt)))


def fill_prompt(prompt: str, blocks: Mapping[str, str], *, more: Mapping[str, str] | None = None) -> str:
    """Replace each placeholder of a prompt by a block of data.

    Args:
        prompt: the prompt, from the project's author.
        blocks: texts by name, which may be hostile.
        more: texts that follow the prompt, by name, which may be hostile.

    Raises:
        KeyError: a placeholder has no text.
    """
    used = {name: replace_surrogates(blocks[name]) for name in placeholders(prompt)}
    after = {name: replace_surrogates(text) for name, text in (more or {}).items()}
    if not used and not after:
        return prompt
    fence = make_delimiter([*used.values(), *after.values()])
    text = _PLACEHOLDER.sub(lambda match: f"\n{_block(fence, match[1], used[match[1]])}\n", replace_surrogates(prompt))
    rest = "".join(f"\n\n{_block(fence, name, text)}\n" for name, text in after.items())
    return f"{_PRELUDE} {fence}\n\n{text}{rest}"


def describe_range(low: float, high: float) -> str:
    """The sentence that asks for a number; both ends are included."""
    return f"The answer is a number from {low:g} to {high:g}."


def describe_pair(one: str, other: str) -> str:
    """The sentence that asks for one of two answers."""
    return f"The answer is {one} or {other}."


def describe_choices(choices: Sequence[str] | Mapping[str, str]) -> str:
    """The lines that ask for one of several answers, with their descriptions if there are any."""
    descriptions = choices if isinstance(choices, Mapping) else dict.fromkeys(choices, "")
    lines = (f"- {choice}: {text}" if text else f"- {choice}" for choice, text in descriptions.items())
    return "\n".join(("The answer is one of these:", *lines))
