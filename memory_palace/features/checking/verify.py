"""Check an answer against notes: those that are named, or what the palace's own search finds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from importlib.resources import files
from itertools import chain
from typing import Any

from memory_palace.dialogue import (
    Dialogue,
    ReplyError,
    open_dialogue,
    read_choice,
    read_number,
    read_text,
)
from memory_palace.embedding.base import find_token_reader
from memory_palace.engine import Engine
from memory_palace.errors import MissingPartError, PalaceError
from memory_palace.features.checking.alignment import EmbedTokens
from memory_palace.features.checking.checker import MEASURED_EMBEDDER, check_answer
from memory_palace.features.checking.sources import (
    Against,
    SourceReader,
    drop_citations,
    read_against,
)
from memory_palace.features.checking.verdicts import (
    ACCEPTED,
    REFUSED,
    Passage,
    SentenceCheck,
    Verdict,
    worst_verdict,
)
from memory_palace.features.checking.windows import find_nearest
from memory_palace.features.checking.wording import find_sentences
from memory_palace.kinds import Flaw, TokenCheck, TokenVerdict, fold_tokens
from memory_palace.language.detect import is_english

_ROLE = "judge"
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": [verdict.value for verdict in Verdict]},
        "reason": {"type": "string"},
        "passage": {"type": "integer", "minimum": 0},
    },
    "required": ["verdict", "reason", "passage"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the model makes of a sentence."""

    verdict: Verdict | None
    """``None`` where what it said could not be used."""
    reason: str
    passage: Passage | None = None
    """What it went by."""


def _judge(dialogue: Dialogue, sentence: str, passages: Sequence[Passage]) -> Judgement:
    """Return a model's verdict, or why there is none: failure, or three malformed replies."""
    prompt = files(__package__).joinpath("prompts", f"{_ROLE}.md").read_text("utf-8")
    data = {
        "sentence": sentence,
        "passages": [
            {"number": number, "place": f"{each.note}:{each.first_line}", "text": each.text}
            for number, each in enumerate(passages, 1)
        ],
    }

    def parse(reply: object) -> Judgement:
        return _read_reply(reply, passages)

    try:
        return asyncio.run(dialogue.ask(_ROLE, prompt, data, parse, schema=_SCHEMA))
    except MissingPartError:
        raise  # no key: it would fail each time
    except PalaceError as error:
        return Judgement(None, str(error))


def _read_reply(reply: object, passages: Sequence[Passage]) -> Judgement:
    if not isinstance(reply, dict):
        raise ReplyError("it is no JSON object")
    verdict = Verdict(read_choice(reply, "verdict", [each.value for each in Verdict]))
    number = read_number(reply, "passage", low=0, high=len(passages))
    place = passages[number - 1] if number else None
    return Judgement(verdict, read_text(reply, "reason", may_be_empty=True), place)


CITED = 3
"""Notes that are cited for a sentence at most: what decided, and others it was compared with."""


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """One sentence of an answer, and who said what of it."""

    check: SentenceCheck
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
class ModelVerdict:
    """The model that judged too, its worst verdict, and its cost."""

    name: str
    verdict: Verdict | None
    """``None`` where nothing that it said could be used."""
    spent: str


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
    model: ModelVerdict | None = None

    @property
    def verdict(self) -> Verdict:
        """The worst of the sentences that can be checked: never a mean."""
        return worst_verdict(tuple(each.check.verdict for each in self.sentences))

    @property
    def token_verdict(self) -> TokenVerdict:
        return fold_tokens(self.tokens)

    @property
    def passes_strictly(self) -> bool:
        """Whether no token is missing or proves nothing, and no sentence is wrong or unfound.

        Where a model of language judged, by its verdict as well as ours.
        """
        by_model = self.model.verdict if self.model is not None else None
        is_refused = not REFUSED.isdisjoint((self.verdict, by_model))
        return not (is_refused or self.token_verdict == TokenVerdict.MISSING or self.flaws)


def verify(
    engine: Engine,
    answer: str,
    against: Sequence[str] = (),
    *,
    require_all: bool = False,
    model: str | None = None,
) -> Verified:
    """Check every sentence of an answer against notes, lines of notes (``note:10-20``) or folders.

    Without ``against`` the palace is searched, and notes that the answer names count too. A memory
    that is named whole must have a token in the answer, all of them with ``require_all``. Sentences
    are compared by meaning where the index has vectors of the embedder that the thresholds are for.

    ``model`` is one of the ``llm`` library, whose verdict stands beside ours. Raise
    ``MissingPartError`` for one that is not here.
    """
    judge = None if model is None else open_dialogue(model)
    named = read_against(engine, against)

    def drop_tokens(text: str) -> str:
        return reduce(lambda left, proof: proof.drop(left), named.proofs, text)

    material = _gather(engine, answer, named, drop_tokens)
    embed_tokens: EmbedTokens | None = None
    if engine.paths.commit.exists() and engine.snapshot().commit.embedder == MEASURED_EMBEDDER:
        embed_tokens = find_token_reader(engine.embedder())
    checked = check_answer(
        material.text, material.passages, drop_tokens=drop_tokens, embed_tokens=embed_tokens
    ).sentences
    borne_out = [each.passage for each in checked if each.verdict in ACCEPTED]
    cited = [each.note for each in (*named.passages, *borne_out) if each is not None]
    engine.note_use("cited", *dict.fromkeys([*material.called, *cited]))
    pairs = zip(checked, material.near, strict=True)
    sentences = tuple(_add_others(*each, material.passages, judge) for each in pairs)
    by_model: ModelVerdict | None = None
    if judge is not None:
        judged = [each.model.verdict for each in sentences if each.model is not None]
        verdicts = tuple(verdict for verdict in judged if verdict is not None)
        worst = worst_verdict(verdicts) if verdicts else None
        by_model = ModelVerdict(judge.name, worst, judge.spent())
    return Verified(
        sentences,
        tuple(proof.check(answer, require_all=require_all) for proof in named.proofs),
        tuple(flaw for proof in named.proofs for flaw in proof.flaws),
        by_meaning=embed_tokens is not None,
        is_searched=material.is_searched,
        behind=material.behind,
        is_english=is_english(answer),
        model=by_model,
    )


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
    engine: Engine, answer: str, named: Against, drop_tokens: Callable[[str], str]
) -> _Material:
    is_searched = bool(named.folders) or not named.passages
    text, called = answer, list[str]()
    if engine.paths.commit.exists() or is_searched:
        text, called = drop_citations(answer, engine.snapshot())
    sentences = find_sentences(text, drop_tokens)
    if not is_searched:
        return _Material(text, named.passages, ((),) * len(sentences), called)
    reader = SourceReader(engine)
    asked = [each.text if each.says_something else "" for each in sentences]
    near, behind = reader.search(asked, named.folders)
    # What the answer calls a source is one, whatever the search makes of it.
    own = () if named.folders else reader.cut((path, 1, None) for path in called)
    passages = reader.join([*chain.from_iterable(near), *own])
    return _Material(text, (*named.passages, *passages), near, called, True, behind)


def _add_others(
    check: SentenceCheck,
    near: Sequence[Passage],
    passages: Sequence[Passage],
    judge: Dialogue | None,
) -> CheckedSentence:
    """Add what was compared, and what the model makes of a sentence that says something."""
    if check.verdict == Verdict.NOT_FOUND and (near or not check.score):
        check = replace(check, passage=None)  # the search knows better what is nearest
    decided = check.passage.note if check.passage else ""
    others = tuple(each for each in near if each.note != decided)[: CITED - bool(decided)]
    sentence = CheckedSentence(check, others)
    if judge is None or check.verdict == Verdict.NOT_APPLICABLE:
        return sentence
    shown = [each for each in near if not each.superseded]
    if not shown:
        shown = find_nearest(check.text, [each for each in passages if not each.superseded])
    if (own := check.passage) is not None:  # what decided first, in its surroundings
        around = [each for each in shown if each.note == own.note and each.holds(own)]
        shown = [*(around[:1] or [own]), *(each for each in shown if each not in around[:1])]
    return replace(sentence, model=_judge(judge, check.text, shown[:CITED]))
