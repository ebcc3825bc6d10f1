"""YAML of other tools: plain values are what js-yaml reads, which promptfoo uses."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from scoregate.kernel.types.yaml_document import YamlProblem, parse_yaml

JS_YAML = Path(__file__).parents[2] / "node_modules/js-yaml"
# promptfoo takes the tags of merge keys, dates, binary data and sets, too; scoregate reads none of them.
SCRIPT = """
const yaml = require(process.argv[1]);
const show = (key, value) => typeof value === "number" && !isFinite(value) ? {number: String(value)} : value;
const load = (text) => { try { return {value: yaml.load(text)}; } catch (error) { return {problem: String(error)}; } };
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map(load), show));
"""
WORDS = """
no No NO n N yes Yes YES y Y on On ON off OFF true True TRUE tRue false False FALSE null Null NULL nUll ~ nil none
0 -0 +0 00 7 007 08 012 0777 -012 +12 0o14 -0o14 0O14 0o8 0x1F 0x1f 0X1F -0x1F 0xg 0b11 0b2 1_000 1__0 0_1
1e3 1E3 1e+3 1e-3 -1e3 1.e3 1.5e3 .5e3 12e03 1e 1e3.5 1e400 -1e400 1.5 1. .5 -.5 +.5 . -. 1.2.3 012.5 0.1e1 1_0.5
.inf .Inf .INF -.inf +.inf .iNF inf .nan .NaN .NAN +.nan nan NaN Infinity
12:30 12:30:45 190:20:30 1:30.5 60:00 2026-01-01 2026-01-01T10:00:00Z 2026-1-1 = == <<x x<< -- +- 1- 1a a1 ü é€
'no' "no" '012' "1e3" '' "" '~' a#b a:b http://127.0.0.1/x
"""
DOCUMENTS = (
    "a:\nb: ~\nc: null\nd: ''\n",
    "on: x\noff: {yes: no}\n1: [no, 012, ~]\n",
    "a: |\n  no\n\nb: >-\n  012\n  x\nc: |+\n  1\n\n",
    "- {a: , b: 1e3}\n- [1_000, 12:30:45]\n- ? a\n  : b\n",
    "'a': \"\\x41\\u00e9\\n\"\n",
    "- !!str 12\n- !!int '12'\n- !!float 3\n- !!bool 'true'\n- !!null '~'\n- !!seq [no]\n- !!map {no: no}\n",
    "%YAML 1.1\n---\n- no\n- 012\n",
)
WRONG = (
    *("{a: 1, a: 2}", "a: 1\nb: {c: 1,\n  c: 2}", "1: a\n'1': b", "!!int x", "!!int 1.5", "!!bool no", "!!null x"),
    *("!!float x", "!foo x", "!!python/name:os.system x", "!foo {a: b}", "!foo [a]", "a: b: c", "[a, , b]", "@x", "`x"),
    *("a:\n\t- b", "--- a\n--- b", "{? [a] : b}", "", "# only a comment\n"),
)


@pytest.mark.skipif(
    not JS_YAML.is_dir() or shutil.which("node") is None,
    reason="values of YAML are NOT compared with js-yaml, which is not installed",
)
def test_values_are_those_of_js_yaml() -> None:
    words = [word for line in WORDS.splitlines() for word in line.split()]
    digits = [
        "".join(each) for each in product(("", "-", "+", "0"), ("1", "."), ("", "0", "_", "o7"), ("", "e1", ":9"))
    ]
    plain = [*words, *digits]
    texts = [f"- {word}\n- {{k: {word} }}\n" for word in plain]
    documents = [*texts, *DOCUMENTS, *WRONG]
    for text, read in zip(documents, run_js_yaml(documents), strict=True):
        if text in WRONG:
            assert "problem" in read, text
            with pytest.raises(YamlProblem, match=r"^file\.yaml:\d+: "):
                parse_yaml(text, "file.yaml")
        else:
            assert "value" in read, (text, read)
            assert describe(parse_yaml(text, "file.yaml").to_plain()) == describe(read["value"]), text


def run_js_yaml(texts: list[str]) -> list[dict[str, Any]]:
    process = subprocess.run(
        ["node", "-e", SCRIPT, str(JS_YAML)], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    results: list[dict[str, Any]] = json.loads(process.stdout)
    return results


def describe(value: Any) -> Any:
    """A value with the types that JSON of JavaScript has: one of numbers, and no negative zero."""
    if isinstance(value, dict) and value.keys() == {"number"}:
        return ("number", value["number"].replace("Infinity", "inf").lower())
    if isinstance(value, dict):
        return {key: describe(each) for key, each in value.items()}
    if isinstance(value, list):
        return [describe(each) for each in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ("number", str(value if not math.isfinite(value) else float(value) + 0.0))
    return (type(value).__name__, value)
