"""Asks models with the providers' own packages, and prints every answer in full."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import anthropic
import litellm
import openai
from google import genai

TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEAAAAALAAAAAABAAEAAAICTAEAOw=="
HEADERS = {"sdk_http_response"}  # with the time
MODEL, CLAUDE, GEMINI = "gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash"


def ask(text: str) -> Any:
    return [{"role": "user", "content": text}]


def show(name: str, answer: Callable[[], Any]) -> None:
    try:
        answer_text = answer()
        parts = answer_text if isinstance(answer_text, list) else [answer_text]
        print(
            name,
            *(part if isinstance(part, str) else part.model_dump_json(exclude=HEADERS) for part in parts),
            sep="\n  ",
        )
    except (openai.APIStatusError, anthropic.APIStatusError) as error:
        print(name, error.status_code, json.dumps(error.body), sep="\n  ")


def ask_openai() -> None:
    client = openai.OpenAI()
    chat = client.chat.completions.create
    show("chat", lambda: chat(model=MODEL, messages=ask("hello")))
    show("chat again", lambda: chat(model=MODEL, messages=ask("hello")))
    show("stream", lambda: list(chat(model=MODEL, messages=ask("a longer stream"), stream=True)))
    usage: Any = {"include_usage": True}
    show("usage", lambda: list(chat(model=MODEL, messages=ask("usage"), stream=True, stream_options=usage)))
    tools: Any = [TOOL]
    show("tool", lambda: chat(model=MODEL, messages=ask("weather?"), tools=tools))
    show("tool stream", lambda: list(chat(model=MODEL, messages=ask("weather?"), tools=tools, stream=True)))
    form: Any = {"type": "json_object"}
    show("json", lambda: chat(model=MODEL, messages=ask("as JSON"), response_format=form))
    image: Any = [{"type": "text", "text": "what is it?"}, {"type": "image_url", "image_url": {"url": PIXEL}}]
    show("image", lambda: chat(model=MODEL, messages=ask(image)))
    show("responses", lambda: client.responses.create(model=MODEL, input="hello"))
    show("responses stream", lambda: list(client.responses.create(model=MODEL, input="hello", stream=True)))
    embed = client.embeddings.create
    show("embeddings", lambda: embed(model="text-embedding-3-small", input=["a", "b"]))
    show("floats", lambda: embed(model="text-embedding-3-small", input="a", encoding_format="float"))
    show("base64", lambda: embed(model="text-embedding-3-small", input="a", encoding_format="base64"))
    show("models", lambda: list(client.models.list()))
    show("bad request", lambda: chat(model=MODEL, messages=ask("hi"), temperature=0))
    show("no such model", lambda: client.moderations.create(input="x"))
    show("cancelled", lambda: take_first(chat(model=MODEL, messages=ask("one two three four"), stream=True)))


def take_first(stream: openai.Stream[Any]) -> Any:
    with stream:
        return next(iter(stream))


def ask_audio() -> None:
    client = openai.OpenAI(base_url=os.environ["AUDIO_BASE_URL"], api_key=os.environ["AUDIO_KEY"])
    sound = ("a.wav", b"RIFF\x00\xff" * 1000, "audio/wav")
    show("transcription", lambda: client.audio.transcriptions.create(model="whisper-1", file=sound))
    speech = client.audio.speech.create(model="tts-1", voice="alloy", input="hi")
    show("speech", speech.content.hex)


def ask_anthropic() -> None:
    client = anthropic.Anthropic()
    create = client.messages.create
    show("messages", lambda: create(model=CLAUDE, max_tokens=10, messages=ask("hello")))
    show("messages stream", lambda: list(create(model=CLAUDE, max_tokens=10, messages=ask("hello"), stream=True)))
    show("messages error", lambda: create(model=CLAUDE, max_tokens=10, messages=ask("fail")))


def ask_gemini() -> None:
    client = genai.Client()
    show("gemini", lambda: client.models.generate_content(model=GEMINI, contents="hello"))
    show("gemini stream", lambda: list(client.models.generate_content_stream(model=GEMINI, contents="hello")))


def ask_litellm() -> None:
    litellm.suppress_debug_info = True
    for model in (f"openai/{MODEL}", f"anthropic/{CLAUDE}", f"gemini/{GEMINI}"):
        answer: Any = litellm.completion(model, ask("through litellm"), max_tokens=10)
        print(
            model, answer.choices[0].message.content, answer.usage.total_tokens, answer._hidden_params["response_cost"]
        )
        parts: Any = litellm.completion(model, ask("stream through litellm"), max_tokens=10, stream=True)
        print(model, [part.choices[0].delta.content for part in parts])


for function in (ask_openai, ask_audio, ask_anthropic, ask_gemini, ask_litellm):
    function()
