"""Affected suites in jobs: the base's artifact has the dependencies of suites; a push runs everything."""

from __future__ import annotations

import json

from tests.fakes.github import events
from tests.features.affected.test_affected import SUITE, carried_suites
from tests.integration.jobs.world import Job, World


def prepare(world: World, settings: str = "affected = true\n") -> None:
    """Two suites on main, and a run of them."""
    write_suites(world, settings)
    world.push()


def write_suites(world: World, settings: str) -> None:
    """Two suites on main that depend on files of their own."""
    world.project.write("scoregate.toml", settings)
    world.project.write(".gitignore", "scoregate-out/\n__pycache__/\n.scoregate-cache/\n")
    (world.project.root / "evals" / "demo.py").unlink()
    for name in ("one", "two"):
        world.project.write(f"evals/{name}.py", SUITE.format(name=name, cases=20))
        world.project.write(f"app/{name}.py", "def answer(input): return input\n")
        world.project.write(f"prompts/{name}.md", name)
    world.commit()


def judge(world: World, **files: str) -> Job:
    """The job of a pull request that writes files."""
    world.branch()
    for name, text in files.items():
        world.project.write(name.replace("__", "/").replace("_", "."), text)
    world.commit()
    return world.job(events.pull_request(world.open_pull_request()))


def test_a_pull_request_runs_what_it_affects(world: World) -> None:
    prepare(world)
    job = judge(world, app__one_py="def answer(input): return 'wrong'\n")
    assert (job.exit_code, carried_suites(job)) == (1, ["two"]), job.output
    assert "not affected (results of main@" in job.comment
    assert "1 suite did not run" in job.comment


def test_a_check_reports_if_nothing_is_affected(world: World) -> None:
    prepare(world)
    job = judge(world, README_md="text")
    assert (job.exit_code, sorted(carried_suites(job))) == (0, ["one", "two"]), job.output
    assert job.outputs["conclusion"] == "passed"
    assert "2 suites did not run" in job.comment


def test_a_push_to_the_base_branch_runs_everything(world: World) -> None:
    prepare(world)
    world.project.write("README.md", "text")
    world.commit()
    job = world.push()
    assert carried_suites(job) == [], job.output
    assert "All suites ran: this is not a pull request" in job.output


def test_a_push_may_run_what_changed_since_the_last_run(world: World) -> None:
    prepare(world, "affected = true\naffected_push = true\nmin_pass_rate = 0\n")
    jobs = []
    for name in ("README.md", "prompts/one.md"):
        world.project.write(name, "other")
        world.commit()
        jobs.append(world.push())
    assert [sorted(carried_suites(job)) for job in jobs] == [["one", "two"], ["two"]], jobs[1].output
    # Two pushes later, the results of the other suite are still those of the run that measured them.
    first, second = ({each["label"]: each["carried"] for each in job.result["suites"]}["two"] for job in jobs)
    assert first == second
    assert 0 < first["finished"] < jobs[0].result["run"]["started"]
    change = judge(world, app__two_py="def answer(input): return input + ''\n")
    assert carried_suites(change) == ["one"], change.output
    rows = {row["suite"]: row for row in change.result["rows"]}
    # They are a base for a change of that suite, but the runs that only kept them are no further evidence.
    assert (rows["two"]["label"], rows["two"]["n"], rows["two"]["base_runs"]) == ("unchanged", 20, 1)
    world.project.git("checkout", "-q", "main")
    assert carried_suites(world.job(events.schedule(world.repo))) == []


def test_a_shallow_clone_is_enough(world: World) -> None:
    prepare(world)
    world.branch()
    world.project.write("prompts/two.md", "other")
    world.commit()
    pull = world.open_pull_request()
    world.check_out_shallow("merged")
    job = world.job(events.pull_request(pull))
    assert carried_suites(job) == ["one"], job.output


def test_without_a_base_record_everything_runs(world: World) -> None:
    prepare(world, "")
    job = judge(world, scoregate_toml="affected = true\n")
    assert carried_suites(job) == [], job.output
    assert "the base's run did not record what its suites depend on" in job.output


def test_a_fork_cannot_supply_its_record(world: World) -> None:
    """A run that the pull request commits is not its base, whatever its settings say."""
    prepare(world)
    run = json.loads((world.push().out / "run" / "run.json").read_text(encoding="utf-8"))
    assert run["dependencies"]["scripts"]
    world.branch()
    world.project.git("checkout", "-q", "-f", "change")
    world.project.write(".gitignore", "")
    world.project.write("scoregate.toml", 'affected = true\nbaseline = "planted"\n')
    world.project.write("app/one.py", "def answer(input): return 'wrong'\n")
    world.project.git("add", "-A")
    planted = world.project.root / "planted"
    (world.project.root / "scoregate-out" / "run").rename(planted)
    world.commit()
    job = world.job(events.pull_request(world.open_pull_request(fork=world.fork())))
    assert job.exit_code == 1, job.output
    assert carried_suites(job) == []
    assert "the change itself names its baseline" in job.output


UNREAD = 'affected = true\nannotate_unread = ["prompts/**", "app/*.py"]\n'


def unread_notices(job: Job) -> list[tuple[str, str]]:
    """The notices of files that no eval reads, and why that is unknown."""
    notices = [each for each in job.commands if each.name == "notice"]
    return [(each.properties.get("file", ""), each.message) for each in notices]


def test_changed_files_that_no_eval_reads_get_a_note(world: World) -> None:
    prepare(world, UNREAD)
    world.project.write("prompts/old.md", "old")
    world.commit()
    world.push()
    (world.project.root / "prompts/old.md").unlink()
    job = judge(world, prompts__new_md="new", prompts__one_md="other", app__unused_py="", README_md="text")
    text = "No eval reads this file."
    assert unread_notices(job) == [("app/unused.py", text), ("prompts/new.md", text)], job.output
    assert job.exit_code == 0


def test_notes_are_few(world: World) -> None:
    prepare(world, UNREAD)
    job = judge(world, **{f"prompts__{index}_md": "" for index in range(9)})
    assert len(unread_notices(job)) == 5
    assert unread_notices(job)[-1] == ("", "5 more changed files that no eval reads")


def test_unclear_changes_have_no_notes(world: World) -> None:
    prepare(world, UNREAD)
    starts = "import subprocess\nsubprocess.run(['true'])\n"
    job = judge(world, prompts__new_md="new", app__one_py=f"{starts}def answer(input): return input\n")
    ((file, message),) = unread_notices(job)
    assert file == ""
    assert "annotate_unread: it is unknown whether an eval reads the changed files: evals/one.py: " in message


def test_without_a_record_files_have_no_note(world: World) -> None:
    prepare(world, UNREAD.replace("true", "false"))
    ((file, message),) = unread_notices(judge(world, prompts__new_md="new"))
    assert (file, "it needs `affected`" in message) == ("", True)


def test_a_github_failure_is_a_warning(world: World) -> None:
    prepare(world, UNREAD)
    world.github.fail("GET", "*/compare/*", status=403, body={"message": "Resource not accessible"}, times=9)
    job = judge(world, prompts__new_md="new")
    assert unread_notices(job) == []
    assert "annotate_unread: the changed files are unknown" in job.output
    assert job.exit_code == 0


ROWS = """
from scoregate import evaluate
from scoregate.scorers import equals

evaluate("rows", data="data/rows.jsonl", task=lambda input: input, scorers=[equals()])
"""


def write_rows(world: World, expected: list[str]) -> None:
    rows = [json.dumps({"input": str(index), "expected": each}) for index, each in enumerate(expected)]
    world.project.write("data/rows.jsonl", "\n".join(rows) + "\n")


def test_a_pull_request_runs_the_cases_of_changed_rows(world: World) -> None:
    write_suites(world, "affected = true\naffected_push = true\nmin_pass_rate = 0.9\n")
    world.project.write("evals/rows.py", ROWS)
    write_rows(world, [str(index) for index in range(20)])
    world.commit()
    world.push()
    world.branch()
    write_rows(world, ["wrong", *(str(index) for index in range(1, 20))])
    world.commit()
    pull = world.open_pull_request()
    job = world.job(events.pull_request(pull))
    assert (job.exit_code, sorted(carried_suites(job))) == (0, ["one", "two"]), job.output
    suite = next(each for each in job.result["suites"] if each["id"] == "rows")
    assert (suite["trials"], suite["reused"], suite["failed"], suite["carried"]) == (20, 19, 1, None)
    assert suite["kept"]["name"].startswith("main@")
    assert "rows: 1 of 20 cases ran, because only rows of data/rows.jsonl changed" in job.comment
    text = (job.out / "junit.xml").read_text(encoding="utf-8")
    assert 'value="19 of 20 results are those of main@' in text
    # The results are no point of a history, and no base: a push runs all cases.
    world.project.git("checkout", "-q", "main")
    write_rows(world, ["other", *(str(index) for index in range(1, 20))])
    world.commit()
    pushed = next(each for each in world.push().result["suites"] if each["id"] == "rows")
    assert (pushed["reused"], pushed["kept"]) == (0, None)
