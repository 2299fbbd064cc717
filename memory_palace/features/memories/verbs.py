"""``palace memory``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, TypeAlias

from typer import Argument, Option

from memory_palace.cli.group import Apply, Budget, Group, completed
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.memories.form import BY_PERSON, Factor, Mark, Memory, Standing
from memory_palace.features.memories.hierarchy import Retrieved
from memory_palace.features.memories.memories import ScoredMemory, WrittenMemory, find_domain
from memory_palace.kinds import Flaw
from memory_palace.palace import Palace
from memory_palace.shown import SPREAD, Shown, plural

memory = Group("Write, check and review memories.")
WEAK = 0.6
"""Predicted confidence below which a memory is called weak (source document 000)."""

MemoryName = Annotated[
    str,
    Argument(
        help="Path, file name, slug, title, alias or anchor of a memory.",
        autocompletion=completed("notes"),
    ),
]
Domain = Annotated[str | None, Option("--domain", help="Only this folder of memories.")]
Items: TypeAlias = list[str] | None


@memory.verb("new")
def new(
    palace: Palace,
    subject: Annotated[str, Argument(help="What is remembered.")],
    image: Annotated[str, Option("--image", help="The image, 300 to 500 characters.")] = "",
    content: Annotated[str, Option("--content", help="What the image stands for.")] = "",
    token: Annotated[
        Items, Option("--token", help="Three to five unlikely words; repeatable.")
    ] = None,
    anchor: Annotated[Items, Option("--anchor", help="A short cue; repeatable.")] = None,
    locus: Annotated[str, Option("--locus", help="Where the image is placed.")] = "",
    domain: Annotated[str, Option("--domain", help="Folder of memories to file it in.")] = "",
) -> WrittenMemory:
    """Write a memory.

    Example: palace memory new "Two-phase commit" --image "You kick a giant red gong."
    --content "Everyone votes before anyone commits." --token "gong in slippers"
    """
    return palace.memories.new(
        subject,
        image=image,
        content=content,
        tokens=token or (),
        anchors=anchor or (),
        locus=locus,
        domain=domain,
    )


@dataclass(frozen=True, slots=True)
class MemoryFlaws(Shown):
    """The flaws of memories."""

    flaws: tuple[Flaw, ...]

    def lines(self) -> Iterable[str]:
        return (str(flaw) if flaw.is_error else f"{flaw} (advice)" for flaw in self.flaws)

    def failure(self) -> CheckFailedError | None:
        count = sum(flaw.is_error for flaw in self.flaws)
        return CheckFailedError(f"{plural(count, 'flaw')} in memories") if count else None


@memory.verb("lint")
def lint(
    palace: Palace,
    notes: Annotated[Items, Argument(help="Memories to check; all by default.")] = None,
) -> MemoryFlaws:
    """Report what is wrong with memories, above all with their tokens; exit 8 if anything is.

    Example: palace memory lint
    """
    return MemoryFlaws(tuple(palace.memories.lint(notes or ())))


@dataclass(frozen=True, slots=True)
class MemoryCard:
    """The part of a memory that may be listed: no image, no content, no token."""

    path: str
    title: str
    domain: str
    locus: str
    anchors: tuple[str, ...]
    smashin: int
    confidence: float
    has_token: bool

    @classmethod
    def of(cls, memory: Memory) -> MemoryCard:
        return cls(
            *(memory.id, memory.subject, memory.domain, memory.locus, memory.anchors),
            smashin=memory.smashin_score,
            confidence=memory.confidence,
            has_token=bool(memory.verify_tokens),
        )


@dataclass(frozen=True, slots=True)
class MemoriesListed(Shown):
    """Memories, by path."""

    memories: tuple[MemoryCard, ...]

    def lines(self) -> Iterable[str]:
        return (f"{each.smashin:>2}/12  {each.path}  {each.title}" for each in self.memories)

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if not self.memories and not as_json:
            yield "there are no memories; `palace memory new` makes one"


@memory.verb("list")
def list_memories(palace: Palace, domain: Domain = None) -> MemoriesListed:
    """List memories with their scores. Tokens are not shown.

    Example: palace memory list --domain memories
    """
    return MemoriesListed(tuple(map(MemoryCard.of, palace.memories.list(domain=domain))))


@memory.verb("score")
def score(
    palace: Palace,
    memory: MemoryName,
    set_: Annotated[
        Items, Option("--set", help="A factor the image has, as FACTOR:REASON; repeatable.")
    ] = None,
    apply: Apply = False,
) -> ScoredMemory:
    """Count the twelve factors of an image: eight from its words, four from marks that are given.

    Example: palace memory score "the thread in the funnel" --set "humor: two neighbours laugh"
    """
    return palace.memories.score(memory, list(map(_parse_mark, set_ or ())), apply=apply)


def _parse_mark(text: str) -> Mark:
    name, _, reason = text.partition(":")
    wanted = name.strip().casefold().replace("colour", "color")
    if wanted not in {factor.value for factor in Factor}:
        known = ", ".join(factor.value for factor in Factor)
        raise UsageError(f"there is no factor {name.strip()!r}; the factors are {known}")
    return Mark(Factor(wanted), True, " ".join(reason.split()), BY_PERSON)


@memory.verb("review")
def review(
    palace: Palace,
    memory: MemoryName,
    recalled: Annotated[bool, Option("--recalled/--forgotten", help="Whether you recalled it.")],
    confidence: Annotated[
        int | None, Option("--confidence", min=1, max=5, help="How sure you were, 1 to 5.")
    ] = None,
) -> Standing:
    """Log one review: one line in reviews.jsonl; no note is changed.

    Example: palace memory review "the thread in the funnel" --recalled --confidence 4
    """
    share = None if confidence is None else confidence / 5
    return palace.memories.review(memory, is_recalled=recalled, confidence=share)


@dataclass(frozen=True, slots=True)
class DueMemory:
    """A memory and its standing."""

    path: str
    title: str
    standing: Standing = field(metadata=SPREAD)


@dataclass(frozen=True, slots=True)
class DueMemories(Shown):
    """Memories to review, the earliest first."""

    due: tuple[DueMemory, ...]

    def lines(self) -> Iterable[str]:
        for each in self.due:
            weak = "  weak" if each.standing.confidence < WEAK else ""
            yield f"{each.standing.due}  {each.standing.confidence:.2f}  {each.path}{weak}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if not self.due:
            yield "no review is due"


@memory.verb("due")
def due(
    palace: Palace,
    everything: Annotated[
        bool, Option("--all", help="Include memories that are not due yet.")
    ] = False,
) -> DueMemories:
    """List the memories to review, earliest first, with the predicted confidence.

    Example: palace memory due --all
    """
    today = datetime.now(UTC).date()
    found = palace.memories.due(today=today)
    rows = [DueMemory(m.id, m.subject, s) for m, s in found if everything or s.due <= today]
    return DueMemories(tuple(rows))


@dataclass(frozen=True, slots=True)
class MemoryIndexText(Shown):
    """The root of the index, or the index of a domain."""

    text: str
    bytes: int

    def lines(self) -> Iterable[str]:
        return [self.text.removesuffix("\n")]


@memory.verb("index")
def show_index(
    palace: Palace,
    question: Annotated[
        Items, Argument(help="A question; without one the root is printed.")
    ] = None,
    domain: Annotated[
        str | None, Option("--domain", help="Print the index of this folder of memories.")
    ] = None,
    count: Annotated[int, Option("-k", "--top-k", min=1, help="Memories to find.")] = 3,
    budget: Budget = None,
) -> MemoryIndexText | Retrieved:
    """Print the root, the index of a domain, or everything that two hops read for a question.

    Example: palace memory index "why is there no rain" --budget 2048
    """
    asked = " ".join(question or ())
    if asked and domain:
        raise UsageError("give a question or --domain, not both")
    index = palace.memories.hierarchy(by_words=not asked)
    if asked:
        return index.look_up(asked, count, budget_bytes=budget)
    text = index.domain_text(find_domain(index.memories, domain)) if domain else index.root_text
    return MemoryIndexText(text, len(text.encode()))
