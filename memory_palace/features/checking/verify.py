"""Check an answer against notes: those that are named, or what the palace's own search finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, repeat

from memory_palace.features.checking.alignment import EmbedTokens
from memory_palace.features.checking.checker import MEASURED_EMBEDDER, check_answer
from memory_palace.features.checking.sources import (
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
from memory_palace.features.checking.wording import find_sentences
from memory_palace.kinds import Flaw, TokenCheck, TokenVerdict, fold_tokens
from memory_palace.language.words import is_english
from memory_palace.palace import Palace

CITED = 3
"""Notes that are cited for a sentence at most: what decided, and others it was compared with."""


@dataclass(frozen=True, slots=True)
class Verified:
    """An answer that was checked, and what is wrong with the tokens it was checked for."""

    sentences: tuple[SentenceCheck, ...]
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

    @property
    def verdict(self) -> Verdict:
        """The worst of the sentences that can be checked: never a mean."""
        return worst_verdict(tuple(each.verdict for each in self.sentences))

    @property
    def token_verdict(self) -> TokenVerdict:
        return fold_tokens(self.tokens)

    @property
    def passes_strictly(self) -> bool:
        """Whether no token is missing or proves nothing, and no sentence is wrong or unfound."""
        is_missing = self.token_verdict == TokenVerdict.MISSING
        return not (self.verdict in REFUSED or is_missing or self.flaws)


def verify(palace: Palace, answer: str, against: Sequence[str] = ()) -> Verified:
    """Check every sentence of an answer against notes, lines of notes (``note:10-20``) or folders.

    Without ``against`` the palace is searched, and notes that the answer names count too. A memory
    that is named whole must have a token in the answer. Sentences are compared by meaning where the
    index has vectors of the embedder that the thresholds are for.
    """
    named = read_against(palace, against)
    is_searched = bool(named.folders) or not named.passages
    has_index = palace.paths.commit.exists()

    def drop_tokens(text: str) -> str:
        return reduce(lambda left, proof: proof.drop(left), named.proofs, text)

    text, called, passages, behind = answer, list[str](), named.passages, 0
    near: Iterable[tuple[Passage, ...]] = repeat(())
    if has_index or is_searched:
        text, called = drop_citations(answer, palace.snapshot())
    if is_searched:
        reader = SourceReader(palace)
        sentences = find_sentences(text, drop_tokens)
        asked = [each.text if each.says_something else "" for each in sentences]
        near, behind = reader.search(asked, named.folders)
        # What the answer calls a source is one, whatever the search makes of it.
        own = () if named.folders else reader.cut((path, 1, None) for path in called)
        passages = (*passages, *reader.join([*chain.from_iterable(near), *own]))
    embed_tokens: EmbedTokens | None = None
    if has_index and palace.snapshot().commit.embedder == MEASURED_EMBEDDER:
        embed_tokens = getattr(palace.embedder(), "embed_tokens", None)
    checked = check_answer(
        text, passages, drop_tokens=drop_tokens, embed_tokens=embed_tokens
    ).sentences
    borne_out = [each.passage for each in checked if each.verdict in ACCEPTED]
    cited = [each.note for each in (*named.passages, *borne_out) if each is not None]
    palace.note_use("cited", *dict.fromkeys([*called, *cited]))
    return Verified(
        tuple(map(_add_others, checked, near)),
        tuple(proof.check(answer) for proof in named.proofs),
        tuple(flaw for proof in named.proofs for flaw in proof.flaws),
        by_meaning=embed_tokens is not None,
        is_searched=is_searched,
        behind=behind,
        is_english=is_english(answer),
    )


def _add_others(check: SentenceCheck, near: Sequence[Passage]) -> SentenceCheck:
    """Return a check with the passages of other notes that the search found for its sentence."""
    passage = check.passage
    if check.verdict == Verdict.NOT_FOUND and (near or not check.score):
        passage = None  # the search knows better what is nearest
    others = [each for each in near if passage is None or each.note != passage.note]
    return replace(check, passage=passage, compared=tuple(others[: CITED - bool(passage)]))
