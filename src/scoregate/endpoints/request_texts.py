"""One text of a mapping, made ready once: a constant, a name, or a template."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any

from scoregate.endpoints.names import CONVERSATION, Context, is_template
from scoregate.endpoints.request_fillers import OMITTED, Constant, Filler, check_names
from scoregate.endpoints.surroundings import Surroundings

_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_WORDS = {"none", "None", "true", "True", "false", "False"}


def text_filler(text: str, surroundings: Surroundings) -> Filler:
    """What makes a value of a text; text of the user's takes the place of a name as it is, and is never read.

    A name or an expression alone gives what it is, a dict or a list too; anything else a text.

    Raises:
        EndpointError: a variable is not set, a name is unknown, or the template cannot be read.
        MissingExtra: it takes jinja2, which is not installed.
    """
    if not is_template(text):
        return Constant(surroundings.filled(text))
    found = _NAME.fullmatch(text.strip())
    if found is None or found[1] in _WORDS:
        from scoregate.endpoints.request_templates import template_filler

        return template_filler(text, surroundings)
    check_names({found[1]}, surroundings)
    return _conversation(found[1]) if found[1] in CONVERSATION else itemgetter(found[1])


def _conversation(name: str) -> Filler:
    def given(context: Context) -> Any:
        value = context[name]
        return OMITTED if value is None else value

    return given
