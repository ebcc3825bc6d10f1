"""The lines of an output that say why a command failed."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST_ERRORS = 3
_LONGEST_ERROR, _LONGEST_ERRORS, _LONGEST_MATCHED = 200, 400, 1_000
# The numbers of yarn that are left out are progress, warnings about peers, and what was added or removed.
_ERROR = re.compile(
    r"""\s*(?:E\s{2,})?(?:
        (?:Uncaught\s|Caused\sby:\s|\[cause\]:\s|Exception\sin\sthread\s"[^"]*"\s)?
        (?:[A-Za-z_$][\w$]*[.:]{1,2})*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Failure)\b[^:]{0,60}(?::\s|$)
      | (?:error|fatal|panic|ERROR|FATAL|Error|Fatal|FAILED|Traceback)\b(?:\[\w+\])?(?::\s|\s+)\S
      | npm\s(?:ERR!|error)\s(?!A\scomplete\slog)\S
      | \S{1,200}(?:\(\d+,\d+\)|:\d+(?::\d+)?):?\s(?:-\s)?(?:fatal\s)?error\b
      | ERR_PNPM_\w+\s+\S
      | Usage\sError:\s\S
      | (?:➤\s)?YN0(?!000|002|00[4-8]|013|019|032|050|06[0-2]|068|076|08[5-8])\d{3}:\s
      | ✖\s\S
      | ---\sFAIL:\s\S
      | thread\s'.{0,200}'\s(?:\(\d+\)\s)?panicked\sat
      | .{0,200}:\s(?:command\snot\sfound|not\sfound|No\ssuch\sfile\sor\sdirectory|Permission\sdenied)$
      | (?:Segmentation\sfault|Killed|Aborted|Out\sof\smemory)\b
    )""",
    re.VERBOSE,
)
_TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\)")
# The summary of pytest repeats the beginning of an error.
_SUMMARY = re.compile(r"(?:ERROR|FAILED) \S+ - (?P<start>.+?)(?:\.\.\.)?$")
# A panic in Rust has its message on the next line.
_PANIC = re.compile(r"\s*thread '.{0,200}' (?:\(\d+\) )?panicked at .*:$")
# An error of scoregate has its advice there.
_OWN_ERROR = re.compile(r"\s*scoregate\.errors\.\w+: ")
_NPM, _NPM_USAGE = ("npm error ", "npm ERR! "), re.compile(r"npm (?:error|ERR!) Usage:")


class ErrorDetector:
    """Finds the lines of an output that describe an error. npm prints its usage after its errors: that is none."""

    def __init__(self) -> None:
        self._in_usage = False

    def is_error(self, line: str) -> bool:
        """Whether the next line describes an error."""
        if _NPM_USAGE.match(line):
            self._in_usage = True
        if self._in_usage and line.startswith(_NPM):
            return False
        return bool(_ERROR.match(line[:_LONGEST_MATCHED]) and not _TRACEBACK.match(line))


def find_error_lines(lines: Sequence[str]) -> str:
    """The last lines of an output that describe an error, joined; else its last line that isn't blank.

    Args:
        lines: the last lines of the output, of limited length.
    """
    error_lines, detector = dict[str, None](), ErrorDetector()
    for index, line in enumerate(lines):
        if detector.is_error(line):
            text = line.strip().removeprefix("E  ").strip()
            following = lines[index + 1].strip() if index + 1 < len(lines) else ""
            if following and _PANIC.match(line):
                text = f"{text} {following}"
            elif following and _OWN_ERROR.match(line):
                text = f"{text}. {following}"
            error_lines.pop(text, None)  # the last one counts
            summary = _SUMMARY.match(text)
            if summary is None or not any(each.startswith(summary["start"]) for each in error_lines):
                error_lines[text] = None
    errors = [
        text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]}…"
        for text in list(error_lines)[-_MOST_ERRORS:]
    ]
    while len(errors) > 1 and sum(map(len, errors)) > _LONGEST_ERRORS:
        errors.pop(0)
    return "; ".join(errors) or next((line.strip() for line in reversed(lines) if line.strip()), "")
