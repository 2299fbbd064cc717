"""Propose what closes the gaps, anchors, names, a picture to draw; and write it into a note."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from memory_palace.language.markers import MARKER
from memory_palace.language.tokens import tokenize
from memory_palace.mnemonics.form import IMAGE, is_memory, read_form
from memory_palace.mnemonics.rendering import add_anchors
from memory_palace.notes.document import Document
from memory_palace.notes.frontmatter import set_fields
from memory_palace.notes.sections import read_section, replace_section
from memory_palace.redqueen.evaluator import mentions
from memory_palace.redqueen.examined import ExaminedMemory, Memories
from memory_palace.redqueen.passages import (
    Rarity,
    content_words,
    find_statements,
    telling_words,
)
from memory_palace.redqueen.round_values import Evaluation, Evolution

MOST_ANCHORS = 16
FEW_ANCHORS = 8
"""Room in any memory. A long one has room for one anchor in three sentences, up to the most."""
_SENTENCES_PER_ANCHOR = 3
ANCHOR_WORDS = 6
"""An anchor has four to six words (source document 000)."""
_ACRONYM = re.compile(r"\(([A-Z][A-Z0-9]{1,7})s?\)|\b([A-Z]{2,8})\b")


class AnchorEvolver:
    """Needs no model: adds the most telling words of what was missed, then of the rest.

    What was missed once stands for what nobody asked: a memory that cannot be found by one of its
    sentences cannot be found by the others. So the sentences of the gaps come first, and others
    follow while they say something new, up to ``most`` anchors; a short memory gets eight at most.
    """

    def __init__(self, *, most: int = MOST_ANCHORS) -> None:
        self._most = most

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories
    ) -> list[Evolution]:
        """Return at most one evolution for each weak memory."""
        rarity = Rarity.of(memory.content for memory in memories.values())
        taken = {
            name.casefold() for m in memories.values() for name in (m.cue.subject, *m.cue.anchors)
        }
        made = [
            self._evolve(memories[id], found, memories, rarity, taken) for id, found in weak.items()
        ]
        return [evolution for evolution in made if evolution]

    def _evolve(
        self,
        memory: ExaminedMemory,
        found: Sequence[Evaluation],
        memories: Memories,
        rarity: Rarity,
        taken: set[str],
    ) -> Evolution:
        gaps = [gap for evaluation in found for gap in evaluation.found]
        elements = [gap.element for gap in gaps if gap.kind == "missing detail"]
        linked = [clean_anchor(gap.element) for gap in gaps if gap.kind == "missing link"]
        proposed = [*linked, *_propose_anchors(memory, elements, rarity)]
        anchors = proposed[: self._room(memory)]
        images = [gap.element for gap in gaps if gap.kind == "weak image"]
        return Evolution(
            memory.cue.memory_id,
            anchors=tuple(dict.fromkeys(anchors)),
            aliases=tuple(name for name in _find_acronyms(memory) if name.casefold() not in taken),
            image_prompt=_draw(images) if images else "",
            reasons=tuple(dict.fromkeys(str(gap) for gap in gaps)),
        )

    def _room(self, memory: ExaminedMemory) -> int:
        """Return how many anchors may be added."""
        sentences = len(find_statements(memory.content))
        allowed = max(FEW_ANCHORS, sentences // _SENTENCES_PER_ANCHOR)
        return max(0, min(self._most, allowed) - len(memory.cue.anchors))


def _propose_anchors(
    memory: ExaminedMemory, elements: Sequence[str], rarity: Rarity
) -> Iterator[str]:
    sentences = find_statements(memory.content) or [memory.content]
    known_stems = {s for text in (memory.cue.subject, *memory.cue.anchors) for s in tokenize(text)}
    for element in elements:
        home = next((text for text in sentences if mentions(text, element)), "")
        anchor = condense(home, rarity, element) if home else ""
        if anchor and not set(tokenize(anchor)) <= known_stems:
            known_stems |= set(tokenize(anchor))
            yield anchor
    while sentences:
        best = max(sentences, key=lambda text: _measure_news(text, known_stems, rarity))
        if not _measure_news(best, known_stems, rarity):
            return
        sentences = [text for text in sentences if text != best]
        anchor = condense(best, rarity, "")
        known_stems |= set(tokenize(anchor))
        yield anchor


def condense(sentence: str, rarity: Rarity, element: str) -> str:
    """Return the most telling words of a sentence, in its order, and the element among them."""
    wanted = (
        [word for word in content_words(sentence) if mentions(element, word)] if element else []
    )
    chosen = list(dict.fromkeys([*wanted, *telling_words(sentence, rarity)]))[:ANCHOR_WORDS]
    words = dict.fromkeys(word for word in content_words(sentence) if word in chosen)
    return clean_anchor(" ".join(words))


def clean_anchor(text: str) -> str:
    """Return a text that can stand in a list of anchors: one line, no markup, no comma."""
    return " ".join(re.sub(r"[,;\[\]<>|`*#{}]", " ", text).split())[:80].strip()


def _measure_news(sentence: str, known_stems: set[str], rarity: Rarity) -> float:
    """Return how much the telling words of a sentence add to what cues say already."""
    words = telling_words(sentence, rarity)[:ANCHOR_WORDS]
    return sum(rarity.idf(word) for word in words if not set(tokenize(word)) <= known_stems)


def _find_acronyms(memory: ExaminedMemory) -> Iterator[str]:
    """Yield an acronym in the content that is made of the initials of the subject."""
    initials = "".join(word[0] for word in memory.cue.subject.split() if word[0].isalpha())
    if len(initials) < 2:
        return
    known = {name.casefold() for name in (memory.cue.subject, *memory.cue.anchors)}
    for match in _ACRONYM.finditer(memory.content):
        name = match[1] or match[2]
        if name.casefold() == initials.casefold() and name.casefold() not in known:
            yield name
            return


def _draw(elements: Sequence[str]) -> str:
    what = "; ".join(dict.fromkeys(elements))
    return (
        f"make {what} the largest thing in it, let it move and make a noise, touch it yourself, "
        "and say what you feel"
    )


_UNSAFE = re.compile(r"<!--|-->|^#{1,6}[ \t].*$", re.MULTILINE)


def patch_note(document: Document, evolution: Evolution) -> bytes:
    """Return the note's bytes with the evolution in them; every other line stays.

    What the note already says is not said again. Raise ``PalaceError`` for a note that is not
    UTF-8.
    """
    path, data = document.path, document.data
    known = {name.casefold() for name in read_form(document).anchors}
    anchors = [anchor for anchor in evolution.anchors if anchor.casefold() not in known]
    if is_memory(document):
        data = _change_image(path, data, evolution)
    if anchors:
        data = add_anchors(path, data, anchors)
    aliases = document.texts("aliases")
    taken = {name.casefold() for name in aliases}
    names = [name for name in evolution.aliases if name.casefold() not in taken]
    return set_fields(path, data, {"aliases": [*aliases, *names]}) if names else data


def _change_image(path: str, data: bytes, evolution: Evolution) -> bytes:
    """Put a new image, its tokens kept, or a prompt for one, into the section Image."""
    old = read_section(path, data, IMAGE)
    if old is None or not (evolution.image or evolution.image_prompt):
        return data
    if evolution.image:
        tokens = (match[0] for match in MARKER.finditer(old))
        return replace_section(path, data, IMAGE, " ".join([_clean(evolution.image), *tokens]))
    prompt = f"<!-- image prompt: {_clean(evolution.image_prompt)} -->"
    return replace_section(path, data, IMAGE, f"{old.strip()}\n\n{prompt}")


def _clean(text: str) -> str:
    """Return a text on one line that can neither forge a token nor open a heading or comment."""
    return " ".join(_UNSAFE.sub(" ", MARKER.sub(" ", text)).split())
