"""Recall: whether it speaks to lines that refer to notes, and keeps silent to small talk.

A line that refers to notes should be spoken to, with a whole sentence of one of them in the bytes
there are; small talk should not. Systems that always speak have the same bytes and the same notes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.confidence import find_auc
from benchmarks.datasets.items import EvalDocument
from benchmarks.metrics import interval, wilson_interval
from benchmarks.product import name_notes, open_product
from benchmarks.recall_sets import Half, Listener, Remark
from benchmarks.recall_systems import BUDGET, NOTES, Speech, System
from benchmarks.runs import Progress
from benchmarks.vectors import RememberingEmbedder, loading
from memory_palace.embedding.registry import Embedder
from memory_palace.errors import PalaceError
from memory_palace.language.sentences import split_sentences, split_speakers
from memory_palace.language.words import plain_words
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.retrieval.excerpts import drop_marks

_LEAST = 20
"""Characters of a sentence that counts: "Thanks!" stands in many notes."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a system made of one line."""

    set: str
    half: Half
    language: str
    system: str
    refers: bool
    spoken: float
    held: float
    """Whether a whole sentence of a gold note is in what was said."""
    turn: float | None
    """Whether a gold turn is, whole; ``None`` where turns are not labelled."""
    found: float
    """Estimate of the gold notes among the first five of the ranking, spoken or not."""
    shown: float
    """The same of the notes that were spoken of."""
    bytes: int
    ms: float
    sure: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RecallRow:
    """One system on one half of a set."""

    set: str
    half: Half
    system: str
    refers: int
    """Lines that refer to notes."""
    chat: int
    """Lines of small talk."""
    spoken: Estimate | None
    """Of the lines that refer, those that were spoken to."""
    silent: Estimate | None
    """Of small talk, the lines that were not."""
    held: Estimate | None
    """Lines that refer, with a whole sentence of a gold note in what was said."""
    turn: Estimate | None
    found: Estimate | None
    shown: Estimate | None
    bytes: float
    """Said on average to a line that refers."""
    chat_bytes: float
    """Said on average to small talk."""
    p50_ms: float
    p95_ms: float
    auc: float | None
    """How often it is surer of a line that refers than of small talk."""


def listen(
    listeners: Sequence[Listener],
    systems: Mapping[str, System],
    *,
    embedder: Embedder,
    cache: Path,
    progress: Progress = lambda what, done, total: None,
) -> Iterator[Judged]:
    """Say every line to every system; palaces and vectors of notes are kept in ``cache``.

    Vectors of what is said are made anew each time, for they are part of what an answer takes.
    Raise ``PalaceError`` where a system says more than it may.
    """
    remembering = RememberingEmbedder(embedder, cache if embedder.dimension else None)
    total, done = sum(len(listener.said) for listener in listeners), 0
    try:
        for listener in listeners:
            palace = open_product(listener.notes, cache, remembering)
            judge = _make_judge(listener)
            with loading(embedder):
                palace.query(listener.said[0].text)  # opens what stays open
                for said in listener.said:
                    for name, system in systems.items():
                        yield judge(name, said, system(palace, hide_gold(said)))
                    done += 1
                    progress("saying", done, total)
    finally:
        remembering.save()


def hide_gold(said: Remark) -> Remark:
    """Return what a system may know of a line: what is said, when, and the turns before."""
    return replace(said, id="", half="dev", gold=frozenset(), turns=())


def _make_judge(listener: Listener) -> Callable[[str, Remark, Speech], Judged]:
    names = name_notes(listener.notes)
    sentences = {
        names[document.id]: _list_sentences(document) for document in listener.notes.documents
    }

    def judge(system: str, said: Remark, speech: Speech) -> Judged:
        size = len(speech.text.encode())
        if size > BUDGET:
            raise PalaceError(f"{system} said {size} bytes to {said.id}, which is over {BUDGET}")
        gold = {names[one] for one in said.gold}
        printed = _flat(speech.text)
        told = {path: _flat(text) for path, text in speech.told.items() if path in gold}
        wanted = [(words, path) for path in told for words in sentences[path]]
        turns = [(_flat(turn), path) for path in told for turn in said.turns]

        def stands(pairs: Sequence[tuple[str, str]]) -> float:
            return float(any(words in told[path] and words in printed for words, path in pairs))

        return Judged(
            listener.set,
            said.half,
            said.language,
            system,
            bool(gold),
            float(bool(speech.text)),
            stands(wanted),
            stands(turns) if said.turns else None,
            _share_found(speech.ranked, gold),
            _share_found(tuple(speech.told), gold),
            size,
            speech.ms,
            speech.sure,
        )

    return judge


def _list_sentences(document: EvalDocument) -> list[str]:
    """Return the sentences of a document that are long enough, without who says them."""
    texts = [passage.text for passage in document.passages] or [
        document.text[split_front_matter(document.text).end :]
    ]
    spoken = (part for text in texts for _, part in split_speakers(text))
    found = (_flat(sentence) for part in spoken for sentence in split_sentences(part))
    return [words for words in found if len(words) >= _LEAST]


def _flat(text: str) -> str:
    """Return the words of a text, whatever stands between them, with a blank on both sides.

    The address of a link is none of them: one who is told the sentence need not be told it.
    """
    return f" {' '.join(plain_words(drop_marks(text)))} "


def _share_found(paths: Sequence[str], gold: Collection[str]) -> float:
    return len(set(paths[:NOTES]) & set(gold)) / len(gold) if gold else 0.0


def sum_up(judged: Sequence[Judged]) -> Iterator[RecallRow]:
    """Yield a row for each set, half and system, in the order in which they were asked."""
    for key in dict.fromkeys((one.set, one.half, one.system) for one in judged):
        yield _row(*key, [one for one in judged if (one.set, one.half, one.system) == key])


def _row(name: str, half: Half, system: str, own: Sequence[Judged]) -> RecallRow:
    refers = [one for one in own if one.refers]
    chat = [one for one in own if not one.refers]
    turns = [one.turn for one in refers if one.turn is not None]
    times = np.percentile([one.ms for one in own], (50, 95))
    sure = [np.array([one.sure for one in part]) for part in (refers, chat)]
    return RecallRow(
        name,
        half,
        system,
        len(refers),
        len(chat),
        spoken=_share([one.spoken for one in refers]),
        silent=_share([1 - one.spoken for one in chat]),
        held=_share([one.held for one in refers]),
        turn=_share(turns),
        found=_share([one.found for one in refers]),
        shown=_share([one.shown for one in refers]),
        bytes=fmean([one.bytes for one in refers] or [0]),
        chat_bytes=fmean([one.bytes for one in chat] or [0]),
        p50_ms=float(times[0]),
        p95_ms=float(times[1]),
        auc=find_auc(*sure) if refers and chat else None,
    )


def _share(values: Sequence[float]) -> Estimate | None:
    """Return the mean, with Wilson's interval of yes and no, else with the bootstrap's."""
    if not values:
        return None
    is_binary = set(values) <= {0.0, 1.0}
    return Estimate(fmean(values), *(wilson_interval if is_binary else interval)(values))
