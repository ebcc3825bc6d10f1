"""Text that tries to be markup, a command or a control code."""

from __future__ import annotations

from hypothesis import strategies as st

HOSTILE = (
    "</details>",
    "```\n# out of the fence\n```",
    "a | b \\| c",
    "@octocat and #1 and GH-1",
    "<!-- scoregate:v1 key=evals sha=0 run=9 -->",
    "--> <h1>out</h1>",
    "::set-output name=x::y",
    "##[error]gone",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "left\u202eright\u2066\u200b\ufeff",
    "half \ud83d of a pair",
    "![i](https://evil.example/i.png) [l](javascript:alert(1))",
    "https://evil.example www.evil.example a@b.example",
    "*a* _b_ **c** ~~d~~ `e` $f$",
    "<img src=x onerror=alert(1)>",
    "&lt; &#64;octocat &amp;",
    "]]> <![CDATA[",
    "\ufffe\uffff\x00\x08\x7f\x85",
    "[bold red]markup[/] {{ 7 * 7 }} {% raw %}",
    "x" * 2_000_000,
    "many\n" * 50_000,
    "",
    "   ",
)
texts = st.one_of(st.sampled_from([text for text in HOSTILE if len(text) < 1000]), st.text(max_size=60))
hostile = st.lists(texts, min_size=1, max_size=4).map("".join)
