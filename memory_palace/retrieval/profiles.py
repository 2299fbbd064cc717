"""Profiles: which signals count, and how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from memory_palace.config import Config
from memory_palace.embedding.registry import reads_english_alone
from memory_palace.errors import UsageError, WrongEmbedderError, did_you_mean
from memory_palace.index.commit import Commit, Detail
from memory_palace.language.words import is_foreign
from memory_palace.ranking import DEFAULT_PROFILE, METADATA, OF_VECTORS, SIGNALS, ProfileSettings
from memory_palace.signals import Signal, extensions, find_profile, find_signal


@dataclass(frozen=True, slots=True)
class Profile:
    """A weight per signal; the score of a passage is their weighted sum."""

    name: str
    weights: Mapping[str, float]
    gated: frozenset[str] = frozenset()
    """Signals that a shut relevance gate leaves out: they say nothing about the question."""
    capped: frozenset[str] = frozenset()
    """Signals of low precision: together they add no more than ``cap``."""
    cap: float = 0.0
    preserves_rank: bool = False
    """Whether ``rank._preserve_rank`` looks at the first hits."""
    prefers: bool = True
    """Whether what is newer, more important or not superseded comes first of what says the same."""

    @property
    def needs(self) -> Detail:
        """What an index has to keep for its signals to say anything."""
        needs = any(signal.needs_structure for signal in self._registered())
        return Detail.STRUCTURED if needs else Detail.PLAIN

    @property
    def reads_words(self) -> bool:
        """Whether it can answer without vectors."""
        own = self.weights.keys() & SIGNALS.keys()
        return not own <= OF_VECTORS | METADATA or any(
            not signal.needs_vectors for signal in self._registered()
        )

    def _registered(self) -> list[Signal]:
        """Return those of its signals that are none of the engine's."""
        names = (name for name in self.weights if name not in SIGNALS)
        return [signal for name in names if (signal := find_signal(name))]

    @property
    def lists_notes(self) -> bool:
        """Whether it can order notes where nothing was asked."""
        return self.weights.keys() <= METADATA | {"semantic"}


HYBRID: Mapping[str, float] = {
    "dense": 0.85,
    "note_dense": 1.0,
    "lexical": 0.3,
    "note_lexical": 0.6,
    "covered": 7.0,
    "replied": 0.4,
    "asked_kind": 2.0,
    "beside_words": 0.15,
    "beside_meaning": 0.3,
    "speaker": 3.0,
    "statement": 1.2,
    "temporal": 5.0,
    "dated": 30.0,
    "called": 200.0,
    "titled": 8.0,
    "questions": 3.0,
    "question_words": 1.5,
}

PROFILES: Mapping[str, Profile] = {
    "compound": Profile(
        "compound",
        {"semantic": 0.5, "recency": 0.25, "importance": 0.25},
        gated=frozenset({"recency", "importance"}),
    ),
    "raw": Profile("raw", {"semantic": 1.0}, prefers=False),
    "hybrid": Profile("hybrid", HYBRID),
    "anchors": Profile("anchors", {**HYBRID, "anchor": 2.0}),
    "bm25": Profile("bm25", {"note_lexical": 1.0, "lexical": 0.01}, prefers=False),
}
"""Weights of ``compound`` and ``raw`` are those of source document 002.
``anchors`` adds the address book at the most that took no note from the first five of any of 169
utterances; at 4 it took one, at 8 six."""


_UNASKED = ("asked_kind", "dated", "statement")
RECALL = Profile(
    "recall",
    {name: weight for name, weight in HYBRID.items() if name not in _UNASKED}
    | {name: 3 * HYBRID[name] for name in ("dense", "note_dense")}
    | {"speaker": 1.0, "temporal": 1.0},
)
"""``hybrid`` for what is said and asks nothing: more meaning, and no priors of answers.

R@5 on dev utterances (help, garden, LoCoMo): .734, .618, .860; hybrid .678, .610, .780; cosine
.705, .605, .847."""

Mode: TypeAlias = Literal["vector", "lexical", "listing"]
"""What a question is compared by; a listing has none."""


def choose_mode(text: str, *, lexical: bool, has_vectors: bool) -> Mode:
    """Return what a question is compared by, as asked and as the index can."""
    if not text:
        return "listing"
    return "vector" if has_vectors and not lexical else "lexical"


def find_unread(text: str, commit: Commit) -> str:
    """Return the embedder of an index where it cannot read the language of a question, else ""."""
    return commit.embedder if reads_english_alone(commit.embedder) and is_foreign(text) else ""


def choose_profile(asked: str | None, config: Config, mode: Mode) -> Profile:
    """Return the profile that answers: the one asked for, or one that can do without what is not.

    Notes without a question are ordered by metadata, and questions without vectors by words.
    """
    profile = get_profile(asked or config.profile or DEFAULT_PROFILE)
    if mode == "listing" and not profile.lists_notes:
        return PROFILES["compound"]
    if mode == "lexical" and not profile.reads_words:
        return PROFILES[DEFAULT_PROFILE]
    return profile


def get_profile(name: str) -> Profile:
    """Return a profile by name, of those that ship or of an extension."""
    if name in PROFILES:
        return PROFILES[name]
    if given := find_profile(name):
        return _make(name, given)
    known = (*PROFILES, *(name for each in extensions() for name in each.profiles))
    hint = did_you_mean(name, known, ".")
    raise UsageError(f"there is no profile {name!r}{hint} The profiles are {', '.join(known)}.")


def _make(name: str, given: ProfileSettings) -> Profile:
    """Return the profile of an extension: the one that it extends, with the changes.

    Signals of metadata are gated, and those of low precision capped, unless it names others. Raise
    ``UsageError`` where no weight is left, or none for a signal that is gated or capped.
    """
    base = get_profile(given.extends) if given.extends else Profile("", {})
    changed = {**base.weights, **given.weights}
    weights = {signal: weight for signal, weight in changed.items() if weight}
    if not weights:
        raise UsageError(f"the profile {name} leaves no weight above 0")
    for signal in (*(given.gated or ()), *(given.capped or ())):
        if signal not in weights:
            raise UsageError(f"the profile {name} gates or caps {signal}, and gives it no weight")
    gated = METADATA if given.gated is None else frozenset(given.gated)
    capped = base.capped if given.capped is None else frozenset(given.capped)
    if given.cap is not None and given.capped is None:
        known = ((name, find_signal(name)) for name in weights if name not in SIGNALS)
        capped |= {name for name, signal in known if signal and signal.is_imprecise}
    return replace(
        base,
        name=name,
        weights=weights,
        gated=gated & weights.keys(),
        capped=capped & weights.keys(),
        cap=base.cap if given.cap is None else given.cap,
        preserves_rank=base.preserves_rank if given.preserve_rank is None else given.preserve_rank,
    )


def check_detail(profile: Profile, detail: Detail) -> None:
    """Raise ``WrongEmbedderError`` where an index does not keep what a profile reads."""
    if detail >= profile.needs:
        return
    raise WrongEmbedderError(
        f"the profile {profile.name} needs an index with structure; run `palace index --structure`"
    )
