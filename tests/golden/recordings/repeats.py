"""Cases that run more than once: repeats, extra trials, confirmations, the control of drift."""

from __future__ import annotations

from collections.abc import Sequence

from tests.golden.recordings.bench import Bench, Command, judge_commands, make_events, recording
from tests.golden.recordings.partial import QUARANTINE
from tests.integration.host.conftest import suite
from tests.integration.host.test_confirm import CRITICAL
from tests.integration.jobs import test_shard_controls as controls

# A call counts its tries in a file that git ignores; some pass in turn.
FLAKY = """
from pathlib import Path

from scoregate import evaluate
from scoregate.scorers import equals

state = Path("state")


def task(input):
    with (state / input).open("a") as file:
        file.write("x")
    tries = len((state / input).read_text())
    return input if RULE else "no"


data = [{"input": f"q{at}", "expected": f"q{at}", "tags": TAGS} for at in range(12)]
evaluate("hours", data=data, task=task, scorers=[equals()], concurrency=1)
"""


def write_flaky(bench: Bench, rule: str, tags: str = "[]") -> None:
    """A suite whose answer is right if a rule of `input` and `tries` holds."""
    bench.write("state/.gitignore", "*\n")
    for path in (bench.root / "state").glob("q*"):
        path.unlink()
    bench.write("evals/hours.py", FLAKY.replace("RULE", rule).replace("TAGS", tags))


@recording
def repeats(bench: Bench) -> None:
    """Each case ran 3 times; some pass in turn."""
    bench.settings("min_pass_rate = 0.5", "fail_on_regression = true", "repeats = 3")
    write_flaky(bench, "input != 'q1' or tries % 2")
    bench.base()
    write_flaky(bench, "input not in ('q1', 'q2', 'q3') or tries % 3")
    bench.change()


def record_auto(bench: Bench, *words: str) -> None:
    """`--repeats auto` with a base that runs as well; the change fails 2 of 20 cases."""
    bench.write(".gitignore", "scoregate-out/\n__pycache__/\n")
    settings = "min_pass_rate = 0\nfail_on_regression = true\n"
    bench.write("scoregate.toml", settings)
    bench.write("evals/demo.py", suite(good=20))
    bench.commit()
    bench.git("checkout", "-qb", "change")
    bench.write(
        "evals/demo.py", suite(good=20, fn="lambda case: 'no' if case.input in ('good 3', 'good 4') else case.input")
    )
    bench.commit()
    bench.do("run", "--repeats", "auto", "--baseline", "rerun:main", *words)


@recording
def repeats_auto(bench: Bench) -> None:
    """`--repeats auto` ran more trials of 2 undecided cases on both sides."""
    record_auto(bench)


@recording
def repeats_auto_confirm(bench: Bench) -> None:
    """Extra trials and confirmations in one run."""
    record_auto(bench, "--confirm", "all")


@recording
def repeats_auto_quarantine(bench: Bench) -> None:
    """Extra trials where one of the undecided cases is in quarantine."""
    bench.write(".scoregate/quarantine.toml", QUARANTINE.replace("q1", "good 3"))
    record_auto(bench)


def record_confirm(bench: Bench, passes: str, *words: str, config: str = "") -> None:
    """A critical case passed in the base; now its nth call passes if `passes` is true of n."""
    script = CRITICAL.replace('tags=["critical"]', f'tags=["critical"]{config}')
    bench.settings("min_pass_rate = 0", "fail_on_critical = true")
    bench.write("evals/.gitignore", "calls.txt\n")
    bench.write("evals/demo.py", script.replace("PASSES(len(seen))", "True"))
    bench.base()
    (bench.root / "evals/calls.txt").unlink()
    bench.write("evals/demo.py", script.replace("PASSES(len(seen))", f"(lambda n: {passes})(len(seen))"))
    bench.change(*words)


@recording
def confirm_cleared(bench: Bench) -> None:
    """A critical case failed by chance, and its tries pass."""
    record_confirm(bench, "n > 0", "--confirm", "critical")


@recording
def confirm_fails(bench: Bench) -> None:
    """A critical case keeps failing."""
    record_confirm(bench, "False", "--confirm", "critical")


@recording
def confirm_quarantine(bench: Bench) -> None:
    """A critical case that is in quarantine keeps failing."""
    bench.write(".scoregate/quarantine.toml", QUARANTINE.replace("q1", "good 3"))
    record_confirm(bench, "False", "--confirm", "all")


CONTROL = 'min_pass_rate = 0\nfail_on_regression = true\ndrift_control = {share}\nbaseline = "base"\n'


def plant_drift(bench: Bench, *settings: str, share: float = 0.5, cases: int = 120) -> None:
    """A base with a long suite and a short one; a variable plays the provider."""
    bench.write(".gitignore", "scoregate-out\nbase\nshards\nwhole\n.scoregate*\n__pycache__\n")
    bench.write("scoregate.toml", CONTROL.format(share=share) + "".join(f"{line}\n" for line in settings))
    write_drift(bench, cases=cases)
    bench.write("evals/eval_few.py", controls.SUITE.format(name="few", cases=10, failing=0))
    bench.commit()
    bench.do("run", "--baseline", "none", "--out", "base", PROVIDER="usual")


def write_drift(bench: Bench, failing: int = 1, cases: int = 120) -> None:
    """The long suite."""
    bench.write("evals/eval_capitals.py", controls.SUITE.format(name="capitals", cases=cases, failing=failing))


@recording
def drift(bench: Bench) -> None:
    """The provider got worse; the control shows it, so the change isn't blamed."""
    plant_drift(bench)
    bench.write("notes.md", "new")
    bench.change(PROVIDER="worse")


@recording
def drift_and_regression(bench: Bench) -> None:
    """The provider and the change got worse."""
    plant_drift(bench, share=1)
    write_drift(bench, failing=4)
    bench.change(PROVIDER="worse")


@recording
def drift_small(bench: Bench) -> None:
    """The control is too small to correct anything."""
    plant_drift(bench, share=0.1)
    bench.write("notes.md", "new")
    bench.change(PROVIDER="worse")


@recording
def drift_accepted(bench: Bench) -> None:
    """A regression beyond the drift is accepted."""
    about = 'until = 2999-12-31\nreason = "new prompt"\nby = "ana"\nat_most = 0.5\n'
    entry = f'[[accepted]]\nsuite = "capitals"\nevaluator = "*"\n{about}'
    plant_drift(bench)
    bench.write(".gitignore", "scoregate-out\nbase\n__pycache__\n.scoregate-cache\n")
    bench.write(".scoregate/accepted.toml", entry)
    write_drift(bench, failing=4)
    bench.change(PROVIDER="worse")


def shards_of_drift(bench: Bench, *, lost: bool = False, failing: int = 1) -> Sequence[Command]:
    """Three shards that each measured the control of their cases."""
    plant_drift(bench)
    path = bench.root / "base/run/run.json"
    path.write_text(path.read_text().replace('"duration_s": 0.0', '"duration_s": 900.0', 1))
    write_drift(bench, failing=failing)
    bench.write("notes.md", "new")
    bench.commit()
    controls.run_shards(bench)
    if lost:
        for path in (bench.root / "shards/2/run/control").glob("*"):
            path.unlink()
        (bench.root / "shards/2/run/control").rmdir()
    return [("merge", "shards/*", "--out", "merged", "--json"), *judge_commands("merged")]


@recording
def drift_shards(bench: Bench) -> Sequence[Command]:
    """The provider got worse; shards measured their own control."""
    return shards_of_drift(bench)


@recording
def drift_shards_lost(bench: Bench) -> Sequence[Command]:
    """The control of a shard is missing, so nothing is corrected."""
    return shards_of_drift(bench, lost=True)


def record_attempts(bench: Bench, *settings: str, later: str = "input not in WRONG or tries > 1") -> None:
    """A job that is run again: the first attempt fails 8 of 12 cases, by default the second none. Calls cost money."""
    shop = bench.log("shop", make_events(20, wrong=(1, 2)))
    command = ("[[commands]]", "name = 'shop'", f"run = ['sh', '-c', '{shop}']")
    bench.settings("max_error_rate = 0.1", 'slices = ["tag"]', *settings, *command)
    tags = "['even'] if at % 2 == 0 else ['odd']"
    write_flaky(bench, "True", tags)
    bench.base()
    wrong = ", ".join(f"'q{at}'" for at in range(8))
    write_flaky(bench, later.replace("WRONG", f"({wrong})"), tags)
    bench.change()
    bench.do("run", "--resume")


@recording
def attempts(bench: Bench) -> None:
    """The second attempt of a commit is green alone; together they are worse."""
    record_attempts(bench, "fail_on_regression = true", "max_cost = 0.3")


@recording
def attempts_limits(bench: Bench) -> None:
    """Limits of all attempts, and of a slice; a case in quarantine has the trials of the last attempt only."""
    bench.write(".scoregate/quarantine.toml", QUARANTINE)
    record_attempts(bench, "min_pass_rate = 0.9", 'max_slice_drop = { "tag=*" = 0.05 }')


@recording
def attempts_errors(bench: Bench) -> None:
    """A trial of the first attempt met an error, within the limit; the second attempt has the same failures."""
    record_attempts(bench, "max_drop = 0.2", later="(input != 'q9' or 1 // (tries - 1)) and input not in WRONG")
