"""Distill a completed card to a telegraph of at most four parts, in the author's words and order.

Headings and labels assign paragraphs, items and tables to parts; blocks under none of them are
left out and listed.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import chain
from unicodedata import normalize

from memory_palace.changes.changing import Plan
from memory_palace.changes.composing import compose_note, make_slug
from memory_palace.embedding.llm_models import estimate_tokens
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.metabolism.ledger import TELEGRAM, WING, Ledger
from memory_palace.features.tasks.cards import Card
from memory_palace.language.sentences import split_sentences
from memory_palace.markdown.markup import Heading, Markup, drop_comments
from memory_palace.notes.note import read_body
from memory_palace.notes.parsing import digest_words

MOST_TOKENS = 400
"""Most tokens of a telegraph, by ``estimate_tokens``."""
_KEYS = ("background", "failed", "solution", "principle")
_NAMES: Mapping[str, str] = dict(zip(_KEYS, TELEGRAM.sections, strict=True))
_ASIDE = "left_out"
"""Part of headings for checks, paths, next steps and thanks: dropped without being listed."""
_AROUND = re.compile(r"\([^()]*+\)|（[^（）]*+）|[\d#.:：!?！？*_`–—-]++")
"""Numbers, brackets and punctuation around a heading's words: "2. Fix (Tuesday):"."""
_ITEM = re.compile(r"\A[ \t>]*+(?:[-*+•]|\d{1,3}[.)])[ \t]++")
_ENDS = (":", "：", "?", "？")
_BOX = re.compile(r"\[[ xX✓✔]\]|[☐☑☒✅✔✓]")
_LABEL = re.compile(
    r"[*_]{0,3}([^\W\d_][^\n:：*_]{0,40}?)[*_]{0,3} ?(?:[:：][*_]{0,3}|[.?]\*\*)\s*+"
)


@dataclass(frozen=True, slots=True)
class Telegraph:
    """The telegraph parts of a card, and its statements that were left out."""

    parts: Mapping[str, str]
    """Text by heading, in the order of the telegraph; empty parts are absent."""
    left_out: tuple[str, ...]
    """Statements of the card that are not in the telegraph."""

    @property
    def tokens(self) -> int:
        return sum(map(estimate_tokens, self.parts.values()))

    @property
    def missing(self) -> list[str]:
        return [name for name in TELEGRAM.sections if name not in self.parts]


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph, item, table or block of code, and the part that its heading or label names."""

    part: str | None
    text: str
    is_item: bool = False
    begins: bool = True
    """False for the second and later sentences of a split paragraph."""


def plan_distill(ledger: Ledger, card: Card) -> Plan:
    """Return the plan that writes the telegraph of a card."""
    found = distill_card(card)
    title, today = card.document.title, ledger.today.isoformat()
    fields: dict[str, object] = {
        "title": title,
        "type": TELEGRAM.type,
        "corridor_card": card.document.stem,
        "project_room": card.document.text("project"),
        "date": today,
    }
    name = f"{today}-{make_slug(title)}.md"
    path = ledger.rooms.path_of(f"{WING}/{TELEGRAM.folder}/{name}")
    note = compose_note(path, title, fields, found.parts)
    fields["verbatim"] = digest_words(read_body(path, note.after).text)
    note = compose_note(path, title, fields, found.parts)
    evidence = (
        f"distill {card.path}: {found.tokens} tokens of {estimate_tokens(card.document.body)}",
        *(f"nothing found for {name}" for name in found.missing),
        *(f"left out: {' '.join(text.split())}" for text in found.left_out),
    )
    return Plan([note], f"distill {card.path}", evidence)


def distill_card(card: Card) -> Telegraph:
    """Return the telegraph of a card, with those of the four parts that the card has.

    Raise ``UsageError`` if the card is not completed, ``CheckFailedError`` if no text of the card
    is under a heading or label that names a part.
    """
    if card.state != "completed":
        raise UsageError(f"{card.path} is {card.state}; only completed cards are distilled")
    blocks = _read_blocks(card.document.body)
    kept, cut = _shorten([block for block in blocks if block.part in _NAMES])
    if not kept:
        raise CheckFailedError(
            f"{card.path} says nothing below a heading or label such as Problem, Tried, Fix and "
            "Lesson; write one there"
        )
    parts = {name: _join([b for b in kept if b.part == key]) for key, name in _NAMES.items()}
    left_out = (block.text for block in blocks if block.part is None)
    return Telegraph({name: text for name, text in parts.items() if text}, (*left_out, *cut))


def part_of(heading: str) -> str | None:
    """Return the part that a heading or label names, or ``None``."""
    return _read_phrases().get(_fold(_AROUND.sub(" ", heading)))


@cache
def _read_phrases() -> dict[str, str]:
    file = files("memory_palace.features.metabolism").joinpath("telegraph.toml")
    table = tomllib.loads(file.read_text("utf-8"))
    named = {part: chain.from_iterable(table[part].values()) for part in (_ASIDE, *_NAMES)}
    return {_fold(phrase): part for part, phrases in named.items() for phrase in phrases}


def _fold(text: str) -> str:
    return " ".join(normalize("NFKC", text).casefold().replace("’", "'").split())


def _read_blocks(body: str) -> list[_Block]:
    """Return the blocks of a note in order, each with its part and without its label.

    A label followed by text sets the part of its block; a label alone on a line sets the part of
    all blocks up to the next such label or heading. Items with a check box have no part.
    """
    markup = Markup(drop_comments(body)[0])
    levels: dict[int, str | None] = {}
    label: str | None = None
    blocks: list[_Block] = []
    goes_on = was_fenced = False
    for text, heading, is_fenced in _lines_of(markup):
        goes_on = goes_on and is_fenced == was_fenced
        was_fenced = is_fenced
        if heading is not None:
            levels = {n: part for n, part in levels.items() if n < heading.level}
            levels[heading.level] = part_of(heading.text)
            label, goes_on = None, False
            continue
        item = None if is_fenced else _ITEM.match(text)
        said = text[item.end() :] if item else text if is_fenced else text.strip()
        named, rest = (None, said) if is_fenced else _take_label(said)
        if named is not None:
            label = named if not rest else label
            goes_on = False
        if not rest and not is_fenced:
            goes_on = False
        elif goes_on and item is None and named is None:
            blocks[-1] = replace(blocks[-1], text=f"{blocks[-1].text}\n{text.rstrip()}")
        else:
            under = next((levels[n] for n in sorted(levels, reverse=True) if levels[n]), None)
            part = named or label or under
            if item and _BOX.match(said) and part != _ASIDE:
                part = None
            blocks.append(_Block(part, f"- {rest}" if item else rest, is_item=item is not None))
            goes_on = True
    return blocks


def _lines_of(markup: Markup) -> Iterator[tuple[str, Heading | None, bool]]:
    """Yield lines, each with the heading that begins there or ``None``, and whether it is code."""
    starts = {h.first: h for h in markup.headings if not h.is_nested}
    inside = {n for h in starts.values() for n in range(h.first + 1, h.last + 1)}
    for number, (line, fenced) in enumerate(
        zip(markup.text.split("\n"), markup.fenced, strict=True)
    ):
        if number not in inside:
            yield line, starts.get(number), fenced


def _take_label(text: str) -> tuple[str | None, str]:
    """Return the part named by a text's leading label, or ``None``, and the text without it."""
    bare = text.strip()
    is_alone = bare[-1:] in _ENDS or bare[:2] == bare[-2:] == "**"
    if is_alone and (part := part_of(bare)) is not None:
        return part, ""
    label = _LABEL.match(text)
    part = part_of(label[1]) if label else None
    return (part, text[label.end() :]) if label and part else (None, text)


def _shorten(blocks: Sequence[_Block]) -> tuple[list[_Block], list[str]]:
    """Return the blocks shortened to ``MOST_TOKENS``, and the sentences cut.

    Sentences are cut from the end of the longest part that has more than one, while any has.
    """
    if sum(estimate_tokens(block.text) for block in blocks) <= MOST_TOKENS:
        return list(blocks), []
    kept = [
        replace(block, text=text, begins=n == 0)
        for block in blocks
        for n, text in enumerate(_sentences_of(block))
    ]
    cut: list[str] = []
    while True:
        spent = Counter[str | None]()
        for block in kept:
            spent[block.part] += estimate_tokens(block.text)
        if spent.total() <= MOST_TOKENS:
            return kept, cut[::-1]
        counts = Counter(block.part for block in kept)
        several = [part for part in spent if counts[part] > 1] or list(spent)
        longest = max(several, key=lambda part: spent[part])
        last = max(n for n, block in enumerate(kept) if block.part == longest)
        cut.append(kept.pop(last).text)


def _sentences_of(block: _Block) -> Sequence[str]:
    is_prose = not block.is_item and not block.text.startswith(("|", "```", "~~~"))
    return split_sentences(" ".join(block.text.split())) if is_prose else [block.text]


def _join(blocks: Sequence[_Block]) -> str:
    """Return blocks joined to one text: items on lines, sentences of a paragraph on one line."""
    text = ""
    before: _Block | None = None
    for block in blocks:
        gap = "\n" if before and before.is_item and block.is_item else "\n\n"
        text += (gap if block.begins else " ") * bool(text) + block.text
        before = block
    return text
