"""What a fork has made up, commented in our name: numbers at most, and never more than a bound."""

from __future__ import annotations

import gzip
import time
from typing import Any

import pytest
from tests.fakes.github import Pull, bomb, zipped
from tests.integration.github.place import Place
from tests.integration.github.stage import CASE, HEAD, SUITE, Stage, record
from tests.unit.report.hostile import HOSTILE
from tests.unit.report.test_escape import tags, to_html

from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.runs.confirmations import confirmations_of

pytestmark = pytest.mark.anyio
FAILED = {"suite": 0, "hash": "c0", "evaluations": {"e": {"score": 0.0, "threshold": {"gte": 0.5}}}}
OTHER = {**SUITE, "id": "other", "label": "other", "cases": 0}


@pytest.fixture
def stage(place: Place) -> Stage:
    place.upload(place.main[2], record(commit=place.main[2], branch="main"))
    return Stage.new(place)


def title(pull: Pull) -> str:
    (comment,) = pull.comments
    return comment.body.splitlines()[1]


async def test_a_valid_record_gets_a_comment(stage: Stage) -> None:
    (published,) = await stage.publish(record())
    assert published.outcome is not None
    assert published.outcome.verdict.conclusion is Conclusion.PASSED
    assert title(stage.pull).startswith("## ✅")
    assert "Baseline: <code>main@" in stage.pull.comments[0].body


# Large ones are made by their test.
BROKEN: dict[str, Any] = {
    "no json": record(b"{"),
    "a list": record(b"[]"),
    "nothing": record(b""),
    "deep": lambda: record(b'{"schema_version":1,"policy":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "a later schema": record(schema_version=2),
    "no schema": record(b"{}"),
    "a text for a time": record(started="yesterday"),
    "a time that is none": record(b'{"schema_version":1,"id":"x","started":NaN,"finished":Infinity,"version":"0"}'),
    "a time beyond numbers": record(b'{"schema_version":1,"id":"x","started":1e999,"finished":1,"version":"0"}'),
    "a time beyond calendars": record(started=1.0, finished=1e300),
    "a time before all": record(started=-1e300),
    "suites that are none": record(suites=[1, 2]),
    "negative counts": record(suites=[{**SUITE, "evaluators": 3}]),
    "many suites": lambda: record(suites=[{"id": "a", "label": "a"}] * 100_000),
    "many scripts": lambda: record(scripts=[{"name": "a"}] * 100_000),
    "many evaluators": lambda: record(
        suites=[{**SUITE, "evaluators": {f"e{at}": {"id": "e"} for at in range(50_000)}}]
    ),
    "a large head": lambda: record(message="x" * (5 << 20)),
    "a bomb": lambda: bomb("run.json", 1 << 28),
    "a bomb of cases": lambda: {**record(), "cases.jsonl.gz": gzip.compress(bytes(600 << 20), 1)},
    "no cases": {"run.json": record()["run.json"]},
    "no zip": b"hello",
    "slip": zipped({"../../run.json": "{}"}),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_an_invalid_record_is_reported(stage: Stage, what: str) -> None:
    content = BROKEN[what]() if callable(BROKEN[what]) else BROKEN[what]
    started = time.process_time()
    (published,) = await stage.publish(content)
    assert published.outcome is None
    assert published.key == "evals"
    assert 0 < len(published.problem) < 1_000
    assert "/tmp" not in published.problem
    assert stage.pull.comments == []
    assert time.process_time() - started < 20


NOT_GREEN: dict[str, Any] = {
    "damaged cases": record(packed=b"no gzip"),
    "cases that are none": record(cases=b"{}\nnull\n[]\nx\n"),
    "a score that is none": record(cases=b'{"suite":0,"hash":"c","evaluations":{"e":{"score":NaN}}}\n'),
    "a score out of range": record(cases=[{**CASE, "evaluations": {"e": {"score": 7.0}}}]),
    "a score below range": record(cases=[{**CASE, "evaluations": {"e": {"score": -1}}}]),
    "a score of text": record(cases=[{**CASE, "evaluations": {"e": {"score": "1"}}}]),
    "a case of no suite": record(cases=[{**CASE, "suite": 7}]),
    "a negative suite": record(cases=[{**CASE, "suite": -1}]),
    "a negative count": record(cases=[{**CASE, "repeat": -1}]),
    "a huge count": record(cases=[{**CASE, "attempts": 10**300}]),
    "a negative usage": record(cases=[{**CASE, "usage": {"input_tokens": -5}}]),
    "a failing case made unreadable": record(cases=[CASE, {**FAILED, "hash": 3}]),
    "absurd amounts": record(
        cases=b"".join(
            b'{"suite":0,"hash":"c%d","duration_ms":%b,"usage":{"cost":%b,"input_tokens":9007199254740991},'
            b'"evaluations":{"e":{"score":0.0,"threshold":{"gte":0.5}}}}\n' % (at, much, much)
            for at, much in enumerate([b"1e308", b"1e308", b"1e999", b"-1e999", b"-1e308", b"0"])
        ),
        suites=[{**SUITE, "cases": 6, "duration_s": 1e308, "planned": 10**30}],
        scripts=[{"name": "a", "exit_code": 10**20, "duration_s": -1e308, "timed_out": True}],
    ),
    "no suite at all": record(suites=[], cases=[]),
    "a suite without cases": record(cases=[]),
    "a failing case": record(cases=[FAILED]),
    "claimed to have passed": record(
        suites=[{**SUITE, "statuses": {"passed": 9}, "means": {"e": 1.0}}], cases=[FAILED]
    ),
    "claimed to be left out": record(suites=[{**SUITE, "skipped": True}], cases=[FAILED]),
    "an evaluator for each case": record(
        cases=[{**FAILED, "hash": f"c{at}", "evaluations": {f"e{at}": {"score": 0.0}}} for at in range(5_000)]
    ),
    "hidden by a filter": record(suites=[OTHER], cases=[CASE], filters=["other"]),
    "hidden for want of a key": record(suites=[OTHER], cases=[CASE], skipped=["demo"]),
    "under a label of another": record(
        suites=[SUITE, {**SUITE, "complete": False}], cases=[CASE, {**FAILED, "suite": 1}]
    ),
}


@pytest.mark.parametrize("what", NOT_GREEN)
async def test_a_false_record_is_not_green(stage: Stage, what: str) -> None:
    (published,) = await stage.publish(NOT_GREEN[what])
    assert published.outcome is not None, published.problem
    assert published.outcome.verdict.conclusion is not Conclusion.PASSED
    assert not title(stage.pull).startswith("## ✅")


@pytest.mark.parametrize("claim", ["f" * 40, "../../../user", "main", "\n", "x" * 100_000])
async def test_a_claimed_commit_has_no_effect(stage: Stage, claim: str) -> None:
    (published,) = await stage.publish(record(commit=claim, branch=claim))
    assert published.outcome is not None, published.problem
    (comment,) = stage.pull.comments
    assert f"commit <code>{stage.pull.head_sha[:7]}</code>" in comment.body
    requests = {exchange.path for exchange in stage.place.github.requests}
    assert not any("user" in path for path in requests)


async def test_a_claimed_merge_of_this_head_names_the_base(stage: Stage) -> None:
    place = stage.place
    place.upload(place.main[1], record(commit=place.main[1], branch="main"))
    merged = place.repo.commit(None, parents=[place.main[1], stage.pull.head_sha])
    await stage.publish(record(commit=merged))
    assert f"Baseline: <code>main@{place.main[1][:7]}</code>, exact" in stage.pull.comments[0].body


async def test_claimed_retries_are_ignored(stage: Stage) -> None:
    tried = [{"suite": "demo", "case": "c0", "tries": [True] * 4, "base_tries": [False] * 4}]
    critical = {**FAILED, "tags": ["critical"]}
    (published,) = await stage.publish(record(cases=[critical], confirmations=tried))
    assert published.outcome is not None, published.problem
    assert confirmations_of(published.outcome.comparison.run) == ()
    assert published.outcome.verdict.conclusion is Conclusion.FAILED


async def test_of_what_features_store_only_numbers_are_used(stage: Stage) -> None:
    estimate = {"cost": {"low": 1.0, "expected": 2.0, "high": 4.0}}
    reused = {"id": "forged", "started": 1.0, "finished": 2.0}
    (published,) = await stage.publish(record(estimate=estimate, reused_from=reused, declined_from={"id": "forged"}))
    assert published.outcome is not None, published.problem
    assert [name for name, _ in published.outcome.comparison.run.slots.to_stored()] == ["estimate"]


@pytest.mark.parametrize("ours", [False, True])
async def test_only_this_job_decides_if_a_run_is_partial(stage: Stage, ours: bool) -> None:
    settings = {"suites": {"elsewhere": {"min_pass_rate": 0.5}}, **({"paths": ("evals/demo.py",)} if ours else {})}
    (published,) = await stage.publish(record(narrowed=True), settings=settings)
    assert published.outcome is not None, published.problem
    expected = Conclusion.PASSED if ours else Conclusion.UNMEASURABLE
    assert published.outcome.verdict.conclusion is expected


async def test_all_texts_are_escaped(stage: Stage) -> None:
    texts = [text for text in HOSTILE if text.strip()]
    suites = [
        {"id": text, "label": text, "complete": True, "script": text, "origin": {"file": text, "line": 3},
         "evaluators": {text: {"id": text}}, "errors": [{"type": text, "message": text, "advice": text}]}
        for text in map(shorten, texts)
    ]  # fmt: skip
    cases = [
        {"suite": index, "hash": text, "name": text, "output": text,
         "evaluations": {text: {"score": 0.0, "threshold": {"gte": 0.5}, "metadata": {"reason": text}}},
         "errors": [{"error": {"type": text, "message": text, "advice": text}, "evaluator": text}]}
        for index, text in enumerate(map(shorten, texts))
    ]  # fmt: skip
    lies = ["All suites passed", *map(shorten, texts)]
    content = record(
        suites=suites,
        cases=cases,
        notices=lies,
        message=texts[0],
        id=texts[1],
        policy={shorten(t): shorten(t) for t in texts},
    )
    (published,) = await stage.publish(content)
    assert published.outcome is not None, published.problem
    (comment,) = stage.pull.comments
    summary = (stage.place.folder / "root" / "summary").read_text()
    for text in (comment.body, summary):
        html = to_html(text)
        assert not [tag for tag in tags(html) if tag.startswith(("<img", "<script", "<h1", "<svg", "<iframe"))]
        assert "evil.example" not in "".join(tags(html))
        assert text.count("<!-- scoregate:v1") == 1
    assert len(comment.body.encode()) < 65_536


def shorten(text: str) -> str:
    return text[:2_000].encode("utf-8", "replace").decode()


async def test_each_valid_artifact_gets_a_comment(stage: Stage) -> None:
    published = await stage.publish(b"no zip", record(), record(cases=[FAILED]))
    assert sorted(each.key for each in published) == ["evals", "evals-1", "evals-2"]
    assert sum(each.outcome is not None for each in published) == 2
    assert sorted(comment.body.split()[2] for comment in stage.pull.comments) == ["key=evals-1", "key=evals-2"]


async def test_a_base_to_rerun_is_explained(stage: Stage) -> None:
    await stage.publish(record(), settings={"baseline": "rerun"})
    assert "this command runs no suites" in stage.pull.comments[0].body


async def test_a_full_summary_fits_the_limit_of_github(stage: Stage) -> None:
    summary = stage.place.folder / "root" / "summary"
    summary.parent.mkdir()
    summary.write_text("x" * 1_048_400)
    (published,) = await stage.publish(record())
    assert published.outcome is not None
    assert published.outcome.warnings == ("the summary of the job is full, so the report is not in it",)
    assert summary.stat().st_size == 1_048_400


async def test_many_artifacts_are_not_all_commented(stage: Stage) -> None:
    published = await stage.publish(*[b"no zip"] * 30)
    assert [bool(each.key) for each in published] == [True] * 20 + [False]
    assert "and" not in published[-1].problem.partition(" got no comment")[0]


async def test_only_three_runs_are_commented(stage: Stage) -> None:
    published = await stage.publish(b"no zip", *[record()] * 24)
    assert len(stage.pull.comments) == 3
    *found, left = published
    assert [each.key for each in found] == ["evals", "evals-1", "evals-10", "evals-11"]
    assert "evals-12, evals-13" in left.problem
    assert "and 1 more got no comment: a run publishes at most 3" in left.problem


async def test_a_hostile_artifact_name_is_a_normal_key(stage: Stage) -> None:
    (published,) = await stage.publish(record(), name="scoregate---><h1>../../x")
    assert published.key == "h1-..-..-x"
    assert [path.name for path in (stage.place.folder / "root").rglob("comment.md")] == ["comment.md"]
    assert not (stage.place.folder / "x").exists()
    assert HEAD["id"] == "run"
