"""The cost of redaction for the events of 100,000 cases, compared with a plain search for each secret.

`python benchmarks/redact_speed.py [--check]`; in CPU time of one process, contenders in turn.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

from measure import Failed, interleaved
from rows import HEAD, Row

from scoregate.kernel.host.secrets import Redactor

CASES = 100_000
SECRETS = 12
TEXT = "the correct answer order refund customer asked about it is not in stock until next week please wait"
Redact = Callable[[bytes], bytes]


def _secrets(source: random.Random) -> list[str]:
    """Keys as issuers make them, and passwords with characters that JSON escapes."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    keys = ["sk-" + "".join(source.choices(letters, k=48)) for _ in range(SECRETS - 4)]
    return keys + ["".join(source.choices(letters + "/\"'\\@$ ", k=20)) for _ in range(4)]


def _lines(source: random.Random, secrets: list[str], share: float) -> list[bytes]:
    """Events as suites write them, a share of them with a secret in the output."""
    lines, words = list[bytes](), TEXT.split()
    for number in range(CASES):
        output = " ".join(source.choices(words, k=60))
        if source.random() < share:
            output = f"{output} {source.choice(secrets)} {output}"
        reason = {"reason": " ".join(source.choices(words, k=20)), "url": "https://example.com:8080/a?b=c"}
        event = {"v": 1, "type": "case", "hash": f"{number:032x}", "output": output, "metadata": reason}
        lines.append(json.dumps(event).encode())
    return lines


def _plain(secrets: list[str]) -> Redact:
    """What redaction was before it knew of encodings: every secret as it is and as JSON has it."""
    both = {form for secret in secrets for form in (secret.encode(), json.dumps(secret)[1:-1].encode())}
    forms = sorted(both, key=len, reverse=True)

    def redact(data: bytes) -> bytes:
        for form in forms:
            if form in data:
                data = data.replace(form, b"***")
        return data

    return redact


def _seconds(redact: Redact, lines: list[bytes], hit: int) -> float:
    started = time.process_time()
    changed = sum(redact(line) is not line for line in lines)
    taken = time.process_time() - started
    if changed != hit:
        raise Failed(f"redact: {changed} lines were changed instead of {hit}")
    return taken


def measure(runs: int) -> Iterator[Row]:
    """Yield the time of redaction as a multiple of the plain search's, for two shares of cases with a secret."""
    source = random.Random(1)
    secrets = _secrets(source)
    contenders: dict[str, Redact] = {"plain": _plain(secrets), "redactor": Redactor(secrets)}
    for share in (0.0, 0.01):
        lines = _lines(source, secrets, share)
        hit = sum(contenders["plain"](line) is not line for line in lines)
        samples = interleaved({name: partial(_seconds, each, lines, hit) for name, each in contenders.items()}, runs)
        plain, redactor = (statistics.median(samples[name]) for name in ("plain", "redactor"))
        note = f"{redactor:.2f} s, plain search {plain:.2f} s; {sum(map(len, lines)) / 1e6:.0f} MB, {SECRETS} secrets"
        yield Row(f"redact, {share:.0%} of 100,000 cases with a secret", redactor / plain, "x", 1.1, note)


def main() -> int:
    """Measure and return the exit code: 1 where a target is missed and `--check` was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    parser.add_argument("--runs", type=int, default=5, help="how often each contender runs (default 5)")
    arguments = parser.parse_args()
    print(HEAD)
    missed = False
    for row in measure(arguments.runs):
        print(row, flush=True)
        missed |= row.missed
    return int(missed and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
