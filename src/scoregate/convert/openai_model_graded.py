"""Evals of OpenAI's registry that a model grades: the class ModelBasedClassify and its specifications."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from scoregate.convert.files import Source, Unreadable

CLASS = "ModelBasedClassify"
# `eval_type` says how the model writes its choice, which `choice_judge` decides itself.
ARGUMENTS = {"samples_jsonl", "eval_type", "modelgraded_spec", "modelgraded_spec_args", "max_tokens"}
_FOLDER = "../modelgraded"
_MOST_FILES = 500
_KEYS = {"prompt", "choice_strings", "choice_scores", "input_outputs", "eval_type", "output_template"}
_FIELD = re.compile(r"\{(\w*)\}")
_SHOWN = {"input": "(the input)", "ideal": "(the expected output)", "completion": "(the output)"}
_FROM_STRINGS = "from_strings"


def convert_judge(source: Source, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The question and the choices of `choice_judge`.

    Args:
        source: the file of the eval.
        arguments: the arguments of the eval.

    Raises:
        Unreadable: the specification is missing, or has no counterpart.
    """
    name = arguments.get("modelgraded_spec")
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+", name):
        raise Unreadable("it names no modelgraded_spec")
    spec = _find_spec(source, name)
    if unknown := sorted(map(str, spec.keys() - _KEYS)):
        raise Unreadable(f"the specification {name} has {', '.join(unknown):.100}, which has no counterpart")
    if spec.get("input_outputs", {"input": "completion"}) != {"input": "completion"}:
        raise Unreadable(f"the specification {name} asks for other outputs than the completion of the input")
    given = arguments.get("modelgraded_spec_args")
    question = _make_question(spec.get("prompt"), name, given if isinstance(given, Mapping) else {})
    return {"question": question, "choices": _read_choices(spec, name)}


def _find_spec(source: Source, name: str) -> Mapping[str, Any]:
    """The specification in the folder `modelgraded` of the registry; its file may have another name."""
    own = source.find(f"{_FOLDER}/{name}.yaml")
    folder = own.path.parent
    others = (source.find(f"{_FOLDER}/{path.name}") for path in islice(_list_files(source), _MOST_FILES))
    for file in (own, *others) if folder.is_dir() else ():
        if file.path.is_file():
            content = file.parse()
            spec = content.get(name) if isinstance(content, Mapping) else None
            if isinstance(spec, Mapping):
                return spec
    raise Unreadable(f"there is no specification {name} in registry/modelgraded")


def _list_files(source: Source) -> Iterator[Any]:
    folder = source.find(f"{_FOLDER}/x").path.parent
    return iter(sorted(folder.glob("*.yaml"))) if folder.is_dir() else iter(())


def _make_question(prompt: Any, name: str, given: Mapping[str, Any]) -> str:
    """The prompt, with the names of what the judge sees in the place of fields."""
    if not isinstance(prompt, str) or not prompt.strip():
        raise Unreadable(f"the prompt of the specification {name} is not text")
    known = {**{key: value for key, value in given.items() if isinstance(value, str)}, **_SHOWN}
    if unknown := sorted({match[1] for match in _FIELD.finditer(prompt)} - known.keys()):
        raise Unreadable(f"the prompt of the specification {name} has the fields {', '.join(unknown):.100} of samples")
    return _FIELD.sub(lambda match: known[match[1]], prompt).strip()


def _read_choices(spec: Mapping[str, Any], name: str) -> dict[str, float]:
    given, scores = spec.get("choice_strings"), spec.get("choice_scores")
    # A text such as "ABCDE" means its characters.
    choices = [str(each) for each in given] if isinstance(given, list | str) else []
    if scores == _FROM_STRINGS:
        scores = {each: each for each in choices}
    if not isinstance(scores, Mapping):
        raise Unreadable(f"the choices of the specification {name} have no scores: nothing can be compared")
    try:
        score_of_choice = {each: float(scores[each]) for each in choices}
    except (KeyError, TypeError, ValueError):
        raise Unreadable(f"a choice of the specification {name} has no score") from None
    if len(score_of_choice) < 2 or not all(0 <= score <= 1 for score in score_of_choice.values()):
        raise Unreadable(f"the specification {name} needs two choices or more, with scores from 0 to 1")
    return score_of_choice
