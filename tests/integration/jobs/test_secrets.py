"""Data that a suite must not read, and output that must not be shown."""

from __future__ import annotations

import json

import pytest
from tests.fakes.github import events
from tests.integration.host.conftest import suite
from tests.integration.jobs.world import Job, World

from scoregate.kernel.job.reports import REPORTS

SECRETS = {
    "OPENAI_API_KEY": "sk-abcdefghijklmnop",
    "DATABASE_PASSWORD": 'quote"back\\slash<&>é',
    "SIGNING_KEY": "-----BEGIN KEY-----\nline-one-of-the-key\nline-two-of-the-key\n-----END KEY-----",
    "CLIENT_SECRET": "client-secret-value",
}
MASKED = ("masked-at-run-time", "masked 100% of the time")
LEAKS = """
import json, os, sys

print("::add-mask::masked-at-run-time", flush=True)
print("::add-mask::masked 100%25 of the time", flush=True)
LEAKED = [*(os.environ[name] for name in ("OPENAI_API_KEY", "DATABASE_PASSWORD", "SIGNING_KEY", "CLIENT_SECRET")),
          "masked-at-run-time", "masked 100% of the time"]
for leak in LEAKED:
    print("here:", leak)
    print("there:", leak, file=sys.stderr)


def fails(case):
    if case.input.startswith("good 0"):
        raise RuntimeError(" ".join(LEAKED))
    return " ".join(LEAKED)

"""
FORBIDDEN = ("GITHUB_TOKEN", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")


def all_output(job: Job, world: World) -> dict[str, str]:
    """All that is left of a job, by where it stands."""
    comments = [comment.body for pull in world.repo.pulls.values() for comment in pull.comments]
    checks = [str(check.output) for check in world.repo.check_runs.values()]
    files = {name: data.decode() for name, data in job.written.items()}
    outputs = (world.folder / "output").read_text()
    return {**files, "log": job.output, "summary": job.summary, "outputs": outputs,
            "comments": "".join(comments), "checks": "".join(checks)}  # fmt: skip


def test_leaked_secrets_are_in_no_file_report_or_log(world: World) -> None:
    body = LEAKS + "\nfor number, leak in enumerate(LEAKED):\n    IsEquals.id = 'is-equals'\n"
    source = suite(body, fn="fails", good=2, bad=1).replace("id='demo'", "id='demo ' + LEAKED[0]")
    world.branch()
    world.project.write("evals/demo.py", source.replace("'something else'", "LEAKED[1]"))
    world.commit()
    pull = world.open_pull_request()
    job = world.job(events.pull_request(pull), "run", "--check-run", **SECRETS)
    assert job.exit_code in (1, 3), job.output
    token = next(secret for secret in world.github.tokens)
    parts = [part for value in (*SECRETS.values(), *MASKED) for part in value.split("\n") if "KEY--" not in part]
    for place, text in all_output(job, world).items():
        for secret in (*parts, token):
            forms = {secret, secret.replace('"', '\\"'), secret.replace("&", "&amp;").replace("<", "&lt;")}
            assert not [form for form in forms if form in text], f"{secret!r} is in {place}"
    assert "demo ***" in job.result["suites"][0]["label"]
    assert "***" in job.comment


def test_a_suite_finds_no_token_no_input_and_no_file_of_commands(world: World) -> None:
    body = "import json, os, pathlib\npathlib.Path('seen.json').write_text(json.dumps(dict(os.environ)))\n"
    world.commit_suite(body, good=1)
    (job_token,) = {world.github.token(**world.permissions)}
    environment = {
        **dict.fromkeys(FORBIDDEN[2:5], str(world.folder / "file")),
        "GITHUB_TOKEN": job_token,
        "MY_COPY": f"Bearer {job_token}",
        "INPUT_KEY": "some-key",
        "INPUT_MODEL": "x",
        "ACTIONS_RUNTIME_TOKEN": "runtime-token",
        "ACTIONS_ID_TOKEN_REQUEST_URL": "https://x",
        "LD_LIBRARY_PATH": "/opt/hostedtoolcache/x",
        "OPENAI_API_KEY": "sk-theirs-to-use",
    }
    job = world.job(events.push(world.repo), **environment)
    assert job.exit_code == 0, job.output
    seen = json.loads((world.project.root / "seen.json").read_text())
    assert not [name for name in seen if name.startswith(("INPUT_", "ACTIONS_")) or name in FORBIDDEN]
    assert not [name for name, value in seen.items() if any(token in value for token in world.github.tokens)]
    assert "LD_LIBRARY_PATH" not in seen
    assert seen["OPENAI_API_KEY"] == "sk-theirs-to-use"
    assert seen["GITHUB_REPOSITORY"] == "acme/bot"
    assert job.outputs["artifact-name"] == "scoregate-some-key"


def test_hidden_outputs_are_in_no_report(world: World) -> None:
    body = """
from scoregate.testing.models import Assertion, BaseTestEvaluator, Evaluation


class Explains(BaseTestEvaluator):
    id = "explains"

    def evaluate_test_case(self, test_case, output):
        said = Assertion(criterion="is short", passed=False, required=False, metadata={"quote": output})
        return Evaluation(score=0.5, metadata={"reason": f"wrong: {output}"}, assertions=[said])


def says(case):
    return f"the-model-said {case.input}"

"""
    source = suite(body, fn="says", good=2, bad=2).replace("[IsEquals()]", "[IsEquals(), Explains()]")
    world.branch()
    world.project.write("evals/demo.py", source)
    world.commit()
    job = world.job(events.pull_request(world.open_pull_request()), "run", "--check-run", "--show-outputs", "none")
    assert job.exit_code == 1, job.output
    for place, text in all_output(job, world).items():
        assert "the-model-said" not in text, place
    outcome = world.job(events.push(world.repo, "merged"))
    assert "the-model-said" in outcome.written["cases.jsonl.gz"].decode()


ENCODED = """
import base64, json, os, shlex, sys, urllib.parse

secret = os.environ["DB_PASS"]
FORMS = [
    secret, json.dumps(secret), json.dumps(json.dumps({"deep": secret})), shlex.quote(secret),
    urllib.parse.quote(secret, safe=""), urllib.parse.quote_plus(secret),
    secret.encode().hex(), secret.encode().hex().upper(),
    *(base64.b64encode(b"u:"[:cut] + secret.encode()).decode() for cut in range(3)),
    base64.urlsafe_b64encode(secret.encode()).decode(), os.environ["CONFIG"],
    "postgres://app:word-of-the-url@db.example.com/prod",
]
for form in FORMS:
    print("here:", form)
print("long:", "." * 70_000 + secret + "." * 90_000)
sys.stdout.write("cut:" + secret[:9]); sys.stdout.flush()
sys.stdout.write(secret[9:] + "\\n"); sys.stdout.flush()

from scoregate.testing.models import Assertion, BaseTestEvaluator, Evaluation, Threshold


class Explains(BaseTestEvaluator):
    id = "explains"

    def evaluate_test_case(self, test_case, output):
        said = Assertion(criterion=FORMS[1], passed=False, required=True, metadata={"quote": FORMS})
        reason = {"nested": {"again": FORMS[2], "list": FORMS}}
        return Evaluation(score=0.1, threshold=Threshold(gte=0.5), metadata={"reason": reason}, assertions=[said])


def says(case):
    if case.input.startswith("bad 0"):
        raise RuntimeError(" ".join(FORMS))
    return {"text": " ".join(FORMS), FORMS[0]: FORMS[2]}

"""


@pytest.mark.parametrize("show", ["run", "run -v", "run --json"])
def test_no_encoding_of_a_secret_is_in_any_report_or_log(world: World, show: str) -> None:
    source = suite(ENCODED, fn="says", good=2, bad=1).replace("[IsEquals()]", "[Explains()]")
    world.branch()
    world.project.write("evals/demo.py", source)
    world.commit()
    pull = world.open_pull_request()
    secret, token = "quote\"back\\slash's $HOME<&>é", "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8t"
    environment = {"DB_PASS": secret, "CONFIG": json.dumps({"token": token}), "PIN_PASS": "hunter2"}
    job = world.job(events.pull_request(pull), *show.split(), "--check-run", **environment)
    assert job.exit_code in (1, 3), job.output
    data = secret.encode()
    middle = (
        "back\\slash",
        'quote"back',
        "$HOME<",
        "%22back",
        data.hex()[:20],
        data.hex()[:20].upper(),
        token,
        "word-of-the-url",
    )
    bases = ("cXVvdGUiYmFja", "F1b3RlImJhY2", "xdW90ZSJiYWNr")
    for place, text in all_output(job, world).items():
        for part in (*middle, *bases, "quote&quot;", "quote&#34;", '\\"back'):
            assert part not in text, f"{part!r} is in {place}"
    assert "hunter2" not in (world.folder / "output").read_text()
    assert [notice for notice in job.result["notices"] if "PIN_PASS" in notice and "fewer than 8 characters" in notice]
    assert "postgres://app:***@db" in job.written["cases.jsonl.gz"].decode()


@pytest.mark.parametrize(
    "command",
    ["gate -v", "compare -v --baseline", "report", "report -v", *(f"report --format {form}" for form in REPORTS)],
)
def test_a_stored_run_is_shown_without_the_secrets_of_this_machine(world: World, command: str) -> None:
    """It may have been recorded elsewhere, or before a value was declared secret."""
    world.commit_suite(fn="lambda case: 'said the-secret-of-now'", good=1, bad=1)
    world.job(events.push(world.repo))
    name, *flags = command.split()
    arguments = [*flags, "scoregate-out/run"] if "--baseline" in flags else flags
    job = world.job(events.push(world.repo), name, "scoregate-out/run", *arguments, NEW_PASS="the-secret-of-now")
    assert "the-secret-of-now" not in job.output
    assert command.endswith(("html", "json")) or "***" in job.output


def test_errors_and_a_message_are_printed_without_secrets(world: World) -> None:
    job = world.job(events.push(world.repo), "run", "--baseline", "no-such-ref-of-client-secret-value", **SECRETS)
    assert job.exit_code == 2
    assert "client-secret-value" not in job.output
    outcome = world.job(events.push(world.repo), "run", "-m", "with client-secret-value", **SECRETS)
    assert outcome.exit_code == 0
    for place, text in all_output(outcome, world).items():
        assert "client-secret-value" not in text, place
