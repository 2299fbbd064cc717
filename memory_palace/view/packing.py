"""Write a plan small: columns as JSON, deflated, seven bits to a letter. Nothing is stored twice.

The plan is one block, which the page unpacks at once; the texts are blocks of about a megabyte,
which it unpacks when a note of one is asked for. The beginning of a text, which search reads, is
in the plan only, and a title only where neither the file's name nor the first heading gives it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath

import numpy as np

from memory_palace.view.values import Box, PalacePlan, PlanNote

UNITS = 100_000
"""Of the page, in one of the plan: a cell of 25,000 is 600 wide."""
BLOCK_BYTES = 1_000_000
HEAD_LENGTH = 160
"""Characters of the beginning that search reads and a tip shows."""
SHORT_LENGTH = 320
"""A text of so many characters is not cut in two: one block shrinks more than two."""
MANY_NOTES, NEAR_OF_MANY = 10_000, 3
"""Of more notes than these, only so many neighbours are packed: they are half of the plan."""

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
_MOVED = {ord(letter): ord(letter) + 0x100 for letter in "\0\r<"}

IS_STEM, IS_HEADING = 0, 1
"""Where a title is found that is not stored; ``page/data.js`` reads the same."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A plan as text that may stand in an element ``script``."""

    plan: str
    texts: tuple[str, ...]
    """Blocks in the order of the notes; the plan says which notes begin them."""


def pack(plan: PalacePlan, *, with_texts: bool = True) -> Packed:
    """Return ``plan`` packed; without the rest of the texts where they are asked of a server."""
    heads = [head_of(note.text) for note in plan.notes]
    blocks = list(
        divide([note.text[len(head) :] for note, head in zip(plan.notes, heads, strict=True)])
    )
    columns = {
        "title": plan.title,
        "day": plan.day,
        "textAmount": plan.text_amount,
        "leftOut": plan.left_out,
        "units": UNITS,
        "rooms": [[r.name, *scaled(r.box), int(r.is_cold), r.notes, r.locked] for r in plan.rooms],
        "districts": [[d.room, *scaled(d.box), d.label, d.notes] for d in plan.districts],
        "notes": pack_notes(plan, heads),
        "blocks": [len(block) for block in blocks],
    }
    texts = (shrink(json_of(block)) for block in blocks) if with_texts else ()
    return Packed(shrink(json_of(columns)), tuple(texts))


def pack_notes(plan: PalacePlan, heads: Sequence[str]) -> dict[str, object]:
    """Return a column for each field of a note."""
    notes = plan.notes
    most = NEAR_OF_MANY if len(notes) > MANY_NOTES else None
    kinds = sorted({note.type for note in notes})
    tags = sorted({tag for note in notes for tag in note.tags})
    place = {tag: n for n, tag in enumerate(tags)}
    boxes = [scaled(note.box) for note in notes]
    return {
        "path": shared_starts([note.path for note in notes]),
        "title": [title_code(note, head) for note, head in zip(notes, heads, strict=True)],
        "head": list(heads),
        "aliases": sparse(list(note.aliases) for note in notes),
        "types": kinds,
        "type": [kinds.index(note.type) for note in notes],
        "tagNames": tags,
        "tags": sparse([place[tag] for tag in note.tags] for note in notes),
        "room": [note.room for note in notes],
        **{name: [box[side] for box in boxes] for side, name in enumerate("xywh")},
        "length": [note.length for note in notes],
        "uses": whole_or_none([note.uses for note in notes]),
        "day": [note.day - plan.day for note in notes],
        "changed": [note.changed - plan.day for note in notes],
        "undated": run_lengths([not note.is_dated for note in notes]),
        "priority": [note.priority for note in notes],
        "confidence": [-1 if c is None else round(100 * c) for c in (n.confidence for n in notes)],
        "decay": [round(1000 * note.decay) for note in notes],
        "cold": [n for n, note in enumerate(notes) if note.is_cold],
        "links": numbers([place for _, place in note.links] for note in notes),
        "targets": sparse(odd_targets(notes, note) for note in notes),
        "near": numbers(note.near[:most] for note in notes),
    }


def head_of(text: str) -> str:
    """Return the beginning of ``text`` up to the end of its first line that is not a heading."""
    if len(text) <= SHORT_LENGTH:
        return text
    end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if (line.strip() and not line.startswith("#")) or end > HEAD_LENGTH:
            break
    return text[: min(end, HEAD_LENGTH)]


def heading_of(head: str) -> str:
    """Return the first line if it is a heading of level 1, without its mark.

    Spaces, tabs and carriage returns go; what else is white space Python and JavaScript differ in.
    """
    first = head.split("\n", 1)[0]
    return first[2:].strip(" \t\r") if first.startswith("# ") else ""


def title_code(note: PlanNote, head: str) -> str | int:
    """Return the title, or where the page finds it."""
    if note.title == PurePosixPath(note.path).stem:
        return IS_STEM
    return IS_HEADING if note.title == heading_of(head) else note.title


def odd_targets(notes: Sequence[PlanNote], note: PlanNote) -> list[object]:
    """Return in turn which link has a target that is not the name of a file, and the target."""
    return [
        part
        for n, (target, place) in enumerate(note.links)
        if target != PurePosixPath(notes[place].path).stem
        for part in (n, target)
    ]


def numbers(lists: Iterable[Sequence[int]]) -> list[object]:
    """Return lists of places as the length of each list, and three digits of 64 for each place.

    Numbers without an order shrink little; as JSON they take half as much again.
    """
    kept = [list(places) for places in lists]
    flat = [place for places in kept for place in places]
    digits = ("".join(DIGITS[place >> shift & 63] for place in flat) for shift in (12, 6, 0))
    return [[len(places) for places in kept], *digits]


def shared_starts(paths: Sequence[str]) -> list[object]:
    """Return in turn how much each path shares with the one before it, and the rest of it."""
    before, columns = "", []
    for path in paths:
        same = next(
            (n for n, (a, b) in enumerate(zip(before, path, strict=False)) if a != b),
            min(len(before), len(path)),
        )
        columns += [same, path[same:]]
        before = path
    return columns


def sparse(
    values: Iterable[list[object]] | Iterable[list[str]] | Iterable[list[int]],
) -> list[object]:
    """Return those that are not empty, each after its place."""
    return [part for n, value in enumerate(values) if value for part in (n, value)]


def run_lengths(values: Sequence[bool]) -> list[int]:
    """Return in turn how many are false, true, false ... on end; nothing where none is true."""
    runs = [(value, len(list(group))) for value, group in groupby(values)]
    if runs and runs[0][0]:
        runs.insert(0, (False, 0))
    return [length for _, length in runs] if any(values) else []


def whole_or_none(values: Sequence[int | None]) -> list[int | None] | None:
    """Return the values, or nothing where none is known."""
    return list(values) if any(value is not None for value in values) else None


def scaled(box: Box) -> list[int]:
    """Return x, y, width and height in whole units, its edges where those of its neighbours are."""
    left, top = round(box.x * UNITS), round(box.y * UNITS)
    right, bottom = round((box.x + box.width) * UNITS), round((box.y + box.height) * UNITS)
    return [left, top, right - left, bottom - top]


def divide(texts: Iterable[str]) -> Iterable[list[str]]:
    """Yield runs of ``texts`` of about :data:`BLOCK_BYTES`."""
    block: list[str] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text.encode())
        if size >= BLOCK_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block


def json_of(value: object) -> bytes:
    """Return ``value`` as JSON in UTF-8 without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def shrink(content: bytes) -> str:
    """Return ``content`` deflated, as text that may stand in an element ``script`` of a page."""
    return to_letters(zlib.compress(content, 9))


def to_letters(content: bytes) -> str:
    """Return ``content`` as text with seven bits in each letter, 16 % longer in UTF-8.

    Base64 is 33 % longer. The three letters that HTML would change or read as markup are moved to
    where their lowest seven bits are the same, so that a page reads all alike.
    """
    bits = np.unpackbits(np.frombuffer(content, np.uint8))
    rows = np.pad(bits, (0, -len(bits) % 7)).reshape(-1, 7)
    letters = (np.packbits(rows, axis=1) >> 1).tobytes()
    return letters.decode("ascii").translate(_MOVED)
