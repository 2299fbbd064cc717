"""Put answers together from the hand-written blocks, the same ones each time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Literal, TypeAlias, TypeVar, get_args

from memory_palace.errors import PalaceError

SEED = 5
DIGEST = "7dd1550a42f8da04e762bad79ad7665084fd105bd302e6abb3cd5ddfa788fe04"
"""SHA-256 of all cases, fixed before any threshold was chosen; ``load_cases`` compares it."""

CaseKind: TypeAlias = Literal[
    "paraphrase", "leaked token", "near-miss token", "wrong with token", "right without token"
]
_Item = TypeVar("_Item")
KINDS: tuple[CaseKind, ...] = get_args(CaseKind)
Split: TypeAlias = Literal["dev", "test", "extra", "held"]
"""The two halves; 14 memories written later, for making rules too; 8 written after the rules."""
HALVES: tuple[Split, ...] = ("dev", "test")

_WITH_TOKEN = (
    "{answer} [{token}]",
    "{token}: {answer}",
    "I see it before me, {token}. {answer}",
    "{answer} The picture that goes with it: {token}.",
    "From the palace ({token}): {answer}",
    "{answer}\n\nVerification: {token}",
    "Token “{token}”. {answer}",
)
_BARE = (
    "{answer}",
    "{answer}",
    "From memory: {answer}",
    "As far as I recall: {answer}",
    "{answer} I hope that helps.",
)


@dataclass(frozen=True, slots=True)
class Block:
    """One hand-written memory, and what may be said about it."""

    subject: str
    token: str
    near: tuple[str, ...]
    """Tokens that are nearly, and so not, the token."""
    content: str
    right: tuple[str, ...]
    wrong: tuple[tuple[str, str], ...]
    """Kind of the mistake, and the sentence."""
    loose: tuple[str, ...]
    """Talk on the subject that the content says nothing about."""
    field: str
    """Which folder a person would put the memory into."""


@dataclass(frozen=True, slots=True)
class Case:
    """One answer to one question, and what is true of it."""

    subject: str
    token: str
    content: str
    response: str
    kind: CaseKind
    split: Split
    is_supported: bool
    """Whether every claim of the answer is borne out by the memory."""
    has_token: bool
    mistake: str = ""


def load_cases() -> list[Case]:
    """Return both halves in order; raise ``PalaceError`` where they are not those of the digest."""
    cases = [case for split in HALVES for case in make_cases(split)]
    found = digest_of(cases)
    if found != DIGEST:
        raise PalaceError(
            f"the cases of `bench verify` have the digest {found}, not {DIGEST}: figures measured "
            "on other cases cannot be compared; restore blocks_dev.md, blocks_test.md and cases.py"
        )
    return cases


def make_cases(split: Split) -> list[Case]:
    """Return the cases of one set in order; only the two halves have a digest."""
    return [case for block in read_blocks(split) for case in _make_cases(block, split)]


def digest_of(cases: Sequence[Case]) -> str:
    """Return the SHA-256 of the cases as JSON lines."""
    lines = (json.dumps(asdict(case), sort_keys=True) for case in cases)
    return sha256("\n".join(lines).encode()).hexdigest()


@cache
def read_blocks(split: Split) -> tuple[Block, ...]:
    """Read the hand-written blocks of one set."""
    folder = files("memory_palace.bench.verify_set")
    text = folder.joinpath(f"blocks_{split}.md").read_text("utf-8")
    return tuple(_read_block(part) for part in text.split("\n## ")[1:])


def _read_block(part: str) -> Block:
    subject, *lines = part.strip().split("\n")
    found = defaultdict(list)
    for line in lines:
        mark, _, text = line.partition(" ")
        found[mark].append(text)
    wrong = (text.partition(": ") for text in found["-"])
    return Block(
        subject,
        found["token:"][0],
        tuple(found["near:"][0].split(" | ")),
        found["content:"][0],
        tuple(found["+"]),
        tuple((kind, text) for kind, _, text in wrong),
        tuple(found["~"]),
        found["field:"][0] if found["field:"] else "machines",
    )


def _make_cases(block: Block, split: Split) -> Iterator[Case]:
    """Yield two cases of each kind."""
    make = partial(_make_case, block, split)
    right, wrong = _shuffled(block.right, block.subject), _shuffled(block.wrong, block.subject)
    held = block.token
    yield make("paraphrase", f"{right[0]} {right[1]}", token=held)
    yield make("paraphrase", right[2], token=held)
    yield make("right without token", f"{right[3]} {right[0]}")
    yield make("right without token", right[1])
    near = block.near
    yield make("near-miss token", f"{right[2]} {right[3]}", token=near[0])
    yield make("near-miss token", wrong[2][1], token=near[1], mistake=wrong[2][0])
    yield make("wrong with token", wrong[0][1], token=held, mistake=wrong[0][0])
    mixed = f"{right[0]} {wrong[1][1]}"
    yield make("wrong with token", mixed, token=held, mistake=wrong[1][0])
    for text in block.loose:
        yield make("leaked token", text, token=held, mistake="unsupported")


def _make_case(
    block: Block, split: Split, kind: CaseKind, answer: str, *, token: str = "", mistake: str = ""
) -> Case:
    frame = _pick(_WITH_TOKEN if token else _BARE, f"{block.subject}|{answer}")
    return Case(
        subject=block.subject,
        token=block.token,
        content=block.content,
        response=frame.format(answer=answer, token=token),
        kind=kind,
        split=split,
        is_supported=not mistake,
        has_token=token == block.token,
        mistake=mistake,
    )


def _draw(text: str) -> str:
    return sha256(f"{SEED}|{text}".encode()).hexdigest()


def _pick(options: Sequence[str], key: str) -> str:
    return options[int(_draw(key), 16) % len(options)]


def _shuffled(items: Sequence[_Item], key: str) -> list[_Item]:
    return sorted(items, key=lambda item: _draw(f"{key}|{item}"))
