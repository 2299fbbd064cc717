"""The protocol of source document 000: examine, recall, evaluate, evolve, one role at a time.

Each note is split into its cue, which is all the Learner sees, and the prose it is asked about.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from itertools import chain
from typing import Literal, Protocol, TypeAlias

from memory_palace.features.memories.collection import TextCollection
from memory_palace.features.memories.form import (
    DECAY_PER_DAY,
    Memory,
    Review,
    is_own_line,
    is_own_section,
    read_form,
)
from memory_palace.language.sentences import split_sentences
from memory_palace.language.visible import drop_markers
from memory_palace.language.words import STOPWORDS, tokenize
from memory_palace.markdown.markup import Markup, strip_markup
from memory_palace.notes.document import Document, split_sections


@dataclass(frozen=True, slots=True)
class Cue:
    """The part of a memory that the Learner sees: no content."""

    memory_id: str
    subject: str
    anchors: tuple[str, ...] = ()
    """Anchor terms and other names."""
    image: str = ""
    """Without its verification token."""

    def __str__(self) -> str:
        """Return subject, anchors and image, one per line."""
        return "\n".join(part for part in (self.subject, *self.anchors, self.image) if part)


@dataclass(frozen=True, slots=True)
class ExaminedMemory:
    """A note or memory prepared for examination, without verification tokens."""

    cue: Cue
    """The only part that the Learner sees."""
    content: str
    """Prose that questions are made from; no metadata."""
    smashin: int
    """SMASHIN SCOPE, 0 to 12."""
    confidence: float
    """From 0 to 1, when it was last reviewed."""
    idle_days: float
    """Days since it was last reviewed or written."""

    @classmethod
    def of(
        cls, memory: Memory, *, content: str | None = None, idle_days: float = 0.0
    ) -> ExaminedMemory:
        """Return the examined form of a memory; the Markdown ``content`` replaces its own."""
        names = tuple(name for anchor in memory.anchors if (name := drop_markers(anchor).strip()))
        image = drop_markers(memory.image).strip()
        cue = Cue(memory.id, drop_markers(memory.subject).strip(), names, image)
        prose = strip_markup(drop_markers(memory.content if content is None else content)).strip()
        return cls(cue, prose, memory.smashin_score, memory.confidence, idle_days)


Memories = Mapping[str, ExaminedMemory]
"""Every memory of the palace, by id."""


def examine(document: Document, reviews: Sequence[Review] = (), *, today: date) -> ExaminedMemory:
    """Return the examined form of a note; idle days count up to ``today``."""
    memory = read_form(document).to_memory(reviews)
    return ExaminedMemory.of(
        memory,
        content="\n\n".join(split_sections(blank_own_sections(document.body)).values()),
        idle_days=_idle_days(document, memory.last_retrieved, today),
    )


def _idle_days(document: Document, last_retrieved: date | None, today: date) -> float:
    written = (document.text(key)[:10] for key in ("updated", "modified", "date", "created"))
    for text in (last_retrieved.isoformat() if last_retrieved else "", *written):
        try:
            return float(max(0, (today - date.fromisoformat(text)).days))
        except ValueError:
            continue
    return 0.0


def blank_own_sections(body: str) -> str:
    """Return a body with the product's own sections blanked, at any heading level.

    Those are the image of a memory, its anchors, marks, links, figures and verification.
    """
    lines, level = body.split("\n"), 0
    headings = {h.first: h for h in Markup(body).headings if not h.is_nested}
    for number in range(len(lines)):
        heading = headings.get(number)
        if heading is not None and not (level and heading.level > level):
            level = heading.level if is_own_section(heading.text) else 0
        if level or is_own_line(lines[number]):
            lines[number] = ""
    return "\n".join(lines)


# --- The protocol ---

PASS_SCORE = 0.70
"""Least score of a memory that is not weak (source document 000, weak-spot test)."""
_WEAKENING = ("misconception", "weak image")
"""Gaps that make a memory weak at any score."""
ProposalKind: TypeAlias = Literal["alias", "question", "image"]
DEPTH = 5
"""Questions that ``depth-first`` asks of one memory before the next."""
_INTEREST = 0.5
"""Interest of a memory by default (source document 000)."""
MOST_CHANGED = 3
"""Memories that one round changes by default: people read every diff."""
_RECALLED = 5
"""Most memories that an answer recalls."""
_BLANK = "____"
_WORD = re.compile(r"\w+(?:[.,:'’-]\w+)*")


class Strategy(StrEnum):
    """Order in which memories are attacked."""

    RANDOM = "random"
    WEAK_SPOTS = "weak-spots"
    DEPTH_FIRST = "depth-first"
    ADVERSARIAL = "adversarial"


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a memory; the fields of source document 000."""

    memory_id: str
    question_text: str
    difficulty: str
    """From ``1``, easy, to ``5``, hard."""
    expected_elements: tuple[str, ...]
    """Elements of a full answer."""


@dataclass(frozen=True, slots=True)
class LearnerAnswer:
    """The Learner's answer to one question, from cues alone."""

    recalled: tuple[str, ...]
    """Ids of the recalled memories, best first, at most five."""
    text: str
    """The answer in words."""
    confidence: int
    """From 1, a guess, to 5, certain."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdict on one answer. The first four fields are those of the source document."""

    memory_id: str
    score: float
    """Between 0 and 1."""
    gaps: tuple[str, ...]
    """Each as its kind, a colon, and what is lacking."""
    should_evolve: bool
    question: str = ""


@dataclass(frozen=True, slots=True)
class RoundProposal:
    """A name, question or image that a person may want in a note."""

    kind: ProposalKind
    path: str
    """Path of the note that would change."""
    text: str
    reason: str = ""
    """One line that names the evidence."""

    def __str__(self) -> str:
        return f"{self.path}  {self.kind} {self.text} ({self.reason})"


def conclude(question: Question, score: float, gaps: Sequence[str]) -> Evaluation:
    """Return the verdict on an answer; misconceptions and weak images count at any score."""
    is_weak = any(gap.startswith(_WEAKENING) for gap in gaps)
    return Evaluation(
        question.memory_id,
        round(score, 6),
        tuple(gaps),
        score < PASS_SCORE or is_weak,
        question.question_text,
    )


def weak_priority(memory: ExaminedMemory) -> float:
    """Return the review priority of a memory, 0 to 1 (source document 000, weak-spot test).

    0.4 (1 - confidence) + 0.3 decay per day + 0.2 min(days / 30, 1) + 0.1 interest.
    """
    return (
        0.4 * (1 - memory.confidence)
        + 0.3 * DECAY_PER_DAY[memory.smashin]
        + 0.2 * min(memory.idle_days / 30, 1)
        + 0.1 * _INTEREST
    )


def choose_targets(
    memories: Memories, strategy: Strategy, count: int, *, rng: random.Random
) -> list[str]:
    """Return at most ``count`` ids; ``depth-first`` repeats each ``DEPTH`` times.

    ``adversarial`` puts first the memories whose cues have the fewest stems unique to them.
    """
    order = sorted(memories)
    rng.shuffle(order)
    if strategy is Strategy.ADVERSARIAL:
        stems = {id: set(tokenize(str(memories[id].cue))) for id in order}
        uses = Counter(chain.from_iterable(stems.values()))
        order.sort(key=lambda id: sum(uses[word] == 1 for word in stems[id]))
    elif strategy is not Strategy.RANDOM:
        order.sort(key=lambda id: -weak_priority(memories[id]))
    if strategy is Strategy.DEPTH_FIRST:
        order = [id for id in order for _ in range(DEPTH)]
    return order[:count]


class Roles(Protocol):
    """The four roles: Examiner, Learner, Evaluator and Evolver. Each is replaceable."""

    async def ask(
        self, memories: Memories, targets: Sequence[str], strategy: Strategy, *, rng: random.Random
    ) -> list[Question]:
        """Return at most one question for each mention of a target; all content may be used."""
        ...

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[LearnerAnswer]:
        """Return one answer per question, from the cues alone."""
        ...

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[LearnerAnswer], memories: Memories
    ) -> list[Evaluation]:
        """Return one evaluation per question, comparing its answer with the content."""
        ...

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories, strategy: Strategy
    ) -> list[RoundProposal]:
        """Return proposals that would close the gaps of weak memories."""
        ...


@dataclass(frozen=True, slots=True)
class RoundFindings:
    """Evaluations and proposals of one round; nothing is written."""

    evaluations: tuple[Evaluation, ...]
    proposals: tuple[RoundProposal, ...]

    @property
    def score(self) -> float:
        """Mean score of the evaluations, 0 to 1; 0 without any."""
        scores = [evaluation.score for evaluation in self.evaluations]
        return sum(scores) / len(scores) if scores else 0.0


class SentenceRoles:
    """Play all four roles without a model: cloze questions, answered from the cues."""

    async def ask(
        self, memories: Memories, targets: Sequence[str], strategy: Strategy, *, rng: random.Random
    ) -> list[Question]:
        """Return a cloze sentence for each mention of a target that has one left; none twice."""
        asked: dict[str, Question] = {}
        for target in targets:
            memory = memories[target]
            sentences = (text.strip(" .") for text in split_sentences(memory.content))
            found = (leave_out(text, memory.cue.subject) for text in sentences)
            left = [pair for pair in found if pair and pair[0] not in asked]
            if left:
                text, word = rng.choice(left)
                asked[text] = Question(target, text, "3", (word,))
        return list(asked.values())

    async def recall(self, questions: Sequence[str], cues: Sequence[Cue]) -> list[LearnerAnswer]:
        """Return one answer per question: the memories whose cues share words, ties by id."""
        texts = TextCollection([str(cue) for cue in cues])
        answers = []
        for question in questions:
            scores = [round(float(score), 6) for score in texts.score(question)]
            known = sorted(zip(scores, cues, strict=True), key=lambda x: (-x[0], x[1].memory_id))
            best = [cue for score, cue in known if score > 0][:_RECALLED]
            ids = tuple(cue.memory_id for cue in best)
            answers.append(LearnerAnswer(ids, str(best[0]) if best else "", 3 if best else 1))
        return answers

    async def judge(
        self, questions: Sequence[Question], answers: Sequence[LearnerAnswer], memories: Memories
    ) -> list[Evaluation]:
        """Score each answer by its share of blanked words; 0 if the memory is not recalled."""
        found = []
        for question, answer in zip(questions, answers, strict=True):
            ranks, said = answer.recalled, {*tokenize(answer.text)}
            expected = question.expected_elements
            lacking = [each for each in expected if not said.issuperset(tokenize(each))]
            share = 1 - len(lacking) / max(len(expected), 1)
            gaps = [f"missing detail: {each}" for each in lacking]
            if ranks and ranks[0] != question.memory_id:
                gaps.append(f"misconception: taken for {memories[ranks[0]].cue.subject}")
            found.append(conclude(question, share if question.memory_id in ranks else 0.0, gaps))
        return found

    async def strengthen(
        self, weak: Mapping[str, Sequence[Evaluation]], memories: Memories, strategy: Strategy
    ) -> list[RoundProposal]:
        """Propose nothing: words copied from a sentence are not a person's cue."""
        return []


def leave_out(sentence: str, subject: str) -> tuple[str, str] | None:
    """Return a sentence with its most informative word blanked, and that word, or ``None``.

    A number is preferred, then a name, then the longest word; words of the subject never are.
    """
    known = {*tokenize(subject)}
    words = [
        word
        for word in _WORD.findall(sentence)
        if word.casefold() not in STOPWORDS and known.isdisjoint(tokenize(word))
    ]
    if not words:
        return None
    is_name = {word: word[0].isupper() and not sentence.startswith(word) for word in words}
    best = max(words, key=lambda word: (not word.isalpha(), is_name[word], len(word)))
    stems = {*tokenize(best)}
    text = _WORD.sub(lambda at: at[0] if stems.isdisjoint(tokenize(at[0])) else _BLANK, sentence)
    return (text, best) if tokenize(text.replace(_BLANK, "")) else None


async def run_session(
    memories: Memories,
    roles: Roles,
    *,
    strategy: Strategy = Strategy.WEAK_SPOTS,
    question_count: int = 10,
    seed: int = 0,
    evolve_at_most: int | None = MOST_CHANGED,
    resting: Collection[str] = (),
) -> RoundFindings:
    """Run one round; ``resting`` memories are asked, not evolved; ``None`` means no limit."""
    rng = random.Random(seed)
    targets = choose_targets(memories, strategy, question_count, rng=rng)
    questions = await roles.ask(memories, targets, strategy, rng=rng)
    cues = [memories[id].cue for id in sorted(memories)]
    answers = await roles.recall([question.question_text for question in questions], cues)
    evaluations = await roles.judge(questions, answers, memories)
    weak: dict[str, list[Evaluation]] = {}
    for found in sorted(evaluations, key=lambda found: (found.score, found.memory_id)):
        if found.should_evolve and found.memory_id not in resting:
            weak.setdefault(found.memory_id, []).append(found)
    chosen = dict(list(weak.items())[:evolve_at_most])
    proposals = await roles.strengthen(chosen, memories, strategy) if chosen else []
    return RoundFindings(tuple(evaluations), tuple(proposals))


async def run_red_queen(
    palace: Mapping[str, Memory],
    strategy: Strategy = Strategy.WEAK_SPOTS,
    question_count: int = 10,
    *,
    roles: Roles | None = None,
    seed: int = 0,
) -> list[Evaluation]:
    """Return the evaluations of a round of source document 000 over memories by id.

    Unlike the document's, it changes nothing: ``run_session`` returns the proposals too.
    """
    memories = {id: ExaminedMemory.of(replace(memory, id=id)) for id, memory in palace.items()}
    played = roles or SentenceRoles()
    session = await run_session(
        memories, played, strategy=strategy, question_count=question_count, seed=seed
    )
    return list(session.evaluations)
