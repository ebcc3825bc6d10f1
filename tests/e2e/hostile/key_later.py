"""The suite after it: uses the token of the suite that has ended."""

import json
import os
import urllib.error
import urllib.request
from pathlib import Path

statuses = {}
for name, token in (("ended", Path("attacker-token").read_text()), ("own", os.environ["OPENAI_API_KEY"])):
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "echo body"}]}',
        {"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            statuses[name] = answer.status
    except urllib.error.HTTPError as error:
        statuses[name] = error.code
Path("key-later.json").write_text(json.dumps(statuses))
