"""Faults of the applications in the cookbook, and the scorers that have to notice them."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """A fault of an application.

    Attributes:
        file: the file.
        text: what is replaced, which is there once.
        replacement: what it is replaced with.
        worse: the evaluators that then have a worse mean; the others have not.
        exit_code: that of the run.
    """

    file: str
    text: str
    replacement: str
    worse: tuple[str, ...]
    exit_code: int = 1


FAULTS: dict[str, tuple[Fault, ...]] = {
    "retrieval_bot": (
        Fault(
            "bot.py",
            "key=lambda name: -scores[name]",
            "key=lambda name: scores[name]",
            ("has_citation", "mrr", "ndcg@3", "retrieval_recall@3", "states_fact"),
        ),
        Fault("bot.py", " [{source['id']}]", "", ("has_citation",)),
        Fault("bot.py", "MINIMUM = 2.5", "MINIMUM = 1.0", ("admits_ignorance",)),
        Fault("bot.py", "source = tokenize(question), contexts[0]", "source = [], contexts[0]", ("states_fact",)),
    ),
    "extraction": (
        Fault("invoices.py", "[.,](?=", "[.](?=", ("field.net", "field.total", "field.vat", "whole_record")),
        Fault("invoices.py", ', "%B %d, %Y"', "", ("field.date", "whole_record")),
        Fault("invoices.py", "[\\w/-]+", "[\\d/-]+", ("field.number", "json_schema", "whole_record")),
        Fault("invoices.py", "[A-Z]{2}\\d{9}", "DE\\d{9}", ("field.vat_id", "whole_record")),
        Fault(
            "invoices.py", "CURRENCIES.get(found, found)", "found", ("field.currency", "json_schema", "whole_record")
        ),
        Fault(
            "invoices.py",
            '"total": parse_number(total)',
            '"total": parse_number(find_amount(r"subtotal|net(?: amount)?", text))',
            ("adds_up", "field.total", "whole_record"),
        ),
    ),
    "classification": (
        Fault("triage.py", "flood|burst|", "", ("accuracy", "cost", "urgent_recall")),
        # More false alarms: each is cheap, so no case fails.
        Fault("triage.py", "weight >= 4", "weight >= 2", ("accuracy", "cost"), 0),
    ),
    "chat": (
        Fault(
            "assistant.py",
            "        for fact, pattern in",
            "        self.facts = {}\n        for fact, pattern in",
            ("asks_once.no_excess", "asks_once.no_repeats", "confirms", "remembers"),
        ),
        Fault(
            "assistant.py",
            'f"{known}, {value}" if fact == "wishes" and known else value',
            "value",
            ("confirms", "remembers"),
        ),
        Fault("assistant.py", "is reserved", f"is reserved{' with pleasure' * 9}", ("length",)),
    ),
    "agent": (
        Fault(
            "agent.py",
            '        return f"No boat',
            '        self.call(self.calendar.cancel_booking, boat="Dune", day=day[1])\n        return f"No boat',
            ("never_called cancel_*", "tool_calls"),
        ),
        Fault("agent.py", " or ():", "[:1]:", ("answers", "recovered_from_errors", "tool_calls")),
        Fault("agent.py", "No boat for", "A boat is booked for", ("answers", "reports_what_it_did")),
        Fault(
            "agent.py",
            "        for boat in",
            "        self.call(self.calendar.find_boats, day=day[1], people=int(people[1]))\n        for boat in",
            ("called find_boats", "max_steps", "no_repeated_calls", "tool_calls"),
        ),
    ),
    "summaries": (
        Fault(
            "summarizer.py",
            "most_words: int = 40",
            "most_words: int = 90",
            ("compression", "length", "no_courtesies", "rouge_l"),
        ),
        Fault("summarizer.py", "2 * len(", "0 * len(", ("keeps_facts", "rouge_l")),
    ),
}

# The evaluators here are those that ask a model.
MODEL_FAULTS: dict[str, tuple[Fault, ...]] = {
    "retrieval_bot": (
        Fault("bot.py", '"contexts": contexts}', '"contexts": contexts[::-1]}', ("context_precision",)),
        Fault(
            "bot.py",
            '"contexts": contexts}',
            '"contexts": contexts[1:]}',
            ("citation_correct", "context_precision", "context_recall", "faithfulness", "hallucination_free"),
        ),
        Fault(
            "bot.py",
            "{best.removesuffix('.')} [{source['id']}].",
            "{best.removesuffix('.')} [{source['id']}]. Robin serves pancakes [{source['id']}].",
            ("answer_relevancy", "citation_correct", "faithfulness", "hallucination_free"),
        ),
    ),
    "summaries": (
        Fault("summarizer.py", '"answer": summary', '"answer": f"{summary} Robin was dismissed."', ("faithfulness",)),
    ),
}
