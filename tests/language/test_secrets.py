from __future__ import annotations

import base64
import re
from importlib import import_module

import pytest
from growing import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.language.visible import _is_web_token, _patterns, find_secrets

_PATTERNS = _patterns()

# Put together here so that no scanner takes this file for a leak.
SECRETS = {
    "AWS Access Key": "AKIA" + "QYLPMN5HHHFPZAM2",
    "Azure Storage Account access key": "AccountKey="
    + "lJzRc1YdHaAA2KCNJJ1tkYwF" * 3
    + "x" * 14
    + "==",
    "Basic Auth Credentials": "postgres://keeper:" + "hunter2secret@db.example.org/x",
    "GitHub Token": "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx",
    "GitLab Token": "glpat-" + "hellOworld380_testin",
    "JSON Web Token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
    + "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0."
    + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "NPM tokens": "//registry.npmjs.org/:_authToken=" + "346a14f2-a672-4668-a892-956a462ab56e",
    "OpenAI Token": "sk-" + "Xi8tcNiHV9awbCcvilTeT3BlbkFJ3UDnpdEwNNm6wVBpYM0o",
    "PyPI Token": "pypi-AgEIcHlwaS5vcmc" + "CJDU3OTk4" * 10,
    "SendGrid API Key": "SG."
    + "ngeVfQFYQlKU0ufo8x5d1A"
    + "."
    + "TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr",
    "Slack Token": "xoxb-" + "34532454-e039d02840a0b9379c",
    "Stripe Access Key": "sk_live_" + "ReTllpYQYfIZu2Jnf2lAPFjD",
    "Telegram Bot Token": "110201543:" + "AAHdqTcvCH1vGWJxfSe1ofSAs0K5PALDsaw",
    "Twilio API Key": "SK" + "f00d" * 8,
    "Anthropic API Key": "sk-ant-" + "api03-" + "abcDEF123456" * 3,
    "OpenAI API Key": "sk-proj-" + "abcDEF123456" * 4,
    "Google API Key": "AIza" + "SyA1234567890abcdefghijklmnopqrstuvw",
    "Hugging Face Token": "hf_" + "abcDEFghij" * 3 + "klmn",
    "NPM Token": "npm_" + "abcDEF123456" * 3,
}
KEY = [
    "-----BEGIN RSA PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEA7",
    "x8f==",
    "-----END RSA PRIVATE KEY-----",
]


def secrets(text):
    return [(secret.line, secret.kind) for secret in find_secrets(text)]


@pytest.mark.parametrize(("kind", "secret"), SECRETS.items())
def test_a_secret_is_found_by_line_and_kind(kind, secret):
    assert secrets(f"harmless prose\n\nsee {secret} here\nmore") == [(3, kind)]


def test_a_github_token_of_the_newer_kind_and_an_aws_secret_with_slashes_are_found():
    assert secrets("github_pat_" + "11AAAAAAA0abcdefghijkl_" * 3) == [(1, "GitHub Token")]
    assert secrets(f"aws_secret_key = '{'AbCdEfGhI/' * 4}'") == [(1, "AWS Access Key")]


def test_every_line_of_a_private_key_is_a_secret():
    text = "\n".join(["before", *KEY, "after"])
    assert [line for line, _ in secrets(text)] == [2, 3, 4, 5]
    text = "\n".join(["without an end", *KEY[:3], "", "x"])
    assert [line for line, _ in secrets(text)] == [2, 3, 4, 5, 6]
    assert [line for line, _ in secrets("\\n".join(KEY) + "\nafter")] == [1]


@pytest.mark.parametrize(
    "text",
    [
        "An ordinary sentence about keys, tokens and passwords. " * 50,
        "https://example.org/a/very/long/path/without/any-secret-in-it/at-all.html",
        "mailto:someone@example.org and ssh://git@example.org/x",
        "| --- | :--------------------------: |",
        "sha256 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "commit 4b3525fa9370724f1418d82886aa86d12d679659 of 2026-11-21",
        "550e8400-e29b-41d4-a716-446655440000",
        "snake_case_names_that_are_quite_long and Donaudampfschifffahrtsgesellschaft",
        "the sk- prefix, ghp_ and the words PRIVATE KEY alone",
    ],
)
def test_prose_holds_no_secrets(text):
    assert secrets(text) == []


@given(
    st.integers(0, 12_000),
    st.integers(0, 12_000),
    st.sampled_from([SECRETS["GitHub Token"], SECRETS["JSON Web Token"]]),
)
def test_a_secret_anywhere_in_a_long_line_is_found(before, after, secret):
    text = "x\n" + "a b " * (before // 4) + f" {secret} " + "c d " * (after // 4)
    assert [line for line, _ in secrets(text)] == [2]


@pytest.mark.parametrize("text", ["sk-", "://a:", "eyJ.", "AccountKey=", "iVBORw0KGgo", "aws"])
def test_a_hostile_line_takes_no_quadratic_time(text):
    find_secrets(SECRETS["GitHub Token"])
    assert_linear(lambda size: find_secrets(text * (size // len(text))), 8_000)


def test_a_token_of_deeply_nested_json_is_read_to_its_end():
    nested = base64.urlsafe_b64encode(b'{"a":' + b"[" * 2_000).decode().rstrip("=")
    assert secrets(f"{nested}.{nested}") == []


DETECTORS = {
    module: next(
        plugin()
        for name, plugin in vars(import_module(f"detect_secrets.plugins.{module}")).items()
        if name.endswith("Detector") and plugin.__module__.endswith(module)
    )
    for module in (
        "artifactory",
        "aws",
        "azure_storage_key",
        "basic_auth",
        "discord",
        "github_token",
        "gitlab_token",
        "jwt",
        "mailchimp",
        "npm",
        "openai",
        "pypi_token",
        "sendgrid",
        "slack",
        "square_oauth",
        "stripe",
        "telegram_token",
        "twilio",
    )
}


@pytest.mark.parametrize("module", DETECTORS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_what_detect_secrets_finds_is_found_and_what_it_misses_is_missed(module, data):
    detector = DETECTORS[module]
    pattern = data.draw(st.sampled_from(detector.denylist))
    ascii_only = re.compile(pattern.pattern, pattern.flags & ~re.UNICODE | re.ASCII)
    drawn = st.from_regex(ascii_only, fullmatch=True, alphabet=st.characters(codec="ascii"))
    token = data.draw(drawn | st.sampled_from(list(SECRETS.values())))
    cut = data.draw(st.integers(0, len(token)))
    for line in (token, f"see {token} here", token[:cut] + token[cut + 1 :]):
        line = " ".join(line.split("\n"))
        theirs = any(pattern.search(line) for pattern in detector.denylist)
        if module == "jwt":
            theirs = any(detector.analyze_string(line))
        ours = _PATTERNS[detector.secret_type].finditer(line)
        assert theirs == any(module != "jwt" or _is_web_token(match) for match in ours)
