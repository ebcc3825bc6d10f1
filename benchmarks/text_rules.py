"""The rule of the scripted model: what a text claims, and what follows from another text, by their words alone.

A claim is a sentence, or a part of one. It is supported if all of its content words occur in the context.
"""

import re

# The share of words from which a text is about another.
ABOUT = 0.5
NEGATIONS = frozenset({"not", "no", "never", "without"})
_FUNCTION_WORDS = (
    "a about above after all also am an and any anything are as at be because been before but by can could did do does "
    "each else for from get had has have he her here his how i if in into is it its let like may me more much must my "
    "of on once or other our out over own shall she should so some than that the their them then there these they this "
    "those to too under up us was we were what when where which while who whom why will with would yes you your"
)
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split())} | {
    "fifteen": "15",
    "thirty": "30",
    "ninety": "90",
}
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE_END = re.compile(r";\s*|,\s+(?:and|but)\s+")
_COURTESY = re.compile(r"^(?:hello|hi|thank|thanks|please|we wish|let me know|happy to)\b", re.IGNORECASE)
_REFUSAL = re.compile(r"\b(?:i do not know|i cannot|i am unable|i have no|i am sorry)\b", re.IGNORECASE)
_SHORT_FORMS = {"can't": "cannot", "don't": "do not", "i'm": "i am", "n't": " not"}
_ENDINGS = (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))


def split_sentences(text: str) -> list[str]:
    """Split a text after full stops, question marks and exclamation marks."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def split_statements(text: str) -> list[str]:
    """List what a text states: its sentences without questions, divided at ";", ", and" and ", but"."""
    sentences = (each for each in split_sentences(text) if not each.endswith("?"))
    return [part.strip() for each in sentences for part in _CLAUSE_END.split(each) if part.strip()]


def split_claims(text: str) -> list[str]:
    """List the facts that a text states: its statements without greetings, offers of help and refusals."""
    return [
        each for each in split_statements(text) if not _COURTESY.search(each) and not _REFUSAL.search(_expand(each))
    ]


def tokenize(text: str) -> set[str]:
    """List the content words of a text: stems and numbers, without stop words."""
    expanded = _expand(text).replace("cannot", "can not")
    return {_stem(word) for word in _WORD.findall(expanded) if word not in _STOP_WORDS}


def is_supported(claim: str, context: str) -> bool:
    """Return whether all content words of a claim occur in a context."""
    return tokenize(claim) <= tokenize(context)


def is_contradicted(claim: str, context: str) -> bool:
    """Return whether a sentence about the same has another number, or only one of both has a negation."""
    return not is_supported(claim, context) and any(
        _differs(tokenize(claim), tokenize(sentence)) for sentence in split_sentences(context)
    )


def measure_overlap(topic: str, text: str) -> float:
    """Return the share of a topic's content words that occur in a text; 0 for a topic without any."""
    words = tokenize(topic)
    return len(words & tokenize(text)) / len(words) if words else 0.0


def _differs(claim: set[str], sentence: set[str]) -> bool:
    plain = {word for word in claim - NEGATIONS if not word[0].isdigit()}
    if not plain or len(plain & sentence) / len(plain) < ABOUT:
        return False
    numbers, others = ({word for word in words if word[0].isdigit()} for words in (claim, sentence))
    has_other_number = bool(numbers and others) and not numbers <= others
    return has_other_number or bool(claim & NEGATIONS) != bool(sentence & NEGATIONS)


def _expand(text: str) -> str:
    expanded = text.lower().replace("’", "'")
    for short, full in _SHORT_FORMS.items():
        expanded = expanded.replace(short, full)
    return re.sub(r"'s\b|'", "", expanded)


def _stem(word: str) -> str:
    if word in _NUMBERS:
        return _NUMBERS[word]
    for ending, new in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)] + new
    return word.removesuffix("e")
