"""Whether what a model proposes is borne out by its note, and is no other note's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from memory_palace.checking.checker import check_answer
from memory_palace.checking.verdicts import Passage, Verdict
from memory_palace.engine import Engine
from memory_palace.graph.resolve import fold_name
from memory_palace.language.markers import may_hold_marker
from memory_palace.language.sentences import split_sentences
from memory_palace.language.tokens import plain_words, tokenize
from memory_palace.language.visible import visible_line
from memory_palace.language.vocabulary import FUNCTION_WORDS, VAGUE
from memory_palace.language.word_lists import STOP_STEMS, STOPWORDS
from memory_palace.notes.document import Document, Library
from memory_palace.redqueen.examination import CUT
from memory_palace.redqueen.examined import ExaminedMemory, Memories
from memory_palace.redqueen.other_names import is_spelled
from memory_palace.redqueen.proposals import RoundProposal
from memory_palace.redqueen.readable import read_question

NEAR = 50
"""A question that does not find its note among as many is about something else: of 62 that people
wrote on a garden of some 750 notes, 57 find theirs."""
_TENTH = 10
_LEAST_STEMS = 2
"""Telling words of a question that can stand alone: "How does it work?" has one."""
_NAME_WORDS, _NAME_CHARACTERS = 6, 60
_LONGEST_IMAGE = 1_000
_SAY_LITTLE = STOP_STEMS | frozenset(tokenize(" ".join(sorted(FUNCTION_WORDS | VAGUE))))
_WORD = re.compile(r"[^\W\d_]{2}")
"""A name has two letters together; what a prompt calls its entries has one and a figure."""
_MARKUP = re.compile(r"[\[\]{}<>|`*\\\"]|\A[#>%-]|[,;:]\Z|://|%%|--")
_OF_THE_NOTE = re.compile(r"\bth(?:is|e) (?:note|memory|text|passage|section|document)\b", re.I)


@dataclass(frozen=True, slots=True)
class Vetted:
    """What is left of the proposals of a model, and why the others are not."""

    kept: tuple[RoundProposal, ...]
    refused: tuple[tuple[RoundProposal, str], ...] = ()
    """Each with the reason."""


def vet_proposals(
    engine: Engine, library: Library, memories: Memories, proposals: Sequence[RoundProposal]
) -> Vetted:
    """Judge proposals by their notes and by the search, in their order.

    A question is readable and stands alone, its note quotes the answer, no sentence of the note has
    all its words, and the search finds the note by it, though not as the first. A name is the name
    of no note yet and finds its note among the first five. An image shows something of its note.
    A question for two notes stays with the one that it finds first, a name of two with neither.
    """
    vetting = _Vetting(engine, library, memories)
    reasons = [vetting.refuse(proposal) for proposal in proposals]
    claimed: dict[tuple[str, str], list[int]] = {}
    for place, proposal in enumerate(proposals):
        if not reasons[place]:
            claimed.setdefault(_key(proposal), []).append(place)
    for places in claimed.values():
        for place in _find_losers(places, proposals, vetting):
            reasons[place] = "it is proposed for this note already, or for another that it fits"
    judged = list(zip(proposals, reasons, strict=True))
    return Vetted(
        tuple(proposal for proposal, reason in judged if not reason),
        tuple((proposal, reason) for proposal, reason in judged if reason),
    )


def _key(proposal: RoundProposal) -> tuple[str, str]:
    """Return what no two proposals may share; an acronym is a name, an image its note's own."""
    if proposal.kind == "image":
        return proposal.kind, proposal.path
    return "question" if proposal.kind == "question" else "name", fold_name(proposal.text)


def _find_losers(
    places: Sequence[int], proposals: Sequence[RoundProposal], vetting: _Vetting
) -> Sequence[int]:
    """Return which of the proposals with the same text must go: a name of two notes from both."""
    first = proposals[places[0]]
    if first.kind == "question":
        best = min(places, key=lambda place: vetting.rank(first.text, proposals[place].path))
        return [place for place in places if place != best]
    is_shared = len({proposals[place].path for place in places}) > 1
    return places if is_shared else places[1:]


class _Vetting:
    """Judges one proposal after another; what the search finds is kept."""

    def __init__(self, engine: Engine, library: Library, memories: Memories) -> None:
        self._documents, self._memories = library.documents, memories

        @cache
        def search(text: str) -> tuple[str, ...]:
            return engine.rank_paths([text], limit=NEAR)[0]

        self._search = search

    def rank(self, text: str, path: str) -> int:
        """Return the 1-based place of a note among those that a text finds; 0 where it is none."""
        found = self._search(text)
        return found.index(path) + 1 if path in found else 0

    def refuse(self, proposal: RoundProposal) -> str:
        """Return why a person would not keep a proposal, or nothing."""
        document = self._documents.get(proposal.path)
        memory = self._memories.get(proposal.path)
        if document is None or memory is None:
            return "its note is gone"
        text = proposal.text
        if may_hold_marker(text) or visible_line(text) != text:
            return "it holds a verification marker or hidden characters"
        if proposal.kind == "image":
            return _refuse_image(text, memory)
        if proposal.kind == "question":
            return self._refuse_question(proposal, document, memory)
        return self._refuse_name(proposal, document, memory)

    def _refuse_question(
        self, proposal: RoundProposal, document: Document, memory: ExaminedMemory
    ) -> str:
        text = proposal.text
        stems = set(tokenize(text)) - _SAY_LITTLE
        if read_question(text) != text or len(stems) < _LEAST_STEMS or _OF_THE_NOTE.search(text):
            return "it is no question that stands alone"
        if fold_name(text) in map(fold_name, document.texts("questions")):
            return "the note has it already"
        if not _quotes(memory, proposal.answer):
            return "its answer does not stand in the note"
        names = _stems(memory.cue.subject, *memory.cue.anchors)
        said = [names | _stems(sentence) for sentence in ("", *split_sentences(memory.content))]
        if any(stems <= known for known in said):
            return "it is the title or a sentence of the note as a question"
        if not self._is_near(proposal, memory, NEAR):
            return "the search does not find the note by it"
        is_first = self.rank(text, proposal.path) == 1
        return "the search finds the note first by it already" if is_first else ""

    def _refuse_name(
        self, proposal: RoundProposal, document: Document, memory: ExaminedMemory
    ) -> str:
        text = proposal.text
        words = [word for word in plain_words(text) if not word.isdigit()]
        is_long = len(text) > _NAME_CHARACTERS or len(text.split()) > _NAME_WORDS
        if _MARKUP.search(text) or is_long or STOPWORDS.issuperset(words) or not _WORD.search(text):
            return "it is no name"
        if fold_name(text) in self._names:
            return "a note has this name already"
        if proposal.kind == "acronym" and not is_spelled(plain_words(memory.cue.subject), text):
            return "its letters do not stand for the title"
        is_near = self._is_near(proposal, memory, CUT)
        return "" if is_near else "the search does not find the note by it"

    def _is_near(self, proposal: RoundProposal, memory: ExaminedMemory, most: int) -> bool:
        """Say whether a text finds its note among ``most``.

        People ask in words that a note has not. But in a small palace whatever is asked finds every
        note: who shares no word with it has to find it among the first tenth of all.
        """
        shared = _stems(proposal.text) & _stems(
            memory.cue.subject, *memory.cue.anchors, memory.content
        )
        reach = most if shared else min(most, len(self._documents) // _TENTH)
        return 0 < self.rank(proposal.text, proposal.path) <= reach

    @cached_property
    def _names(self) -> set[str]:
        return {fold_name(name) for note in self._documents.values() for name in note.names}


def _refuse_image(text: str, memory: ExaminedMemory) -> str:
    if not memory.cue.image:
        return "the note has no image"
    if len(text) > _LONGEST_IMAGE or _MARKUP.search(text):
        return "it is no image in words"
    shown = _stems(text) & _stems(memory.cue.subject, memory.content)
    return "" if shown and text != memory.cue.image else "it shows nothing of the note"


def _quotes(memory: ExaminedMemory, answer: str) -> bool:
    """Say whether a note has an answer in its own words, nothing that carries meaning changed."""
    passages = [
        Passage(memory.cue.memory_id, 1, 1, text) for text in memory.content.split("\n\n") if text
    ]
    return check_answer(answer, passages).verdict is Verdict.QUOTED


def _stems(*texts: str) -> set[str]:
    return {stem for text in texts for stem in tokenize(text)} - _SAY_LITTLE
