"""Find keys and passwords in text, so that they never become memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Secret:
    """A line that holds a secret. The secret itself is not kept."""

    line: int
    kind: str


_DETECTORS = (
    "artifactory.ArtifactoryDetector",
    "aws.AWSKeyDetector",
    "azure_storage_key.AzureStorageKeyDetector",
    "basic_auth.BasicAuthDetector",
    "discord.DiscordBotTokenDetector",
    "github_token.GitHubTokenDetector",
    "gitlab_token.GitLabTokenDetector",
    "jwt.JwtTokenDetector",
    "mailchimp.MailchimpDetector",
    "npm.NpmDetector",
    "openai.OpenAIDetector",
    "pypi_token.PypiTokenDetector",
    "sendgrid.SendGridDetector",
    "slack.SlackDetector",
    "square_oauth.SquareOAuthDetector",
    "stripe.StripeDetector",
    "telegram_token.TelegramBotTokenDetector",
    "twilio.TwilioKeyDetector",
)
"""Detectors of fixed formats. Those of high entropy and of keywords would fire on prose."""

_CANDIDATE = re.compile(
    r"[A-Za-z0-9+/_=.:-]{20}|://[^\s/]{1,200}:[^\s/]{1,200}@|BEGIN [A-Z ]{0,40}PRIVATE KEY"
)
"""Every format above has twenty such characters in a row, or is a URL with a password. Ordinary
prose has neither, so most lines cost one scan of this expression."""
_KEY_OPEN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_CLOSE = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")


def find_secrets(text: str) -> list[Secret]:
    """Return the lines of a text (ended by line feeds) that hold secrets, numbered from 1.

    Every line of a private key block is one; a block without an end runs to the last line.
    """
    if _CANDIDATE.search(text) is None:
        return []
    return list(_secrets(text.split("\n")))


def _secrets(lines: list[str]) -> Iterator[Secret]:
    is_key = False
    for number, line in enumerate(lines, start=1):
        if is_key or _KEY_OPEN.search(line):
            is_key = _KEY_CLOSE.search(line) is None
            yield Secret(number, "private key")
        elif _CANDIDATE.search(line):
            kind = _kind(line)
            if kind is not None:
                yield Secret(number, kind)


def _kind(line: str) -> str | None:
    for detector in _detectors():
        if any(detector.analyze_string(line)):
            return str(detector.secret_type)
    return None


@cache
def _detectors() -> tuple[Any, ...]:
    """Load the detectors when the first candidate turns up: importing them takes a while."""
    loaded = []
    for name in _DETECTORS:
        module, _, class_name = name.partition(".")
        loaded.append(getattr(import_module(f"detect_secrets.plugins.{module}"), class_name)())
    return tuple(loaded)
