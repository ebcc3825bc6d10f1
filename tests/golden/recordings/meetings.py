"""Features that meet in one run."""

from __future__ import annotations

from collections.abc import Sequence

from tests.features.arms import skills
from tests.golden.recordings import evidence, models, partial, repeats, suites
from tests.golden.recordings.bench import Bench, Command, judge_commands, make_row, recording


@recording
def affected_quarantine(bench: Bench) -> None:
    """A carried suite has cases in quarantine, as the one that runs has."""
    bench.settings("affected = true", "min_pass_rate = 0.9", "fail_on_regression = true")
    evidence.write_quarantine(bench)
    bench.suite("hours", wrong=(11,))
    bench.suite("refunds", wrong=(1, 12))
    bench.base()
    bench.prompt("hours", (1, 10, 3))
    bench.change()


@recording
def kept_quarantine(bench: Bench) -> None:
    """Kept cases and cases that ran are in quarantine."""
    bench.settings("affected = true", "min_pass_rate = 0.5", "max_drop = 0.2")
    evidence.write_quarantine(bench)
    bench.suite("hours", wrong=(11, 12))
    bench.base()
    evidence.keep_cases(bench, 1, 3, 13, 14)
    bench.change()


@recording
def kept_slices(bench: Bench) -> None:
    """Rows of French cases changed, and their slice drops; the others are kept."""
    bench.settings("affected = true", "min_pass_rate = 0", 'slices = ["lang"]', 'max_slice_drop = { "lang=*" = 0.05 }')
    bench.suite("hours", 30)
    bench.base()
    evidence.keep_cases(bench, *range(0, 24, 3), cases=30)
    bench.change()


@recording
def kept_accepted(bench: Bench) -> None:
    """A drop of the cases that ran is accepted, and the others are kept."""
    bench.settings("affected = true", "min_pass_rate = 0", "fail_on_regression = true", "max_drop = 0.1")
    bench.write(".scoregate/accepted.toml", evidence.ACCEPTED.format(most=0.6))
    bench.suite("hours", 30)
    bench.base()
    evidence.keep_cases(bench, *range(14), cases=30)
    bench.change()


@recording
def kept_drift(bench: Bench) -> None:
    """Kept cases and a drift control."""
    bench.settings("affected = true", "min_pass_rate = 0", "drift_control = 0.5", "fail_on_regression = true")
    bench.suite("hours", 30)
    bench.base()
    evidence.keep_cases(bench, *range(12), cases=30)
    bench.change()


@recording
def kept_repeats(bench: Bench) -> None:
    """Each case runs twice; rows of some changed."""
    bench.settings("affected = true", "min_pass_rate = 0", "repeats = 2", "max_drop = 0.3")
    bench.suite("hours")
    bench.base()
    evidence.keep_cases(bench, 2, 5, 6)
    bench.change()


@recording
def kept_confirm(bench: Bench) -> None:
    """A case whose row changed fails, and its tries fail; the others are kept."""
    bench.settings("affected = true", "min_pass_rate = 0", "fail_on_critical = true")
    bench.suite("hours")
    bench.rows("hours", [make_row(at, tags=["critical"]) for at in range(20)])
    bench.base()
    rows = [make_row(at, tags=["critical"], **({"expected": "other"} if at == 4 else {})) for at in range(20)]
    bench.rows("hours", rows)
    bench.change("--confirm", "all")


@recording
def affected_drift(bench: Bench) -> None:
    """One suite is carried; the provider of the other got worse."""
    repeats.plant_drift(bench, "affected = true")
    repeats.write_drift(bench, failing=2)
    bench.change("--affected", PROVIDER="usual")


@recording
def affected_shards(bench: Bench) -> Sequence[Command]:
    """Shards of a run in which a suite is carried, and rows of another changed."""
    bench.settings("affected = true", "min_pass_rate = 0.5", "max_drop = 0.3")
    for name in ("hours", "refunds", "trips"):
        bench.suite(name, wrong=(1,))
    bench.base()
    bench.prompt("trips", (1, 2, 3))
    evidence.keep_cases(bench, 4, 5)
    bench.commit()
    run_shards(bench)
    return [("merge", "shards/*", "--out", "merged", "--json"), *judge_commands("merged")]


def run_shards(bench: Bench, *, of: int = 2, **environment: str) -> None:
    """Plan shards and run each."""
    bench.do("plan", "--shards", str(of), "--output", "scoregate-out/partition.json", **environment)
    for number in range(1, of + 1):
        run_shard(bench, number, of, **environment)


def run_shard(bench: Bench, number: int, of: int, *words: str, **environment: str) -> None:
    """Run one shard."""
    options = ("--shard", f"{number}/{of}", "--partition", "scoregate-out/partition.json")
    bench.do("run", *options, "--out", f"shards/{number}", *words, **environment)


@recording
def quarantine_shards(bench: Bench) -> Sequence[Command]:
    """Shards with cases in quarantine and an accepted regression."""
    bench.settings("min_pass_rate = 0.5", "fail_on_regression = true")
    evidence.write_quarantine(bench)
    bench.write(".scoregate/accepted.toml", evidence.ACCEPTED.format(most=0.9))
    bench.suite("hours", 30)
    bench.suite("refunds", 30)
    bench.base()
    bench.prompt("hours", range(20))
    bench.prompt("refunds", (1, 2, 11))
    bench.commit()
    run_shards(bench)
    return [("merge", "shards/*", "--out", "merged", "--json"), *judge_commands("merged")]


@recording
def resume_shards(bench: Bench) -> Sequence[Command]:
    """A shard had errors and was resumed; the shards are merged."""
    bench.settings("min_pass_rate = 0.5", "fail_on_regression = true")
    bench.suite("refunds")
    bench.write("evals/hours.py", partial.UNSTABLE.replace("FAILING", "['q3', 'q4']"))
    bench.write("state/.gitignore", "*\n")
    bench.base()
    bench.write("state/down", "x")
    run_shards(bench)
    (bench.root / "state/down").unlink()
    for number in (1, 2):
        run_shard(bench, number, 2, "--resume")
    return [("merge", "shards/*", "--out", "merged", "--json"), *judge_commands("merged")]


@recording
def resume_quarantine(bench: Bench) -> None:
    """Reused results are of cases in quarantine."""
    evidence.write_quarantine(bench)
    partial.prepare_resume(bench)
    bench.do("run", "--resume")


@recording
def resume_confirm(bench: Bench) -> None:
    """A resumed run that confirms its failures."""
    partial.prepare_resume(bench, failing=(5,))
    bench.do("run", "--resume", "--confirm", "all")


@recording
def arms_affected(bench: Bench) -> None:
    """A skill changed; the arm without it is carried."""
    suites.prepare_skill(bench, 'baseline = "base"', "affected = true")
    bench.suite("hours")
    bench.base()
    bench.write("skills/paint/SKILL.md", skills.skill(facts=14))
    bench.change()


@recording
def arms_quarantine(bench: Bench) -> None:
    """Cases of a skill are in quarantine."""
    suites.prepare_skill(bench, 'baseline = "base"', "min_pass_rate = 0.5")
    evidence.write_quarantine(bench, "1")
    bench.base()
    bench.write("skills/paint/SKILL.md", skills.skill(facts=12))
    bench.change()


@recording
def gateway_carried(bench: Bench) -> None:
    """A suite whose calls the gateway counted is carried; another runs."""
    with models.open_gateway_suites(bench, "affected = true") as environ:
        bench.base(**environ)
        bench.prompt("hours", (1, 2))
        bench.change(**environ)


@recording
def gateway_kept(bench: Bench) -> None:
    """A limit of costs where most cases are kept, and the gateway counts those that ran."""
    with models.open_gateway_suites(
        bench, "affected = true", "[suites.ask]", "max_cost = 0.0005", "max_cost_ratio = 1.1"
    ) as environ:
        bench.base(**environ)
        models.write_questions(bench, 10, changed=(3, 4))
        bench.change(**environ)


@recording
def gateway_shards(bench: Bench) -> Sequence[Command]:
    """Shards whose calls the gateway counted."""
    with models.open_gateway_suites(bench, "[suites.ask]", "max_cost = 1") as environ:
        bench.base(**environ)
        bench.prompt("hours", (1, 2))
        bench.commit()
        run_shards(bench, **environ)
    return [("merge", "shards/*", "--out", "merged", "--json"), *judge_commands("merged")]
