"""Check an answer against notes: those that are named, or what the palace's own search finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, TypeAlias

from memory_palace.checking.alignment import EmbedTokens, WordReader
from memory_palace.checking.checker import MEASURED_EMBEDDER, check_answer
from memory_palace.checking.judging import EntailmentJudge, Judgement, ModelJudge
from memory_palace.checking.verdicts import (
    ACCEPTED,
    REFUSED,
    AnswerCheck,
    Passage,
    SentenceCheck,
    Verdict,
    worst_verdict,
)
from memory_palace.checking.windows import PassageLibrary
from memory_palace.checking.wording import Wording, find_sentences
from memory_palace.dialogue import open_dialogue
from memory_palace.embedding.base import find_token_reader
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.language.detect import is_english
from memory_palace.mnemonics.against import Against, read_against
from memory_palace.mnemonics.lint import Flaw
from memory_palace.mnemonics.sources import SourceReader, drop_citations
from memory_palace.mnemonics.verification import (
    TokenCheck,
    TokenVerdict,
    check_memories,
    fold_tokens,
)
from memory_palace.models import Filters

CITED = 3
"""Notes that are cited for a sentence at most: what decided, and others it was compared with."""
Basis: TypeAlias = Literal["words", "meaning", "entailment"]


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """One sentence of an answer, and who said what of it."""

    check: SentenceCheck
    basis: Basis
    """What the verdict rests on: rules over words alone or over vectors too, or a cross-encoder."""
    compared: tuple[Passage, ...]
    """Of other notes that were compared too, nearest first."""
    model: Judgement | None = None
    """What a model of language makes of it, where one was asked."""

    @property
    def is_disputed(self) -> bool:
        """Whether the model gives another verdict; of two that accept, either is no other."""
        if self.model is None or self.model.verdict is None:
            return False
        pair = {self.check.verdict, self.model.verdict}
        return len(pair) == 2 and pair != ACCEPTED


@dataclass(frozen=True, slots=True)
class Verified:
    """An answer that was checked, and what is wrong with the tokens it was checked for."""

    sentences: tuple[CheckedSentence, ...]
    tokens: tuple[TokenCheck, ...]
    """One for each memory that was named whole, in the order given."""
    flaws: tuple[Flaw, ...]
    by_meaning: bool
    """Whether sentences were compared by vectors, and not by words alone."""
    is_searched: bool
    """Whether the palace's own search chose the passages."""
    behind: int
    """Notes that differ from the index that was searched, as far as that is known."""
    is_english: bool
    """Whether the answer is in the language that most tests for differences know."""
    judged_by: str | None = None
    """The model of language that judged too."""
    spent: str | None = None
    """What it cost."""

    @property
    def verdict(self) -> Verdict:
        """The worst of the sentences that can be checked: never a mean."""
        return worst_verdict(tuple(each.check.verdict for each in self.sentences))

    @property
    def model_verdict(self) -> Verdict | None:
        """The same by the model of language; ``None`` where none was asked, or nothing usable."""
        found = [each.model.verdict for each in self.sentences if each.model is not None]
        verdicts = tuple(verdict for verdict in found if verdict is not None)
        return worst_verdict(verdicts) if verdicts else None

    @property
    def is_checkable(self) -> bool:
        """Whether it says anything that notes could bear out."""
        return self.verdict != Verdict.NOT_APPLICABLE

    @property
    def token_verdict(self) -> TokenVerdict:
        """All memories together."""
        return fold_tokens(self.tokens)

    @property
    def passes_strictly(self) -> bool:
        """Whether no token is missing or proves nothing, and no sentence is wrong or unfound.

        Where a model of language judged, by its verdict as well as ours.
        """
        is_refused = not REFUSED.isdisjoint((self.verdict, self.model_verdict))
        return not (is_refused or self.token_verdict == TokenVerdict.MISSING or self.flaws)


def verify(
    engine: Engine,
    answer: str,
    against: Sequence[str] = (),
    *,
    require_all: bool = False,
    by_words: bool = False,
    entailment: str | None = None,
    model: str | None = None,
    prompt: str | None = None,
    prices: str | None = None,
) -> Verified:
    """Check every sentence of an answer against notes, lines of notes (``note:10-20``) or folders.

    Without ``against`` the palace is searched, and notes that the answer names count too. A memory
    that is named whole must have a token in the answer, all of them with ``require_all``. Sentences
    are compared by meaning where the index has vectors of the embedder that the thresholds are for.

    ``entailment`` names a cross-encoder whose verdict replaces *supported* and *not found*, see
    ``EntailmentJudge``; ``model`` is one of the ``llm`` library, whose verdict stands beside ours.
    Raise ``MissingPartError`` for a model that is not here.
    """
    judge = _open_judge(model, prompt, prices)
    encoder = None if entailment is None else EntailmentJudge(entailment)
    named = read_against(engine, against)
    embed_tokens = None if by_words else _reader_of(engine)
    tokens = [token for memory in named.memories for token in memory.verify_tokens]
    material = _gather(engine, answer, named, tokens, lexical=by_words)
    checked = check_answer(
        material.text, material.passages, tokens=tokens, embed_tokens=embed_tokens
    )
    basis: Basis = "words" if embed_tokens is None else "meaning"
    sentences = zip(checked.sentences, material.near, strict=True)
    engine.note_use("cited", *_cited(material.called, named.passages, checked))
    return Verified(
        tuple(_judge(*each, basis, material.passages, encoder, judge) for each in sentences),
        check_memories(answer, named.memories, require_all=require_all),
        named.flaws,
        by_meaning=embed_tokens is not None,
        is_searched=material.is_searched,
        behind=material.behind,
        is_english=is_english(answer),
        judged_by=None if judge is None else judge.dialogue.name,
        spent=None if judge is None else judge.dialogue.spent(),
    )


def _open_judge(model: str | None, prompt: str | None, prices: str | None) -> ModelJudge | None:
    if prompt is not None and model is None:
        raise UsageError("a prompt is for a model; name one with --model")
    return None if model is None else ModelJudge(open_dialogue(model, prices=prices), prompt)


def _cited(
    called: Sequence[str], named: Sequence[Passage], checked: AnswerCheck
) -> dict[str, None]:
    """Return the notes that an answer names, that were named for it, and that bear it out."""
    borne_out = (each.passage for each in checked.sentences if each.verdict in ACCEPTED)
    notes = (passage.note for passage in (*named, *borne_out) if passage is not None)
    return dict.fromkeys([*called, *notes])


@dataclass(frozen=True, slots=True)
class _Material:
    """An answer, and what it is compared with."""

    text: str
    passages: tuple[Passage, ...]
    near: tuple[tuple[Passage, ...], ...]
    """What the search found for each sentence."""
    called: Sequence[str] = ()
    """Notes that the answer itself names."""
    is_searched: bool = False
    behind: int = 0


def _gather(
    engine: Engine, answer: str, named: Against, tokens: Sequence[str], *, lexical: bool
) -> _Material:
    is_searched = bool(named.folders) or not named.passages
    if not engine.paths.commit.exists() and not is_searched:
        return _Material(answer, named.passages, ((),) * len(find_sentences(answer, tokens)))
    text, called = drop_citations(answer, engine.snapshot())
    sentences = find_sentences(text, tokens)
    if not is_searched:
        return _Material(text, named.passages, ((),) * len(sentences), called)
    reader = SourceReader(engine)
    found = reader.search(
        [each.text if each.says_something else "" for each in sentences],
        filters=Filters(folder=named.folders),
        lexical=lexical,
    )
    # What the answer calls a source is one, whatever the search makes of it.
    own = () if named.folders else reader.cut((path, 1, None) for path in called)
    passages = reader.join([*chain.from_iterable(found.near), *own])
    return _Material(text, (*named.passages, *passages), found.near, called, True, found.behind)


def _others(check: SentenceCheck, near: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return what is cited of other notes than the one that decided."""
    decided = check.passage.note if check.passage else ""
    return tuple(each for each in near if each.note != decided)[: CITED - bool(decided)]


def _judge(
    check: SentenceCheck,
    near: Sequence[Passage],
    basis: Basis,
    passages: Sequence[Passage],
    encoder: EntailmentJudge | None,
    judge: ModelJudge | None,
) -> CheckedSentence:
    """Add what was compared, and what the other judges make of a sentence that says something."""
    if check.verdict == Verdict.NOT_FOUND and (near or not check.score):
        check = replace(check, passage=None)  # the search knows better what is nearest
    sentence = CheckedSentence(check, basis, _others(check, near))
    if check.verdict == Verdict.NOT_APPLICABLE or (encoder is None and judge is None):
        return sentence
    held = [each for each in passages if not each.superseded]
    own = [each for each in near if not each.superseded]
    shown = _choose(check, own or _cut_up(check.text, held))
    if judge is not None:
        sentence = replace(sentence, model=judge.judge(check.text, shown))
    if encoder is None or check.verdict == Verdict.CONTRADICTED:
        return sentence
    own = [check.passage] if check.passage else []
    found = encoder.judge(check.text, [*own, *shown])
    if check.verdict == Verdict.QUOTED and found.verdict != Verdict.CONTRADICTED:
        return sentence
    assert found.verdict is not None
    entailed = replace(
        check,
        verdict=found.verdict,
        reason=found.reason,
        passage=found.passage or check.passage,
        score=found.probability or 0.0,
    )
    return replace(sentence, check=entailed, basis="entailment", compared=_others(entailed, near))


def _choose(check: SentenceCheck, near: Sequence[Passage]) -> list[Passage]:
    """Return the passages that a judge is shown: what decided first, in its surroundings."""
    own = check.passage
    if own is None:
        return list(near[:CITED])
    around = [
        each
        for each in near
        if each.note == own.note
        and each.first_line <= own.first_line
        and own.last_line <= each.last_line
    ]
    first = around[:1] or [own]
    return [*first, *(each for each in near if each not in first)][:CITED]


def _cut_up(sentence: str, passages: Sequence[Passage]) -> list[Passage]:
    """Return what shares most words with a sentence in notes that are named, with what is around.

    Where nothing does, nothing.
    """
    library = PassageLibrary(passages, WordReader(None))
    places = library.find_near(Wording(sentence))[:CITED]
    widest = [list(library.windows_of(at))[-1] for at in places]
    return [library.locate(window) for window in dict.fromkeys(widest)]


def _reader_of(engine: Engine) -> EmbedTokens | None:
    has_index = engine.paths.commit.exists()
    if not has_index or engine.snapshot().commit.embedder != MEASURED_EMBEDDER:
        return None
    return find_token_reader(engine.embedder())
