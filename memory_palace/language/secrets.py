"""Find keys and passwords in text, so that they never become memory."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Secret:
    """A line that holds a secret. The secret itself is not kept."""

    line: int
    kind: str


_FORMATS = {
    "GitHub Token": r"\bgithub_pat_[A-Za-z0-9_]{30}|gh[pousr]_[A-Za-z0-9_]{36}",
    "Anthropic API Key": r"\bsk-ant-[A-Za-z0-9_-]{20}",
    "OpenAI API Key": r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20}",
    "Google API Key": r"\bAIza[A-Za-z0-9_-]{35}",
    "Hugging Face Token": r"\bhf_[A-Za-z0-9]{30}",
    "NPM Token": r"\bnpm_[A-Za-z0-9]{36}",
    "Artifactory Credentials": r'(?u:[\s=:"]|^)(?:AKC[a-zA-Z0-9]{2}|AP[\dA-F])[a-zA-Z0-9]{8,}'
    r'(?u:[\s"]|$)',
    "AWS Access Key": r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}"
    r"|(?i:aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?['\"][0-9a-z/+]{40}['\"])",
    "Azure Storage Account access key": r"AccountKey=[a-zA-Z0-9+/=]{88}",
    "Basic Auth Credentials": r"(?u:://[^][:/?#@!$&'()*+,;=\s]+:[^][:/?#@!$&'()*+,;=\s]+@)",
    "Discord Bot Token": r"[MNO][a-zA-Z\d_-]{23,25}\.[a-zA-Z\d_-]{6}\.[a-zA-Z\d_-]{27}",
    "GitLab Token": r"(?:(?:gl(?:pat|dt|ft|soat|rt)-|GR1348941)[\w-]{20,50}"
    r"|glcbt-(?:[0-9a-fA-F]{2}_)?[\w-]{20,50}|glimt-[\w-]{25}|glptt-[\w-]{40}|glagent-[\w-]{50,1024}|gloas-[\w-]{64})(?!\w)",
    "JSON Web Token": r"(eyJ[\w=-]+)\.([\w=-]+)",
    "Mailchimp Access Key": r"[0-9a-z]{32}-us[0-9]",
    "NPM tokens": r"//.+/:_authToken=\s*(?:npm_.|[A-Fa-f0-9-]{36})",
    "OpenAI Token": r"sk-[A-Za-z0-9_-]*[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
    "PyPI Token": r"pypi-(?:AgEIcHlwaS5vcmc|AgENdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{70}",
    "SendGrid API Key": r"SG\.[\w-]{22}\.[\w-]{43}",
    "Slack Token": r"(?i:xox[abpors]-(?:\d+-)+[a-z0-9]"
    r"|https://hooks\.slack\.com/services/T\w+/B\w+/\w)",
    "Square OAuth Secret": r"sq0csp-[0-9A-Za-z\\_-]{43}",
    "Stripe Access Key": r"[rs]k_live_[0-9a-zA-Z]{24}",
    "Telegram Bot Token": r"\d{8,10}:[\w-]{35}",
    "Twilio API Key": r"(?:AC|SK)[a-z0-9]{32}",
}
"""By kind; the first that fits names a line. Fixed formats that services document, checked against
the detectors of detect-secrets 1.5 in the tests; words and high entropy would fire on prose."""
_RUN = re.compile(r"\b\w[\w-]{19}", re.ASCII)
_LOGIN = re.compile(r"://[^\s/:@]{1,200}:[^\s/:@]{1,200}@")
_AWS = re.compile("aws", re.IGNORECASE)
"""Every format above has twenty such characters in a row, is a URL with a password, or names AWS.
Few lines of prose do, so most of them cost one scan of the first expression."""
_TOKEN_KIND = "JSON Web Token"
_KEY = "PRIVATE KEY"
_KEY_KIND = "private key"
_KEY_OPEN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_CLOSE = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")

_WINDOW, _STEP = 4000, 2000
"""Long lines are searched in overlapping windows: some formats take quadratic time."""


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
        for kind, pattern in _patterns().items():
            if any(kind != _TOKEN_KIND or _is_web_token(m) for m in pattern.finditer(piece)):
                return kind
    return None


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Compile the formats when the first candidate turns up."""
    return {kind: re.compile(pattern, re.ASCII) for kind, pattern in _FORMATS.items()}


def _is_web_token(match: re.Match[str]) -> bool:
    """Whether both parts are JSON in the base64 of RFC 7519."""
    try:
        for part in match.groups():
            json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return False
    return True
