"""Ask a model of the ``llm`` library for JSON: validate, retry, and count calls and tokens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from memory_palace.errors import CheckFailedError
from memory_palace.libraries import calling, find_model

_FENCE = "```"
MOST_CHARACTERS = 2_000
"""Maximum length of one text in a reply."""
_LONGEST_REPLY = 200_000
"""Maximum characters of a reply; the largest requested one needs a fifth of them."""


class ReplyError(ValueError):
    """A reply is not JSON, or does not have the requested shape."""


def find_json(reply: str) -> object:
    """Return the JSON value of a reply, bare or in a fence; raise ``ReplyError`` if invalid."""
    if len(reply) > _LONGEST_REPLY:
        raise ReplyError(f"it has {len(reply):,} characters, more than {_LONGEST_REPLY:,}")
    if reply.lstrip()[:1] not in ("{", "["):
        language, _, rest = reply.partition(_FENCE)[2].partition("\n")
        inside, closing, _ = rest.partition(_FENCE)
        reply = inside if closing and language.strip() in ("", "json") else reply
    try:
        value: object = json.loads(reply)
    except ValueError as error:
        raise ReplyError(f"it is not JSON ({error})") from error
    except RecursionError:
        raise ReplyError("it is nested too deep") from None
    return value


def read_text(item: Mapping[str, object], key: str, *, may_be_empty: bool = False) -> str:
    """Return the text at a key on one line; raise ``ReplyError`` if it is missing or too long."""
    value = item.get(key, "" if may_be_empty else None)
    if not isinstance(value, str) or len(value) > MOST_CHARACTERS:
        raise ReplyError(f"{key!r} is not a text of at most {MOST_CHARACTERS} characters")
    text = _tidy(value)
    if not text and not may_be_empty:
        raise ReplyError(f"{key!r} is empty")
    return text


def read_texts(item: Mapping[str, object], key: str, *, most: int, least: int = 0) -> list[str]:
    """Return the texts at a key without blank ones; raise ``ReplyError`` for a wrong number."""
    value = item.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ReplyError(f"{key!r} is not a list of texts")
    texts = [tidy for text in value if (tidy := _tidy(text))]
    if not least <= len(texts) <= most or any(len(text) > MOST_CHARACTERS for text in texts):
        raise ReplyError(f"{key!r} has {len(texts)} texts, {least} to {most} were asked for")
    return texts


def _tidy(text: str) -> str:
    """Return a text on one line, without lone surrogates."""
    return " ".join(text.encode("utf-8", "ignore").decode().split())


def read_number(item: Mapping[str, object], key: str, *, low: int, high: int) -> int:
    """Return the number at a key, rounded; raise ``ReplyError`` outside ``low`` to ``high``."""
    value = item.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ReplyError(f"{key!r} is not a number from {low} to {high}")
    return round(value)


def read_choice(item: Mapping[str, object], key: str, choices: Sequence[str]) -> str:
    """Return the text at a key; raise ``ReplyError`` unless it is one of the choices."""
    value = item.get(key)
    if not isinstance(value, str) or value not in choices:
        raise ReplyError(f"{key!r} is not one of {', '.join(choices)}")
    return value


ATTEMPTS = 3
"""Maximum requests for one reply."""
Value = TypeVar("Value")


class Dialogue:
    """One model, and a count of its calls and tokens."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.calls = 0
        self.retries = 0
        self._tokens_in = 0
        self._tokens_out = 0
        self._uncounted = 0

    @property
    def name(self) -> str:
        """The model's own id, whatever alias it was chosen by."""
        return str(self._model.model_id)

    async def ask(
        self,
        role: str,
        instructions: str,
        data: Mapping[str, object],
        parse: Callable[[object], Value],
        *,
        schema: Mapping[str, object] | None = None,
    ) -> Value:
        """Send instructions and data; return the JSON reply as parsed by ``parse``.

        ``schema`` is passed to models that support schemas. A reply that ``parse`` rejects with
        ``ReplyError`` is requested again with the reason; after ``ATTEMPTS`` such replies raise
        ``CheckFailedError``, naming ``role``.
        """
        prompt = f"{instructions}\n{json.dumps(data, ensure_ascii=False, indent=1)}\n"
        complaint = ""
        for attempt in range(ATTEMPTS):
            self.retries += attempt > 0
            reply = await asyncio.to_thread(self._send, prompt + complaint, schema)
            try:
                return parse(find_json(reply))
            except ReplyError as error:
                complaint = (
                    f"\nYour last reply could not be used: {error}. Reply with JSON alone.\n"
                )
                last = error
        raise CheckFailedError(
            f"{self.name} as {role} gave {ATTEMPTS} unusable replies, "
            f"the last because {last}; try another --model"
        )

    async def answer(self, prompt: str) -> str:
        """Send a prompt and return the text of the reply."""
        return await asyncio.to_thread(self._send, prompt)

    def spent(self) -> str:
        """Return a one-line summary of calls and tokens."""
        words = f"{self.name}: {self.calls} calls, {self.retries} repeated"
        if self._uncounted == self.calls:
            return f"{words}; the model does not count tokens"
        words += f"; {self._tokens_in:,} tokens in, {self._tokens_out:,} out"
        return words + (f", {self._uncounted} calls uncounted" if self._uncounted else "")

    def _send(self, prompt: str, schema: Mapping[str, object] | None = None) -> str:
        self.calls += 1
        knows = schema is not None and getattr(self._model, "supports_schema", False)
        more = {"schema": dict(schema)} if schema is not None and knows else {}
        with calling(self.name):
            response = self._model.prompt(prompt, stream=False, **more)
            text = str(response.text())
        usage = response.usage()
        if usage.input is None and usage.output is None:
            self._uncounted += 1
        self._tokens_in += usage.input or 0
        self._tokens_out += usage.output or 0
        return text


def open_dialogue(name: str) -> Dialogue:
    """Return a dialogue with the model that ``llm`` knows by this name or alias.

    Raise ``MissingPartError`` if the library or the model's plugin is not installed.
    """
    return Dialogue(find_model(name))
