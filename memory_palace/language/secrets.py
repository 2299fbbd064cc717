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

_NEWER_FORMATS = (
    ("GitHub Token", re.compile(r"\bgithub_pat_[A-Za-z0-9_]{30}")),
    ("Anthropic API Key", re.compile(r"\bsk-ant-[A-Za-z0-9_-]{20}")),
    ("OpenAI API Key", re.compile(r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20}")),
    ("Google API Key", re.compile(r"\bAIza[A-Za-z0-9_-]{35}")),
    ("Hugging Face Token", re.compile(r"\bhf_[A-Za-z0-9]{30}")),
    ("NPM Token", re.compile(r"\bnpm_[A-Za-z0-9]{36}")),
)
"""Prefixes that services document and detect-secrets 1.5 does not know."""

_RUN = re.compile(r"\b\w[\w-]{19}", re.ASCII)
_LOGIN = re.compile(r"://[^\s/:@]{1,200}:[^\s/:@]{1,200}@")
_AWS = re.compile("aws", re.IGNORECASE)
"""Every format above has twenty such characters in a row, is a URL with a password, or names AWS.
Few lines of prose do, so most of them cost one scan of the first expression."""
_KEY = "PRIVATE KEY"
_KEY_KIND = "private key"
_KEY_OPEN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_CLOSE = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")

_WINDOW, _STEP = 4000, 2000
"""Long lines are searched in overlapping windows: some detectors take quadratic time."""


def find_secrets(text: str) -> list[Secret]:
    """Return the lines of a text (ended by line feeds) that hold secrets, numbered from 1.

    Every line of a private key block is one; a block without an end runs to the last line.
    """
    patterns = [_RUN]
    if "://" in text:
        patterns.append(_LOGIN)
    if "aws" in text.lower():
        patterns.append(_AWS)
    found = dict.fromkeys(_key_lines(text), _KEY_KIND) if _KEY in text else {}
    for number, line in _candidates(text, patterns):
        kind = None if number in found else _kind(line)
        if kind is not None:
            found[number] = kind
    return [Secret(number, found[number]) for number in sorted(found)]


def _key_lines(text: str) -> Iterator[int]:
    is_key = False
    for number, line in enumerate(text.split("\n"), start=1):
        if is_key or _KEY_OPEN.search(line):
            is_key = _KEY_CLOSE.search(line) is None
            yield number


def _candidates(text: str, patterns: list[re.Pattern[str]]) -> Iterator[tuple[int, str]]:
    """Yield lines that any pattern occurs in, with their numbers."""
    for pattern in patterns:
        number, counted, position = 1, 0, 0
        while match := pattern.search(text, position):
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.end())
            end = len(text) if end < 0 else end
            number += text.count("\n", counted, start)
            yield number, text[start:end]
            counted, position = start, end


def _kind(line: str) -> str | None:
    for start in range(0, max(len(line) - _STEP, 1), _STEP):
        piece = line[start : start + _WINDOW]
        for kind, pattern in _NEWER_FORMATS:
            if pattern.search(piece):
                return kind
        for detector in _detectors():
            if any(detector.analyze_string(piece)):
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
