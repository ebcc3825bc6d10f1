"""Which cases and suites of two files are compared with each other."""

from __future__ import annotations

import copy
import io
import json
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from tests.features.imports.files import imported
from tests.integration.host.conftest import Project, Ran, project

from scoregate.features.imports.common import FreeNames, Trial
from scoregate.features.imports.reader import Reader
from scoregate.features.imports.repeats import Repeats
from scoregate.features.imports.suites import Suite
from scoregate.kernel.compare.comparison import Comparison, compare, count_positional_cases
from scoregate.kernel.run.plan import RowColumns
from scoregate.kernel.types.identity import digest
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.reducer import RunReducer
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd

__all__ = ["project"]

QUESTIONS = [f"What is the capital of country {letter}?" for letter in "abcdefghijkl"]
Row = tuple[str, bool]
ROWS: list[Row] = [(question, number % 3 > 0) for number, question in enumerate(QUESTIONS)]


def deepeval_file(rows: list[Row]) -> str:
    metric = {"name": "Correct", "threshold": 0.5}
    cases = [
        {
            "name": f"test_case_{number}",
            "input": question,
            "metricsData": [metric | {"success": passed, "score": float(passed)}],
        }
        for number, (question, passed) in enumerate(rows)
    ]
    return json.dumps({"testCases": cases})


def deepeval_pytest_file(rows: list[Row]) -> str:
    return deepeval_file(rows).replace("test_case_", "test_capitals[golden").replace('", "input"', ']", "input"')


def pydantic_file(rows: list[Row]) -> str:
    cases = [
        {"name": f"Case {number}", "inputs": {"q": question}, "assertions": {"right": {"value": passed}}}
        for number, (question, passed) in enumerate(rows, 1)
    ]
    return json.dumps({"name": "run", "dataset_name": "capitals", "cases": cases, "failures": []})


def inspect_file(rows: list[Row], *, model: str = "openai/gpt-4o", task: str = "capitals", **arguments: Any) -> str:
    samples = [
        {
            "id": number,
            "epoch": 1,
            "input": [{"id": f"random-{random.random()}", "role": "user", "content": question}],
            "target": "x",
            "scores": {"match": {"value": "C" if passed else "I"}},
        }
        for number, (question, passed) in enumerate(rows, 1)
    ]
    spec = {"task": task, "model": model, "dataset": {"samples": len(rows)}, "task_args_passed": arguments}
    return json.dumps({"status": "success", "eval": spec, "samples": samples})


Prompt = tuple[str, str]
PROMPT: Prompt = ("Answer: {{q}}", "Answer: {{q}}")


def promptfoo_file(
    rows: list[Row],
    prompts: Iterable[Prompt] = (PROMPT,),
    providers: Iterable[tuple[str, str]] = (("openai:gpt-4o", ""),),
    *,
    described: bool = False,
) -> str:
    columns = [(provider, prompt) for provider in providers for prompt in prompts]
    results = [
        {
            "promptIdx": column,
            "testIdx": number,
            "provider": {"id": provider[0], "label": provider[1]},
            "prompt": {"label": prompt[0], "raw": prompt[1].replace("{{q}}", question)},
            "promptId": digest(prompt[1]),
            "vars": {"q": question, "sessionId": str(random.random())},
            "testCase": {"vars": {"q": question}} | ({"description": f"row {number}"} if described else {}),
            "success": passed,
            "gradingResult": {
                "componentResults": [{"pass": passed, "score": float(passed), "assertion": {"type": "equals"}}]
            },
        }
        for number, (question, passed) in enumerate(rows)
        for column, (provider, prompt) in enumerate(columns)
    ]
    heads = [{"provider": provider[0], "label": prompt[0], "raw": prompt[1]} for provider, prompt in columns]
    return json.dumps({"config": {"description": "capitals"}, "results": {"prompts": heads, "results": results}})


def junit_file(rows: list[Row], *, inputs: bool = True) -> str:
    cases = "".join(
        f'<testcase name="test_capitals[case{number}]">'
        + (f'<properties><property name="input" value="{question}"/></properties>' if inputs else "")
        + ("" if passed else "<failure/>")
        + "</testcase>"
        for number, (question, passed) in enumerate(rows)
    )
    return f'<testsuite name="pytest">{cases}</testsuite>'


def rows_file(rows: list[Row]) -> str:
    """The ids are the places of the rows."""
    return "".join(
        json.dumps({"id": number, "q": question, "right": passed}) + "\n"
        for number, (question, passed) in enumerate(rows)
    )


def lm_eval_file(rows: list[Row]) -> str:
    samples = [
        {"doc_id": number, "doc": {"q": question}, "target": "x", "resps": [["y"]], "metrics": ["acc"], "acc": passed}
        for number, (question, passed) in enumerate(rows)
    ]
    return "".join(json.dumps(row) + "\n" for row in samples)


def evalite_file(rows: list[Row]) -> str:
    results = [
        {"input": question, "status": "success", "scores": [{"name": "right", "score": float(passed)}]}
        for question, passed in rows
    ]
    return json.dumps({"run": {}, "evals": [{"name": "capitals", "status": "success", "results": results}]})


def vitest_file(rows: list[Row]) -> str:
    tests = [
        {
            "ancestorTitles": ["capitals"],
            "title": f"case {number}",
            "status": "passed" if passed else "failed",
            "meta": {"eval": {"input": question}},
        }
        for number, (question, passed) in enumerate(rows)
    ]
    return json.dumps({"numTotalTests": len(rows), "testResults": [{"name": "a.test.ts", "assertionResults": tests}]})


def ctrf_file(rows: list[Row]) -> str:
    tests = [
        {"name": f"row {number}", "status": "passed" if passed else "failed", "parameters": {"q": question}}
        for number, (question, passed) in enumerate(rows)
    ]
    return json.dumps({"results": {"tool": {"name": "t"}, "tests": tests}})


FILES: dict[str, tuple[str, Callable[[list[Row]], str]]] = {
    "deepeval": ("deepeval", deepeval_file),
    "deepeval under pytest": ("deepeval", deepeval_pytest_file),
    "pydantic-evals": ("pydantic-evals", pydantic_file),
    "inspect": ("inspect", inspect_file),
    "promptfoo": ("promptfoo", promptfoo_file),
    "promptfoo with numbered rows": ("promptfoo", lambda rows: promptfoo_file(rows, described=True)),
    "junit with inputs": ("junit", junit_file),
    "rows": ("rows", rows_file),
    "lm-eval": ("lm-eval", lm_eval_file),
    "evalite": ("evalite", evalite_file),
    "vitest": ("vitest", vitest_file),
    "ctrf": ("ctrf", ctrf_file),
}
COLUMNS = RowColumns(scores=("right",), case="id", input=("q",))


def name_file(form: str, number: int) -> str:
    return f"2026-11-23T0{number}_log{'.jsonl' if form == 'rows' else ''}"


def run_of(form: str, *texts: str, script: str = "evals") -> Run:
    """A run with what one command left: one file, or several with dates in their names."""
    reducer = RunReducer()
    for number, text in enumerate(texts):
        name = name_file(form, number)
        file = io.BytesIO(text.encode())
        columns = COLUMNS if form == "rows" else None
        for event in Reader(lambda line: line)(form, file, name=name, alone=len(texts) == 1, columns=columns):
            reducer.apply(name, script, event)
    return Run("id", 0, RunEnd(0, complete=True), RunCode("0"), suites=reducer.results())


def compare_files(form: str, texts: Iterable[str], base_texts: Iterable[str]) -> Comparison:
    return compare(run_of(form, *texts), run_of(form, *base_texts))


def count_flips(comparison: Comparison) -> tuple[int, int]:
    return len(comparison.newly_failing), len(comparison.newly_passing)


def count_differences(comparison: Comparison) -> set[tuple[int, int, int]]:
    """How many pairs got better and worse, and how many there are."""
    return {(row.pairs.better, row.pairs.worse, row.pairs.n) for row in comparison.rows}


def test_an_inserted_removed_or_moved_row_changes_no_other() -> None:
    source = random.Random(7)
    for name, (form, write) in FILES.items():
        base = write(ROWS)
        for place in (0, 1, len(ROWS) // 2, len(ROWS)):
            inserted = [*ROWS[:place], ("A new one?", False), *ROWS[place:]]
            comparison = compare_files(form, [write(inserted)], [base])
            assert count_differences(comparison) == {(0, 0, 12)}, name
            assert count_flips(comparison) == (0, 0), name
        for place in (0, len(ROWS) // 2, len(ROWS) - 1):
            comparison = compare_files(form, [write(ROWS[:place] + ROWS[place + 1 :])], [base])
            assert count_differences(comparison) == {(0, 0, 11)}, name
            replaced = [*ROWS[:place], ("A new one?", not ROWS[place][1]), *ROWS[place + 1 :]]
            assert count_differences(compare_files(form, [write(replaced)], [base])) == {(0, 0, 11)}, name
        for _ in range(2):
            moved = source.sample(ROWS, len(ROWS))
            comparison = compare_files(form, [write(moved)], [base])
            assert count_differences(comparison) == {(0, 0, 12)}, name
            assert count_flips(comparison) == (0, 0), name


def test_a_real_change_of_a_moved_row_is_found() -> None:
    failing = [(question, passed and number != 5) for number, (question, passed) in enumerate(ROWS)]
    for name, (form, write) in FILES.items():
        comparison = compare_files(form, [write([("A new one?", True), *failing])], [write(ROWS)])
        assert {(worse, n) for _, worse, n in count_differences(comparison)} == {(1, 12)}, name
        assert form in ("inspect", "lm-eval", "evalite") or count_flips(comparison) == (1, 0), name


def test_an_edited_case_keeps_its_own_id() -> None:
    log = json.loads(inspect_file(ROWS))
    for sample in log["samples"]:
        sample["id"] = f"country-{sample['input'][0]['content'][-2]}"
    edited = copy.deepcopy(log)
    edited["samples"][3]["input"][0]["content"] = "Asked in another way?"
    (row,) = compare_files("inspect", [json.dumps(edited)], [json.dumps(log)]).rows
    assert (row.pairs.n, row.cases.changed, row.cases.added, row.cases.removed) == (12, 1, 0, 0)


def test_numbers_of_the_author_are_no_positions() -> None:
    log = json.loads(inspect_file(ROWS))
    for sample in log["samples"]:
        sample["id"] += 4000
    assert {case.hash for case in imported("inspect", json.dumps(log)).cases} == {f"40{n:02}" for n in range(1, 13)}


def test_equal_inputs_are_paired_by_other_fields() -> None:
    log = json.loads(inspect_file([("Same?", True), ("Same?", False), *ROWS]))
    for number, sample in enumerate(log["samples"]):
        sample["target"] = f"target {number}"
    turned = log | {"samples": [log["samples"][1], log["samples"][0], *log["samples"][2:]]}
    (row,) = compare_files("inspect", [json.dumps(turned)], [json.dumps(log)]).rows
    assert (row.pairs.n, row.pairs.better, row.pairs.worse) == (14, 0, 0)


def junit_lengths(results: dict[int, bool]) -> str:
    """A test with three lengths and the same input."""
    cases = "".join(
        f'<testcase name="test_len[{length}]"><properties><property name="input" value="Same?"/></properties>'
        f"{'' if passed else '<failure/>'}</testcase>"
        for length, passed in results.items()
    )
    return f'<testsuite name="pytest">{cases}</testsuite>'


def test_equal_inputs_are_never_paired_by_their_order_in_the_file() -> None:
    lengths = {50: True, 100: True, 200: False}
    turned = dict(reversed(lengths.items()))
    log = json.loads(inspect_file([("Same?", passed) for passed in lengths.values()]))
    turned_log = log | {"samples": log["samples"][::-1]}
    report = {
        "name": "n",
        "dataset_name": "d",
        "cases": [
            {"name": f"Case {index}", "inputs": 1, "expected_output": 0, "assertions": {"right": {"value": index < 3}}}
            for index in (1, 2, 3)
        ],
        "failures": [],
    }
    turned_report = report | {"cases": report["cases"][::-1]}
    for form, text, base in (
        ("junit", junit_lengths(turned), junit_lengths(lengths)),
        ("inspect", json.dumps(turned_log), json.dumps(log)),
        ("pydantic-evals", json.dumps(turned_report), json.dumps(report)),
    ):
        comparison = compare_files(form, [text], [base])
        assert count_differences(comparison) == {(0, 0, 3)}, form
        assert count_flips(comparison) == (0, 0), form
    comparison = compare_files("junit", [junit_lengths({50: True, 100: False, 200: False})], [junit_lengths(turned)])
    assert count_flips(comparison) == (1, 0)


def test_a_case_with_a_newly_shared_input_has_no_pair() -> None:
    comparison = compare_files("junit", [junit_lengths({20: False, 50: True})], [junit_lengths({50: True})])
    assert count_flips(comparison) == (0, 0)


def test_definitions_with_the_same_input_are_different_cases_with_their_own_trials() -> None:
    log = json.loads(inspect_file([("Same?", True), ("Same?", False)]))
    for sample, target in zip(log["samples"], "xy", strict=True):
        sample["target"] = target
    samples = [sample | {"epoch": epoch} for epoch in (1, 2) for sample in log["samples"]]
    for order in (samples, samples[::-1], [samples[1], samples[2], samples[0], samples[3]]):
        cases = imported("inspect", json.dumps(log | {"samples": order})).cases
        by_hash = {case.hash: {other.digest for other in cases if other.hash == case.hash} for case in cases}
        assert [len(digests) for digests in by_hash.values()] == [1, 1]
        assert sorted(case.repeat for case in cases) == [0, 0, 1, 1]


def test_a_failed_pydantic_evals_task_keeps_its_hash() -> None:
    def report(failing: int) -> str:
        cases = [
            {
                "name": f"Case {index}",
                "inputs": "?",
                "expected_output": index % 2,
                "assertions": {},
                "error_message": "gone",
            }
            for index in range(1, 5)
        ]
        failed = [cases.pop(failing)] if failing >= 0 else []
        return json.dumps({"name": "n", "dataset_name": "d", "cases": cases, "failures": failed})

    every = {case.name: case.hash for case in imported("pydantic-evals", report(-1)).cases}
    assert len(set(every.values())) == 4
    for failing in range(4):
        assert {case.name: case.hash for case in imported("pydantic-evals", report(failing)).cases} == every


def test_many_equal_names_are_numbered_in_linear_time() -> None:
    started = time.process_time()
    names, number = FreeNames(), 100_000
    assert len({names.take("a") for _ in range(number)}) == number
    repeats = Repeats()
    for _ in range(20_000):
        repeats.start_run()
        repeats.place(Trial("a"), "a")
    suite = Suite("s")
    for _ in range(20_000):
        list(suite.events_of(Trial("a")))
    assert time.process_time() - started < 10, "each of them took minutes"


def test_a_go_test_that_fails_with_its_subtests_is_new() -> None:
    def report(*failing: str) -> str:
        names = ("TestOpens", "TestOpens/sunday", "TestOpens/week", "TestOpens/week/monday", "TestAlone")
        cases = (
            f'<testcase classname="hours" name="{name}">{"<failure/>" if name in failing else ""}</testcase>'
            for name in names
        )
        return f'<testsuite name="hours">{"".join(cases)}</testsuite>'

    passing, failing = report(), report("TestOpens")
    comparison = compare_files("junit", [failing], [passing])
    assert [comparison.run.suites[0].columns.hashes[flip.row] for flip in comparison.newly_failing] == ["TestOpens"]
    assert count_flips(compare_files("junit", [report("TestOpens/week")], [passing])) == (1, 0)
    assert count_flips(compare_files("junit", [failing], [failing])) == (0, 0)
    part = report("TestOpens", "TestOpens/sunday")
    assert count_flips(compare_files("junit", [failing], [part])) == (0, 1), "it may have failed by itself before"
    assert count_flips(compare_files("junit", [passing], [failing])) == (0, 0)


def test_random_ids_in_messages_are_no_change() -> None:
    call = {"id": "call-{}", "function": "look", "arguments": {"id": 1}, "type": "function"}
    answer = {"role": "assistant", "content": [{"type": "text", "id": "{}", "text": "?"}], "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "call-{}", "content": "found"}
    logs = []
    for name in "ab":
        log = json.loads(inspect_file(ROWS))
        messages = json.loads(json.dumps([answer, result]).replace("{}", name))
        for sample in log["samples"]:
            sample["input"] += messages
        logs.append(json.dumps(log))
    cases, others = (imported("inspect", log).cases for log in logs)
    assert [case.digest for case in cases] == [case.digest for case in others]
    assert cases[0].input[1]["tool_calls"][0]["arguments"] == {"id": 1}


def test_an_old_baseline_is_paired_by_definition() -> None:
    run, base = (
        run_of("deepeval", deepeval_file([("A new one?", False), *ROWS])),
        run_of("deepeval", deepeval_file(ROWS)),
    )
    (suite,) = base.suites
    old = replace(suite.columns, hashes=[f"test_case_{number}" for number in range(12)])
    (row,) = compare(run, replace(base, suites=(replace(suite.with_columns(old), setup=None),))).rows
    assert (row.pairs.n, row.pairs.better, row.pairs.worse, row.cases.added, row.cases.removed) == (12, 0, 0, 1, 0)


def test_row_ids_that_may_be_positions_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "COLUMNS", RowColumns(scores=("right",), case="id"))
    base, more = rows_file(ROWS), rows_file([("A new one?", True), *ROWS])
    assert list(count_positional_cases(compare_files("rows", [more], [base])).values()) == [13]
    stable = more.replace('"id": ', '"id": 40')
    assert count_positional_cases(compare_files("rows", [stable], [base])) == {}


def test_pairs_by_position_are_reported() -> None:
    base = junit_file(ROWS, inputs=False)
    comparison = compare_files("junit", [junit_file([("A new one?", True), *ROWS], inputs=False)], [base])
    assert count_positional_cases(comparison) == {"pytest": 13}
    assert count_positional_cases(compare_files("junit", [base], [base])) == {}
    named = base.replace("case", "country_").replace("testcountry_", "testcase")
    assert count_positional_cases(compare_files("junit", [named.replace("country_7", "x")], [named])) == {}


TWO: tuple[Prompt, ...] = (PROMPT, ("Reply: {{q}}", "Reply: {{q}}"))
GPT, LUNA, CLAUDE = ("openai:gpt-4o", ""), ("openai:gpt-6-luna", ""), ("anthropic:claude", "")
DROPPED = [(question, False) for question in QUESTIONS]


def pairs(comparison: Comparison) -> set[tuple[str, str]]:
    assert comparison.base is not None
    return {(comparison.run.suites[a].label, comparison.base.suites[b].label) for a, b in comparison.pairs}


PROMPTS: dict[str, tuple[tuple[Prompt, ...], tuple[Prompt, ...], set[tuple[str, str]]]] = {
    "the only prompt is edited": ((PROMPT,), (("New {{q}}", "New {{q}}"),), {("", "")}),
    "a prompt is added": ((PROMPT,), (TWO[1], PROMPT), {("2", "")}),
    "a prompt is removed": (TWO, (TWO[1],), {("", "2")}),
    "one of two is edited": (TWO, (TWO[0], ("New {{q}}", "New {{q}}")), {("1", "1"), ("2", "2")}),
    "one is edited, both moved": (TWO, (TWO[1], ("New {{q}}", "New {{q}}")), {("1", "2"), ("2", "1")}),
    "one gets a label": (TWO, (("brief", PROMPT[1]), TWO[1]), {("brief", "1"), ("2", "2")}),
    "one gets another label": (
        (("short", PROMPT[1]), TWO[1]),
        (TWO[1], ("brief", PROMPT[1])),
        {("brief", "short"), ("1", "2")},
    ),
    "a labelled one is edited": (
        (("brief", PROMPT[1]), TWO[1]),
        (TWO[1], ("brief", "New {{q}}")),
        {("brief", "brief"), ("1", "2")},
    ),
    "a file is edited": (
        (("a.txt: One {{q}}", "One {{q}}"), ("b.txt: Two {{q}}", "Two {{q}}")),
        (("b.txt: 2 {{q}}", "2 {{q}}"), ("a.txt: 1 {{q}}", "1 {{q}}")),
        {("1", "2"), ("2", "1")},
    ),
}


def suite_names(names: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {
        (f"capitals [prompt={a}]" if a else "capitals", f"capitals [prompt={b}]" if b else "capitals") for a, b in names
    }


def test_prompts_are_paired_by_label_then_text_then_position() -> None:
    for name, (before, after, expected) in PROMPTS.items():
        comparison = compare_files("promptfoo", [promptfoo_file(ROWS, after)], [promptfoo_file(ROWS, before)])
        assert pairs(comparison) == suite_names(expected), name
        assert len(comparison.gone) == len(before) - len(expected), name
        assert count_flips(comparison) == (0, 0), name


def test_the_only_prompt_is_compared_with_its_old_version() -> None:
    edited = promptfoo_file(DROPPED, [("New {{q}}", "New {{q}}")])
    comparison = compare_files("promptfoo", [edited], [promptfoo_file(ROWS)])
    assert count_flips(comparison) == (8, 0)
    assert not any(row.setup_change for row in comparison.rows)


def test_a_new_provider_leaves_the_others_paired() -> None:
    base = promptfoo_file(ROWS, TWO, [GPT])
    comparison = compare_files("promptfoo", [promptfoo_file(ROWS, TWO, [CLAUDE, GPT])], [base])
    assert comparison.gone == ()
    assert pairs(comparison) == {
        (f"capitals [provider=openai:gpt-4o, prompt={number}]", f"capitals [prompt={number}]") for number in (1, 2)
    }


def test_a_provider_with_another_label_is_the_same() -> None:
    before, after = [GPT, CLAUDE], [(CLAUDE[0], "careful"), (GPT[0], "fast")]
    comparison = compare_files(
        "promptfoo", [promptfoo_file(ROWS, providers=after)], [promptfoo_file(ROWS, providers=before)]
    )
    assert pairs(comparison) == {
        ("capitals [provider=careful]", "capitals [provider=anthropic:claude]"),
        ("capitals [provider=fast]", "capitals [provider=openai:gpt-4o]"),
    }
    assert not any(row.setup_change for row in comparison.rows)


def test_equal_providers_are_different_suites() -> None:
    imported_run = imported("promptfoo", promptfoo_file(ROWS, providers=[GPT, GPT]))
    assert list(imported_run.suites) == ["capitals [provider=openai:gpt-4o]", "capitals [provider=openai:gpt-4o] #2"]
    assert len(imported_run.cases) == 24


def test_suites_with_equal_setups_are_paired_by_id_or_not_at_all() -> None:
    run = run_of("inspect", inspect_file(ROWS))
    (suite,) = run.suites

    def of(*ids: str) -> Run:
        return replace(run, suites=tuple(replace(suite, id=each, label=each) for each in ids))

    for new, old, expected in (
        (of("a", "b"), of("b", "a"), {("a", "a"), ("b", "b")}),
        (of("a", "b"), of("b", "c"), {("b", "b")}),
        (of("a"), of("b", "c"), set()),
        (of("a", "b"), of("c"), set()),
        (of("a"), of("b"), {("a", "b")}),
    ):
        assert pairs(compare(new, old)) == expected


def test_extra_trials_of_a_baseline_get_the_names_of_its_cases() -> None:
    run, base = run_of("deepeval", deepeval_file(ROWS)), run_of("deepeval", deepeval_file(ROWS))
    (suite,) = base.suites
    old = suite.with_columns(replace(suite.columns, hashes=[f"old {number}" for number in range(12)]))
    renamed = replace(base, suites=(old,))
    comparison = compare(*(each.add_companion(TrialRole.EXTRA, each) for each in (run, renamed)))
    assert comparison.base is not None
    assert comparison.base.companions_of(TrialRole.EXTRA)[0].suites[0].columns.hashes == run.suites[0].columns.hashes
    (row,) = comparison.rows
    assert (row.pairs.n, row.cases.added, row.cases.removed) == (12, 0, 0)


def test_a_replaced_model_is_compared_and_marked() -> None:
    change = "model changed: openai:gpt-4o → openai:gpt-6-luna"
    for before, after in (([GPT], [LUNA]), ([GPT, CLAUDE], [CLAUDE, LUNA])):
        base = promptfoo_file(ROWS, providers=before)
        comparison = compare_files("promptfoo", [promptfoo_file(DROPPED, providers=after)], [base])
        changes = {row.suite: row.setup_change for row in comparison.rows}
        assert set(changes.values()) - {""} == {change}
        assert changes.get("capitals [provider=anthropic:claude]", "") == ""
        assert comparison.gone == ()
        assert count_flips(comparison) == (8 * len(before), 0)


def test_models_and_tasks_of_inspect_are_paired() -> None:
    one = inspect_file(ROWS)
    other, task = inspect_file(ROWS, model="google/gemini"), inspect_file(ROWS[:6], task="rivers")
    comparison = compare_files("inspect", [other, one, task], [one])
    assert pairs(comparison) == {("capitals [model=openai/gpt-4o]", "capitals")}
    assert comparison.gone == ()
    replaced = compare_files("inspect", [other], [one])
    assert {row.setup_change for row in replaced.rows} == {"model changed: openai/gpt-4o → google/gemini"}
    renamed = compare_files("inspect", [inspect_file(ROWS, task="capitals_v2")], [one])
    assert pairs(renamed) == {("capitals_v2", "capitals")}
    assert pairs(compare_files("inspect", [task], [inspect_file(ROWS[6:])])) == set()
    shots = compare_files("inspect", [inspect_file(ROWS, shots=5)], [inspect_file(ROWS, shots=0)])
    assert {row.setup_change for row in shots.rows} == {"arguments of the task changed"}


@pytest.mark.parametrize("alone", [True, False])
def test_another_file_leaves_the_suites_of_the_first_paired(alone: bool) -> None:
    def run(*names: str) -> Run:
        reducer = RunReducer()
        for name in names:
            file = io.BytesIO(promptfoo_file(ROWS, TWO).encode())
            for event in Reader(lambda line: line)("promptfoo", file, name=name, alone=alone and len(names) == 1):
                reducer.apply(name, "evals", event)
        return Run("id", 0, RunEnd(0), RunCode("0"), suites=reducer.results())

    result = compare(run("b.json", "a.json"), run("a.json"))
    assert result.gone == ()
    assert {result.run.suites[index].id for index, _ in result.pairs} == {f"a / capitals [prompt={n}]" for n in (1, 2)}


def gate(project: Project, form: str, text: str, *arguments: str, settings: str = "") -> Ran:
    """What the command line reports about a file that a command of the settings writes."""
    project.write("results", text)
    files = 'junit = "out"' if form == "junit" else f'imports = ["{form}:out"]'
    command = f'[[commands]]\nname = "evals"\nrun = "cp results out"\n{files}\n'
    project.write("scoregate.toml", f"fail_on_regression = true\nmin_pass_rate = 0\n{settings}\n{command}")
    outcome = project.scoregate("run", *arguments)
    return replace(outcome, out=project.root / arguments[-1])


def test_the_comment_about_a_file_with_a_new_row_and_another_model(project: Project) -> None:
    base = gate(project, "promptfoo", promptfoo_file(ROWS), "--out", "base")
    assert base.exit_code == 0, base.output
    more = [("A new one?", False), *ROWS]
    head = ("--baseline", "base", "--out", "head")
    same = gate(project, "promptfoo", promptfoo_file(more), *head)
    assert same.exit_code == 0, same.output
    assert same.result["newly_failing"] == same.result["newly_passing"] == same.result["gone"] == []
    assert "1 case added since the baseline" in same.comment
    dropped = [("A new one?", False), *DROPPED]
    replaced = gate(project, "promptfoo", promptfoo_file(dropped, providers=[CLAUDE, LUNA]), *head)
    assert replaced.exit_code == 1, replaced.output
    assert ", compared with the baseline: model changed: openai:gpt-4o → anthropic:claude." in replaced.comment
    assert replaced.comment.count("model changed: openai:gpt-4o → anthropic:claude") >= 2, "in its row and below"
    assert len(replaced.result["newly_failing"]) == 8
    assert replaced.run["suites"][0]["setup"]["evaluation"] == "capitals"


def test_the_settings_can_forbid_another_model(project: Project) -> None:
    gate(project, "inspect", inspect_file(ROWS), "--out", "base")
    luna = inspect_file(ROWS, model="openai/gpt-6-luna")
    head = ("--baseline", "base", "--out", "head")
    assert gate(project, "inspect", luna, *head).exit_code == 0
    outcome = gate(project, "inspect", luna, *head, settings='severity = { same_model = "fail" }')
    assert outcome.exit_code == 1, outcome.output
    assert (
        "The model isn't the baseline's in capitals: model changed: openai/gpt-4o → openai/gpt-6-luna" in outcome.output
    )
    warned = gate(project, "inspect", luna, *head, settings='severity = { same_model = "warn" }')
    assert warned.exit_code == 0
    assert [finding["rule"] for finding in warned.result["warnings"]] == ["same model"]


def test_a_model_that_is_unknown_on_one_side_is_not_the_same(project: Project) -> None:
    known, unknown = inspect_file(ROWS), inspect_file(ROWS, model="")
    strict = 'severity = { same_model = "fail" }'
    for base, head, side in ((known, unknown, "run"), (unknown, known, "baseline")):
        gate(project, "inspect", base, "--out", "base")
        outcome = gate(project, "inspect", head, "--baseline", "base", "--out", "head", settings=strict)
        assert outcome.exit_code == 3, outcome.output
        assert f"the model of the {side} is unknown" in outcome.output
    assert gate(project, "inspect", known, "--baseline", "base", "--out", "head").exit_code == 0
    gate(project, "inspect", unknown, "--out", "base")
    same = gate(project, "inspect", unknown, "--baseline", "base", "--out", "head", settings=strict)
    assert same.exit_code == 0, same.output


def test_a_limit_for_an_evaluation_applies_to_each_provider(project: Project) -> None:
    limits = "[suites.capitals]\nmin_pass_rate = 0.9"
    for providers in ([GPT], [GPT, CLAUDE]):
        outcome = gate(
            project, "promptfoo", promptfoo_file(ROWS, providers=providers), "--out", "out2", settings=limits
        )
        assert [finding["conclusion"] for finding in outcome.result["findings"] if finding["rule"] == "pass rate"] == (
            ["failed"] * len(providers)
        ), outcome.output


def test_the_comment_reports_pairs_by_position(project: Project) -> None:
    gate(project, "junit", junit_file(ROWS, inputs=False), "--out", "base")
    more = junit_file([("A new one?", True), *ROWS], inputs=False)
    outcome = gate(project, "junit", more, "--baseline", "base", "--out", "head")
    assert outcome.result["newly_failing"], "pairs by position are wrong here"
    assert "pytest: 13 cases can only be paired by position" in outcome.comment
