"""An assistant that takes reservations of a restaurant, and remembers what the guest wrote in earlier turns."""

import re

DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|tomorrow"
PATTERNS = {
    "guests": r"\b(?:for|we are|us|table of) (\d+)\b|\b(\d+) (?:people|guests|of us)",
    "day": rf"\b({DAYS})\b",
    "time": r"\bat (\d{1,2}(?::\d{2})?(?: ?pm)?)\b",
    "name": r"\b(?:[Nn]ame is|under|I am|I'm) ([A-Z][a-z]+)",
    "wishes": r"\b(vegan|vegetarian|high ?chair|outside|window|nut allergy|gluten[- ]free)\b",
}
QUESTIONS = {
    "guests": "How many guests will come?",
    "day": "On which day?",
    "time": "At what time?",
    "name": "What is your name?",
}


class Assistant:
    """One conversation. `messages` has the form of OpenAI's chat completions."""

    def __init__(self) -> None:
        self.facts: dict[str, str] = {}
        self.messages: list[dict[str, str]] = []

    def reply(self, text: str) -> str:
        """The answer to the next message of the guest."""
        for fact, pattern in PATTERNS.items():
            flags = 0 if fact == "name" else re.IGNORECASE
            for match in re.finditer(pattern, text, flags):
                self.remember(fact, next(filter(None, match.groups())))
        missing = next((question for fact, question in QUESTIONS.items() if fact not in self.facts), None)
        answer = missing or self.confirm()
        self.messages += [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
        return answer

    def remember(self, fact: str, value: str) -> None:
        """Keep a fact: a new value replaces the old one, and wishes add up."""
        known = self.facts.get(fact)
        self.facts[fact] = f"{known}, {value}" if fact == "wishes" and known else value

    def confirm(self) -> str:
        """The reservation in one sentence."""
        wishes = f" ({self.facts['wishes']})" if "wishes" in self.facts else ""
        return "{name}, your table for {guests} on {day} at {time} is reserved".format(**self.facts) + wishes + "."
