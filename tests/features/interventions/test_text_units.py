"""Units of Markdown and of prompts in plain text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.features.interventions.units import apply, mutate

from scoregate.features.interventions.mutation.operators import Operator
from scoregate.features.interventions.mutation.units import explain_skipped, find_units

GUIDE = """# Support bot

## Style
Answer in two sentences.

## Rules

- Never share order numbers.
- Refunds:
  1. Ask for the receipt.
  2. Offer 30 days,
     not more.

- Be polite

## Format
```
# not a heading
- not an item
```
"""


def test_sections_and_items_are_units() -> None:
    units = find_units("prompts/guide.md", GUIDE.encode())
    assert [unit.lines for unit in units] == [
        (3, 4),
        (6, 14),
        (8, 8),
        (9, 12),
        (10, 10),
        (11, 12),
        (14, 14),
        (16, 20),
    ]
    assert units[2].text == "Never share order numbers."
    assert {unit.file for unit in units} == {"prompts/guide.md"}


def test_a_deleted_section_leaves_one_blank_line() -> None:
    mutants = mutate("guide.md", "# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree\n")
    assert list(mutants.values()) == [
        "# B\n\ntwo\n\n# C\n\nthree\n",
        "# A\n\none\n\n# C\n\nthree\n",
        "# A\n\none\n\n# B\n\ntwo\n",
    ]


def test_a_deleted_item_takes_its_mark_and_its_items() -> None:
    mutants = mutate("guide.md", GUIDE)
    assert mutants["Be polite"] == GUIDE.replace("- Be polite\n\n", "")
    nested = "  1. Ask for the receipt.\n  2. Offer 30 days,\n     not more.\n"
    assert mutants[f"Refunds:\n{nested}".rstrip()] == GUIDE.replace(f"- Refunds:\n{nested}", "")


def test_paragraphs_of_a_plain_prompt_are_units() -> None:
    prompt = "You are a bot.\n\nAnswer in French.\nBe short.\n\nSign with your name.\n"
    assert mutate("prompt.txt", prompt) == {
        "You are a bot.": "Answer in French.\nBe short.\n\nSign with your name.\n",
        "Answer in French.\nBe short.": "You are a bot.\n\nSign with your name.\n",
        "Sign with your name.": "You are a bot.\n\nAnswer in French.\nBe short.\n",
    }


def test_a_prompt_of_one_paragraph_is_one_unit() -> None:
    assert mutate("prompt.txt", "Answer in French.") == {"Answer in French.": ""}


def test_of_front_matter_only_the_description_is_a_unit() -> None:
    skill = "---\nname: refunds\ndescription: Use it for\n  refunds.\n---\nFirst step.\n\nSecond step.\n"
    assert list(mutate("SKILL.md", skill)) == ["description: Use it for\n  refunds.", "First step.", "Second step."]
    assert mutate("SKILL.md", skill)["description: Use it for\n  refunds."].startswith("---\nname: refunds\n---\n")
    assert 'description: ""\n---' in mutate("SKILL.md", skill, Operator.EMPTY)["description: Use it for\n  refunds."]


def test_tags_and_statements_of_templates_stay_in_pairs() -> None:
    template = (
        "<rules>\n\nBe kind.\n\n{% if vip %}\n\n## Discounts\n\nOffer 10 %.\n\n{% endif %}\n\nBe short.\n\n</rules>\n"
    )
    mutants = mutate("prompt.j2", template)
    assert set(mutants) == {"Be kind.", "Offer 10 %.", "Be short."}
    assert all(each.count("%}") == 2 and each.count("rules>") == 2 for each in mutants.values())


def test_an_empty_section_keeps_its_heading() -> None:
    assert mutate("a.md", "# A\n\none\n\n# B\n\ntwo\n", Operator.EMPTY) == {
        "# A\n\none": "# A\n\n# B\n\ntwo\n",
        "# B\n\ntwo": "# A\n\none\n\n# B\n",
    }


def test_line_breaks_of_windows_stay() -> None:
    text = "# A\n\none\n\n# B\n\n- x\n- y\n".replace("\n", "\r\n")
    for operator in Operator:
        mutants = mutate("a.md", text, operator)
        assert all("\r\r" not in each and each.count("\r") == each.count("\n") for each in mutants.values())


def test_instructions_are_negated_sentence_by_sentence() -> None:
    text = "Always greet. You MUST NOT guess! Do not share keys. Use British spelling. The sky is blue."
    assert mutate("a.txt", text, Operator.NEGATE) == {
        "Always greet.": text.replace("Always", "Never"),
        "You MUST NOT guess!": text.replace("MUST NOT", "MUST"),
        "Do not share keys.": text.replace("Do not share", "Share"),
        "Use British spelling.": text.replace("Use", "Do not use"),
    }


def test_neighbours_of_the_same_kind_are_swapped() -> None:
    assert list(mutate("a.md", "1. one\n2. two\n\nText.\n\n3. three\n", Operator.SWAP).values()) == [
        "1. two\n2. one\n\nText.\n\n3. three\n"
    ]
    assert list(mutate("a.md", "# A\na\n# B\nb\n## C\nc\n# D\nd\n", Operator.SWAP).values()) == [
        "# B\nb\n## C\nc\n# A\na\n# D\nd\n",
        "# A\na\n# D\nd\n# B\nb\n## C\nc\n",
    ]


def test_numbers_change_but_not_dates_times_versions_and_names() -> None:
    text = "Wait 30 days, at most 1,500 words, 0.5 hours, 1 try. Since 2024-01-31 at 10:30, v1.2 and 3.11.2 of gpt-4o."
    assert list(mutate("a.txt", text, Operator.NUMBER).values()) == [
        text.replace("30 days", "60 days"),
        text.replace("1,500", "3,000"),
        text.replace("0.5", "1.0"),
        text.replace("1 try", "2 try"),
    ]


def test_files_that_have_no_units_have_a_reason() -> None:
    for path, content, reason in (
        ("logo.png", b"x", "files that end in .png are not changed"),
        ("a.md", b"\xff\xfe", "it is not UTF-8 text"),
        ("a.md", b"a\0b", "it is not text"),
        ("a.md", b"a " * 500_001, "it has more than 1,000,000 bytes"),
        ("a.md", b"<!-- Generated by make. Do not edit. -->\n\nBe kind.\n", "it is generated"),
        ("a.json", b"{", "it can't be read as JSON"),
    ):
        assert explain_skipped(path, content).startswith(reason)
        assert find_units(path, content) == []
    assert explain_skipped("a.md", b"Be kind.") == ""


PIECES = st.lists(
    st.sampled_from(
        ["# A", "## B", "- item", "  - nested", "1. one", "Never lie. Use 3 words.", "é", "", "", "```", "---", "===",
         "<a>", "</a>", "    more", "\r", "\ttab", "{% if x %}", "description: x", "> quote", "* * *"]
    ),
    max_size=25,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(PIECES)
def test_each_unit_changes_the_file_and_deletes_only_whole_lines(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    for unit in find_units("a.md", text.encode(), [*Operator]):
        mutant = apply(text, unit)
        assert mutant != text
        if unit.operator == Operator.DELETE:
            left = iter(text.splitlines())
            assert all(line in left for line in mutant.splitlines()), "lines that are left keep their order"
            assert unit.text in text
