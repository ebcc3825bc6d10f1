"""What models are asked, as templates in files; what nobody vouches for stands in them between fences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from scoregate.core.utf8 import whole
from scoregate.errors import MissingExtra
from scoregate.judging.fence import fence_of

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent / "prompts"
_SHARED = ("system", "blocks")
_making = Lock()


class Template(StrEnum):
    """The questions that judges ask; each is a file in `prompts/`."""

    ACCURACY = "accuracy"
    BATTLE = "battle"
    BEHAVIOR = "behavior"
    CRITERIA = "criteria"
    GOAL = "goal"
    METRIC = "metric"
    NSFW = "nsfw"
    TOXICITY = "toxicity"

    @property
    def version(self) -> str:
        """A digest of all that is in the file, and in those that every question shares."""
        return digest(*(_path(name).read_text(encoding="utf-8") for name in (*_SHARED, self.value)))


def digest(*texts: str) -> str:
    """Of prompts, as fingerprints have it: 16 hexadecimal digits."""
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def system_version() -> str:
    """A digest of what every judge is told before its question."""
    return digest(_path("system").read_text(encoding="utf-8"))


def rendered(
    template: Template,
    blocks: Mapping[str, str | None],
    *,
    examples: Sequence[Mapping[str, str]] = (),
    words: Mapping[str, str | None] | None = None,
) -> str:
    """The question.

    Args:
        blocks: what is judged, by name, each put between fences; None is left out.
        examples: blocks as well, each with the `answer` that a person gave.
        words: all else that the template asks for, such as `criteria`: yours, so they are not fenced.

    Raises:
        MissingExtra: jinja2 is not installed. TypeError: a block is no string.
    """
    shown = dict(_checked(blocks))
    cases = [dict(_checked(example)) for example in examples]
    fence = fence_of([*shown.values(), *(text for case in cases for text in case.values())])
    return worded(FOLDER, template, {"blocks": shown, "examples": cases, "fence": fence, **(words or {})})


@cache
def system() -> str:
    """What every judge is told before its question."""
    return worded(FOLDER, "system", {})


def _checked(blocks: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    for name, text in blocks.items():
        if text is None:
            continue
        if not isinstance(text, str):
            raise TypeError(f"what is judged must be a string; the mapper of {name!r} gave a {type(text).__name__}")
        yield name, whole(text)


def _path(name: str) -> Path:
    return FOLDER / f"{name}.j2"


def worded(folder: Path, name: str, words: Mapping[str, object]) -> str:
    """What the template `name` of a folder makes of these words.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    with _making:  # of many threads, one makes it
        template = _environment(folder).get_template(f"{name}.j2")
    return template.render(words).strip()


def messages(folder: Path, question: str, words: Mapping[str, object]) -> list[dict[str, str]]:
    """What a model is sent: what the templates `system` and `question` of a folder make of these words.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    asked = (("system", "system"), ("user", question))
    return [{"role": role, "content": whole(worded(folder, name, words))} for role, name in asked]


@cache
def _environment(folder: Path) -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtra(
            "the package jinja2, which questions to models are written with, is not installed",
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
