"""Makes, reads or merges the runs of shards: `shards.py make|read|merge FOLDER SHARDS CASES`."""

import sys
import time
from pathlib import Path

from scoregate.kernel.job.shards.merge_shards import find_shards, merge_shards
from scoregate.kernel.judge.archive import RunWriter, read_run
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.evaluation import Evaluation, Threshold
from scoregate.kernel.types.event_values import EvaluatorInfo, SuitePart
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, Script, SuiteResult
from scoregate.kernel.types.runs.run_scope import RunScope, RunShard

EVALUATORS = ("exact", "length", "polite")
THRESHOLD = Threshold(gte=0.5)


def make(folder: Path, shards: int, cases: int) -> None:
    """Write the runs of shards that divide one suite, with outputs of about 400 characters."""
    for number in range(1, shards + 1):
        columns = Columns()
        with RunWriter(folder / str(number) / "run") as writer:
            for at in range(number - 1, cases, shards):
                scores = {
                    name: Evaluation((at * 7 + place) % 100 / 100, THRESHOLD) for place, name in enumerate(EVALUATORS)
                }
                case = CaseResult(
                    0, f"case {at}", 0, f"question {at}", {"question": f"What about {at}?"}, f"answer {at} " * 35,
                    duration_ms=12.5, digest=f"{at:08x}", cluster=f"document {at // 20}", evaluations=scores,
                )  # fmt: skip
                columns.add(case)
                writer.add(case)
            suite = SuiteResult(
                "answers", "answers", script="evals/eval_answers.py", planned=len(columns), complete=True,
                evaluators={name: EvaluatorInfo(name) for name in EVALUATORS}, sdk="scoregate 1",
                trials=Trials(columns), part=SuitePart((number,), shards, cases, "0123456789abcdef"),
                duration_s=10.0,
            )  # fmt: skip
            shard = RunShard("0123456789abcdef", number, shards, f"{number:016x}")
            run = Run(
                f"{number:032x}", time.time(), RunEnd(time.time(), complete=True), RunCode("1"), RunScope(shard=shard),
                scripts=(Script("evals/eval_answers.py", exit_code=0, expected=("answers",)),), suites=(suite,),
            )  # fmt: skip
            writer.finish(run)


def main() -> None:
    """Do what the command line asks for."""
    what, folder, shards, cases = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    runs = folder / f"{shards}-{cases}"
    if what == "make":
        make(runs, shards, cases)
        return
    paths = [runs / str(number) for number in range(1, shards + 1)]
    if what == "read":
        print(sum(len(suite.columns) for path in paths for suite in read_run(path).suites))
        return
    merged = merge_shards(find_shards(paths), folder / "merged", Settings())
    assert merged.end.complete, merged.notices
    print(sum(len(suite.columns) for suite in merged.suites))


if __name__ == "__main__":
    main()
