"""Pull requests: failing, passing, first, unmeasurable, and with conversations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from tests.unit.report.runs import NOW, ExampleSuite, Score, Trial, make_base, make_run, view_of

from scoregate.kernel.report.view import ReportView
from scoregate.kernel.types.conversation import Conversation, EndReason, Turn
from scoregate.kernel.types.evaluation import Threshold, Usage
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, Fingerprint, Origin
from scoregate.kernel.types.runs.history import history_after, with_history_of
from scoregate.kernel.types.runs.model_calls import ModelCalls
from scoregate.kernel.types.runs.past_runs import History
from scoregate.kernel.types.runs.policy import Limits
from scoregate.kernel.types.runs.run import Script

_REPLY = "Thank you for asking.\nYou can return it for a refund or store credit within 30 days. Keep the receipt."
_VEGETARIAN = "Try Armando al Pantheon: as you are vegetarian, have their artichokes and the cacio e pepe."
_NAMES = ("refund after 30 days", "cancel by phone", "change the address", "order never arrived")
_GATES = Limits(
    min_pass_rate=0.9,
    min_score={"has-all-substrings": 0.95},
    max_drop={"*": 0.05},
    origin={"min_pass_rate": "pyproject.toml", "min_score.has-all-substrings": "pyproject.toml"},
)


def bot(forgets: range, vague: range, *, count: int = 200, slower: float = 1.0) -> ExampleSuite:
    """A suite with two evaluators; the cases in `forgets` and in `vague` fail."""
    judge_of = Fingerprint(prompt="p1", model="judge-large")
    evaluators = (EvaluatorInfo("has-all-substrings", Fingerprint(source="s1")), EvaluatorInfo("accuracy", judge_of))
    trials = [_bot_trial(at, at in forgets, at in vague, slower=slower, cost=0.3 / count) for at in range(count)]
    return ExampleSuite("support-bot", trials, evaluators)


def _bot_trial(at: int, forgets: bool, vague: bool, *, slower: float, cost: float) -> Trial:
    missing = {"missing_substrings": ["store credit"]} if forgets else None
    reason = {"reason": "leaves out the opening hours"} if vague else None
    return Trial(
        f"{at:08x}",
        [
            Score("has-all-substrings", 0.0 if forgets else 1.0, Threshold(gte=1), missing),
            Score("accuracy", 0.5 if vague else 1.0, Threshold(gte=0.7), reason),
        ],
        name=f"{_NAMES[at % 4]} {at // 4 + 1}",
        output=_REPLY.replace(" or store credit", "") if forgets else _REPLY,
        duration_ms=(600 + 37 * (at % 40)) * slower,
        usage=Usage(400, 52, 0, cost, "small"),
    )


def router(wrong: range) -> ExampleSuite:
    """A suite without thresholds."""
    trials = [Trial(f"r{at}", [Score("is-equals", float(at not in wrong), None)], duration_ms=220) for at in range(100)]
    return ExampleSuite("router", trials, (EvaluatorInfo("is-equals"),), Origin("evals/router.py", 12))


def rag(prompt: str) -> ExampleSuite:
    """A suite whose judge can change."""
    trials = [Trial(f"g{at}", [Score("faithfulness", 0.8, None)]) for at in range(40)]
    return ExampleSuite("rag", trials, (EvaluatorInfo("faithfulness", Fingerprint(prompt=prompt)),))


def planner(forgets: int, rude: int, count: int = 24) -> ExampleSuite:
    """A suite of conversations of three turns: the first ones forget earlier messages, the next are rude."""
    trials = [_planner_trial(at, at < forgets, forgets <= at < forgets + rude) for at in range(count)]
    return ExampleSuite(
        "trip-planner", trials, (EvaluatorInfo("goal"), EvaluatorInfo("polite")), Origin("evals/planner.py", 7)
    )


def _planner_trial(at: int, forgets: bool, rude: bool) -> Trial:
    steak = "Try Checchino dal 1887: their oxtail and their grilled steak are famous." if forgets else _VEGETARIAN
    turns = (
        Turn("Hi! I am going to Rome in May, and I am vegetarian.", "How nice! May is lovely. What would you like?"),
        Turn("Where should I have dinner on my first evening?", steak, tool_calls=({"name": "search_restaurants"},)),
        Turn("Does that fit what I told you?", "You asked for dinner.\nTake it or leave it." if rude else "It does."),
    )
    metadata = (
        {"reason": "The assistant recommends steak to a vegetarian.", "relevant_turns": [1, 2]} if forgets else None
    )
    ended, goal = (EndReason.MAX_TURNS, False) if forgets else (EndReason.GOAL, True)
    return Trial(
        f"p{at}",
        [
            Score("goal", 0.2 if forgets else 1.0, Threshold(gte=0.7), metadata),
            Score("polite", 0.4 if rude else 1.0, Threshold(gte=0.7), {"reason": "curt"} if rude else None),
        ],
        name=f"keeps a preference in mind {at + 1}",
        output=Conversation(turns, ended, goal, ("Turn 1: greets politely",)).plain(),
        origin=Origin("evals/planner.csv", at + 2),
    )


@cache
def earlier() -> History:
    """Eight nightly runs before the base: the bot gets worse and better, the judge of `rag` and a suite change."""
    nights = zip((6, 4, 9, 5, 5, 2, 3, 1), (14, 12, 13, 11, 12, 10, 9, 10), strict=True)
    last = make_base()
    for night, (forgets, vague) in enumerate(nights, 1):
        suites = [
            bot(range(forgets), range(150, 150 + vague), slower=1 + forgets / 20),
            rag("old" if night < 4 else "a"),
        ]
        suites += [router(range(forgets))] if night != 5 else []
        at = {"finished": NOW - 7230 - 86_400 * (9 - night), "message": f"night {night}"}
        run = make_run(*suites, commit=f"{night}f0e1d2", branch="main", **at)
        last = with_history_of(run, history_after(last))
    return history_after(last)


@cache
def talking() -> ReportView:
    """Failing conversations: a judge names the turn, or the answers differ from the base's."""
    return view_of(make_run(planner(2, 1)), make_base(planner(0, 0)), limits=Limits(min_pass_rate=0.9))


def asked(calls: int, cost: float) -> tuple[ModelCalls, ...]:
    """Calls of the bot and of its judge, which reached a rate limit."""
    where, tokens = "evals/support-bot.py", {"input_tokens": 400 * calls, "output_tokens": 52 * calls}
    judged = ModelCalls(where, "accuracy", "anthropic", "judge-large", calls=200, cached=160, input_tokens=9_000)
    return (
        replace(judged, cost=0.06, retried=3, refused=3, waited_s=41.2, p50_ms=2_140.0, p95_ms=6_020.5),
        ModelCalls(where, "", "openai", "small", calls=calls, **tokens, cost=cost, p50_ms=812.4, p95_ms=1_904.0),
    )


@cache
def failing() -> ReportView:
    """Gates that fail, a drop, noise with its interval, a new suite, one that cannot be compared."""
    base = make_base(
        bot(range(3), range(150, 160)), router(range(6)), rag("a"), history=earlier(), model_calls=asked(196, 0.27)
    )
    tone = ExampleSuite("tone", [Trial(f"t{at}", [Score("is-friendly", 0.7, None)]) for at in range(30)])
    suites = bot(range(2, 24), range(152, 165), slower=1.04), router(range(2, 5)), rag("b"), tone
    run = make_run(*suites, model_calls=asked(200, 0.3))
    run = with_history_of(run, history_after(base))
    return view_of(run, base, limits=_GATES, policy_changes=("min_pass_rate for all suites: 1 → 0.9",))


@cache
def green() -> ReportView:
    """A run without changes."""
    run, base = make_run(bot(range(2), range(9))), make_base(bot(range(3), range(9)))
    return view_of(run, base, limits=Limits(min_pass_rate=0.9))


@cache
def first() -> ReportView:
    """The first run, with few failing cases within the limits."""
    return view_of(make_run(bot(range(2), range(9)), router(range(4))), limits=Limits(min_pass_rate=0.9))


@cache
def unmeasurable() -> ReportView:
    """A killed script, and a service that refused every third case."""
    refused = ErrorInfo("RateLimitError", "429: slow down", "Traceback: …", "Lower the concurrency.")
    scores = [Score("accuracy", error=refused) if at % 3 else Score("accuracy") for at in range(60)]
    trials = [Trial(f"{at:08x}", [score], name=f"case {at}") for at, score in enumerate(scores)]
    trials.append(Trial("late", error=ErrorInfo("TimeoutError", "no answer after 60 s"), name="a slow one"))
    suite = ExampleSuite("support-bot", trials, (EvaluatorInfo("accuracy"),), finished=False)
    script = Script("evals/support-bot.py", exit_code=-9, duration_s=61.0)
    return view_of(
        make_run(suite, scripts=(script,), complete=False), make_base(bot(range(3), range(9)), router(range(4)))
    )


EXAMPLES: dict[str, Callable[[], ReportView]] = {
    "failing": failing,
    "green": green,
    "first": first,
    "unmeasurable": unmeasurable,
    "talking": talking,
}
