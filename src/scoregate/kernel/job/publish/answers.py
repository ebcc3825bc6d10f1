"""Answers to commands, at the end of the comment on a pull request."""

from __future__ import annotations

from functools import partial

from scoregate.kernel.job.github.client import Api
from scoregate.kernel.job.publish.comment_store import Comment, find_comment, put_comment
from scoregate.kernel.report.markdown import marker_prefix

_START, _END = "<!-- scoregate:answers -->", "<!-- scoregate:answers end -->"
_BY_WRITER, _BY_OTHER = "<!-- scoregate:answer writer -->", "<!-- scoregate:answer other -->"
LONGEST_BLOCK = 5_000
_MOST_ANSWERS = {_BY_WRITER: 3, _BY_OTHER: 1}


def find_answers(body: str) -> str:
    """The answers in a comment with their markers; empty without any."""
    _, start, rest = body.rpartition(_START)
    text, end, _ = rest.partition(_END)
    is_valid = start and end and len(text) <= LONGEST_BLOCK
    return f"{start}{text}{end}" if is_valid else ""


def add_answer(answers: str, text: str, *, is_writer: bool) -> str:
    """Add an answer, and drop the oldest ones if there are too many.

    People without rights share one place, so that they can't remove answers to others.

    Args:
        answers: the answers so far, as in a comment.
        text: the new answer, as Markdown that was made harmless.
        is_writer: whether the command is by someone with write access.
    """
    entries = [(_BY_WRITER if is_writer else _BY_OTHER, text), *_split(answers)]
    kept, length = list[str](), 0
    counts = dict.fromkeys(_MOST_ANSWERS, 0)
    for kind, entry in entries:
        counts[kind] += 1
        length += len(entry) + len(kind) + 10
        if counts[kind] <= _MOST_ANSWERS[kind] and (length <= LONGEST_BLOCK - 100 or not kept):
            kept.append(f"{kind}\n{entry}")
    return "\n\n".join([_START, "---", *kept, _END])


def _split(answers: str) -> list[tuple[str, str]]:
    entries = list[tuple[str, str]]()
    for line in answers.removesuffix(_END).splitlines():
        if line in _MOST_ANSWERS:
            entries.append((line, ""))
        elif entries:
            kind, text = entries[-1]
            entries[-1] = (kind, f"{text}\n{line}")
    return [(kind, text.strip()) for kind, text in entries]


async def put_answer(api: Api, number: int, key: str, text: str, *, is_writer: bool, graphql_url: str) -> Comment:
    """Add an answer to the comment on a pull request, which is created if there is none.

    Args:
        api: the repository.
        number: the number of the pull request.
        key: the key of the comment.
        text: the answer, as Markdown that was made harmless.
        is_writer: whether the command is by someone with write access.
        graphql_url: the URL of the GraphQL API.

    Raises:
        GitHubRefused: the comment was not written.
    """
    prefix = marker_prefix(key)
    find = partial(find_comment, api, number, lambda body: body.startswith(prefix), graphql_url=graphql_url)
    old = await find()
    body = old.body if old else f"{prefix}sha=none run=none -->\n"
    answers = find_answers(body)
    report = body.replace(answers, "") if answers else body
    new = f"{report.rstrip()}\n\n{add_answer(answers, text, is_writer=is_writer)}\n"
    return await put_comment(api, number, new, old=old, find=find)
