"""Align a claim with a passage word by word, and find the values that differ.

A difference is another value in the same place: number, unit, time, name or negation. A value that
the passage lacks, with no other in its place, is unsaid. Other changes of words are paraphrases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import product
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from memory_palace.features.checking.wording import PERIODS, UNITS, Date, Wording, WrittenWord
from memory_palace.language.numbers import NUMBER_WORDS, Number, find_unit, is_same_family
from memory_palace.language.words import TIME_WORDS, WORDS, is_negation, tokenize
from memory_palace.models import Matrix, Vector

EmbedTokens: TypeAlias = Callable[[str], tuple[list[str], Matrix]]
"""Return the word pieces of a text and one contextual unit vector for each."""
SYNONYMS = 0.75
"""Least cosine of two words, each embedded alone, that makes them synonyms: begin and start .84,
physician and doctor .86, but morning and evening .71, red and blue .73."""
_SHORTEST_ROOT = 5
"""Least letters of the prefix that words of one root share: extract, extraction."""


@dataclass(frozen=True, slots=True)
class Change:
    """A run of differing words in an alignment, as word positions in claim and passage."""

    mine: range
    """Empty where the claim omits words."""
    theirs: range
    """Empty where the claim adds words."""


@dataclass(frozen=True, slots=True)
class Copying:
    """Word alignment of a claim with a passage, by stems."""

    changes: tuple[Change, ...]
    share: float
    """Share of the claim's words that match, in order."""
    telling: float
    """Share of its content words that match."""


class WordReader:
    """Compares words by stem and, if an embedder yields token vectors, by cosine.

    Each text is embedded once; a joined wording stacks the vectors of its parts.
    """

    def __init__(self, embed_tokens: EmbedTokens | None) -> None:
        self._call = embed_tokens or (lambda text: ([], np.zeros((0, 1), np.float32)))
        self._read: dict[str, Matrix] = {}
        self._alone: dict[str, Vector] = {}
        self.by_meaning = embed_tokens is not None
        """Whether word vectors are available."""

    def embed(self, wording: Wording) -> Matrix:
        """Return one contextual unit vector per word; zeros beyond the model's token limit."""
        if wording.parts:
            return np.concatenate([self.embed(part) for part in wording.parts])
        found = self._read.get(wording.text)
        if found is None:
            found = self._read[wording.text] = self._embed_words(wording)
        return found

    def compare(self, claim: Wording, passage: Wording) -> Matrix:
        """Return the similarity in [0, 1] of each claim word (row) to each passage word."""
        same: Matrix = np.zeros((len(claim.words), len(passage.words)), dtype=np.float32)
        theirs = [word.stem for word in passage.words]
        for at, word in enumerate(claim.words):
            same[at] = [word.stem == stem for stem in theirs]
        for at, other in _pair_values(claim, passage):
            same[at, other] = 1
        if not self.by_meaning or not same.size:
            return same
        cosines = self.embed(claim) @ self.embed(passage).T
        likeness: Matrix = np.maximum(same, np.clip(cosines, 0, 1))
        return likeness

    def compare_whole(self, claim: Wording, passage: Wording) -> float:
        """Return the cosine of two texts, at least 0; 0 without vectors."""
        if not self.by_meaning:
            return 0.0
        return max(0.0, float(pool(self.embed(claim)) @ pool(self.embed(passage))))

    def is_synonym(self, mine: str, theirs: str) -> bool:
        """Return whether two words share a root, or their isolated vectors reach ``SYNONYMS``."""
        if share_root(mine, theirs):
            return True
        if not self.by_meaning:
            return False
        return float(self._embed_alone(mine) @ self._embed_alone(theirs)) >= SYNONYMS

    def _embed_alone(self, word: str) -> Vector:
        if word not in self._alone:
            self._alone[word] = pool(self._call(word)[1])
        return self._alone[word]

    def _embed_words(self, wording: Wording) -> Matrix:
        pieces, vectors = self._call(wording.text)
        found: Matrix = np.zeros((len(wording.words), vectors.shape[1]), dtype=np.float32)
        for piece, at in enumerate(_places(wording.words, pieces)):
            if at >= 0:
                found[at] += vectors[piece]
        norms = np.sqrt(np.einsum("wd,wd->w", found, found))
        found /= np.where(norms, norms, 1)[:, None]
        return found


@lru_cache(maxsize=1 << 12)
def share_root(mine: str, theirs: str) -> bool:
    """Return whether two words share a prefix of most of their length: extract, extraction."""
    least = max(_SHORTEST_ROOT, round(0.6 * max(len(mine), len(theirs))))
    return mine[:least] == theirs[:least] and min(len(mine), len(theirs)) >= least


def pool(vectors: Matrix) -> Vector:
    """Return the unit vector of a text: the mean of its words' vectors."""
    total: Vector = vectors.sum(axis=0)
    norm = float(np.linalg.norm(total))
    return total / norm if norm else total


def find_copying(claim: Wording, passage: Wording) -> Copying:
    """Return the alignment of a claim with a passage: matching words, and runs that differ.

    Passage text before and after the match is ignored, but for the words next to a change.
    """
    mine, theirs = claim.words, passage.words
    matcher = SequenceMatcher(None, [w.stem for w in mine], [w.stem for w in theirs], False)
    changes, same = list[Change](), set[int]()
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            same.update(range(a, b))
        elif tag != "insert" or 0 < a < len(mine):
            first = c if a else max(c, d - (b - a) - 1)
            last = d if b < len(mine) else min(d, first + (b - a) + 1)
            changes.append(Change(range(a, b), range(first, last)))
    telling = [at for at, word in enumerate(mine) if word.is_telling]
    kept = sum(at in same for at in telling)
    return Copying(tuple(changes), len(same) / max(1, len(mine)), kept / max(1, len(telling)))


def _places(words: Sequence[WrittenWord], pieces: Sequence[str]) -> Iterator[int]:
    """Yield for each word piece the position of its word, -1 for punctuation."""
    at, left = -1, 0
    for piece in pieces:
        size = len(piece.removeprefix("##"))
        if not piece.removeprefix("##")[:1].isalnum():
            yield -1
            continue
        while left <= 0 and at + 1 < len(words):
            at += 1
            left = sum(map(str.isalnum, words[at].key))
        yield at
        left -= size


def _pair_values(claim: Wording, passage: Wording) -> Iterator[tuple[int, int]]:
    """Yield (claim, passage) word positions of equal numbers and dates: 240 cm, 2.4 metres."""
    pairs = [(a, b) for a in claim.numbers for b in passage.numbers if a.agrees(b)]
    dates = [(a, b) for a in claim.dates for b in passage.dates if a.agrees(b)]
    spans = [((a.start, a.stop), (b.start, b.stop)) for a, b in pairs]
    spans += [((a.start, a.stop), (b.start, b.stop)) for a, b in dates]
    for mine, theirs in spans:
        there = _spelled(passage, *theirs)
        yield from ((at, there[0]) for at in _spelled(claim, *mine) if there)


def _spelled(wording: Wording, start: int, stop: int) -> list[int]:
    """Return the positions of the words of a number or date, its unit included."""
    return [at for at, word in enumerate(wording.words) if word.start < stop and start < word.end]


# --- Differences ---

DifferenceKind: TypeAlias = Literal["number", "unit", "time", "name", "negation"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that differs between an answer and a passage."""

    kind: DifferenceKind
    reason: str
    mine: str
    """Words of the answer."""
    theirs: str
    """Words of the passage."""


def differ(kind: DifferenceKind, mine: str, theirs: str) -> Difference:
    """Return a difference whose reason quotes both sides."""
    return Difference(kind, f"“{mine}” where the passage says “{theirs}”", mine, theirs)


_LEAST_SHARED = 0.5
"""Least share of a negated sentence's other content words that the plain sentence has too."""
_DENYING = frozenset(
    tokenize(
        "prevent avoid forbid prohibit ban refuse deny exclude block stop cease miss skip ignore "
        "impossible absence absent missing reject disable omit drop forget neglect except fail "
        "unlikely rarely seldom few little hide lose protect resist free only otherwise lack"
    )
)
"""Stems that negate by meaning; a sentence with one of them asserts nothing plainly."""
_LIMITS = frozenset("only just merely least until more less fewer later earlier sooner".split())
"""Directly after a negation they form "at most", "at least" or "also", and deny nothing."""
_LIGHT = frozenset(tokenize("make do take have get keep leave use need want try go come let put"))
"""Light verbs: the denied word is the one after them."""
_MEASURES = NUMBER_WORDS | TIME_WORDS
_FOREIGN_NEGATIONS = WORDS["foreign negations"]
"""German, French and Spanish negations; separate, as "sin" and "pas" are English words too."""


def find_negations(words: Sequence[WrittenWord]) -> list[int]:
    """Return the positions of negations; ``not only`` and ``no more than`` are none."""
    keys = [word.key for word in words]
    return [
        at
        for at, key in enumerate(keys)
        if (is_negation(key) or key in _FOREIGN_NEGATIONS)
        and not {*keys[at + 1 : at + 2]} & _LIMITS
    ]


def find_denial(claim: Wording, sentence: Wording) -> Iterator[Difference]:
    """Yield a negation difference if one sentence denies the word that the other asserts."""
    for denying, saying, is_mine in ((claim, sentence, True), (sentence, claim, False)):
        places = find_negations(denying.words)
        is_plain = not find_negations(saying.words) and _DENYING.isdisjoint(saying.stems)
        if len(places) != 1 or not is_plain:
            continue
        told = [word for word in saying.words if _is_telling(word)]
        telling = [word for word in denying.words if _is_telling(word)]
        behind = [word for word in telling if word.start > denying.words[places[0]].start]
        heavy = [word for word in behind if word.stem not in _LIGHT]
        head = next(iter(heavy or behind or telling[-1:]), None)
        others = [word for word in telling if word is not head]
        shared = sum(any(_is_alike(word, other) for other in told) for word in others)
        is_near = bool(others) and shared / len(others) >= _LEAST_SHARED
        if head is None or not is_near or not any(_is_alike(head, word) for word in told):
            continue
        said = ("denied", "says it") if is_mine else ("said", "denies it")
        reason = f"“{head.key}” is {said[0]}, and the passage {said[1]}"
        yield Difference("negation", reason, claim.text, sentence.text)
        return


def _is_alike(mine: WrittenWord, theirs: WrittenWord) -> bool:
    return mine.stem == theirs.stem or share_root(mine.key, theirs.key)


def _is_telling(word: WrittenWord) -> bool:
    is_measure = word.key[0].isdigit() or word.key in _MEASURES or word.stem in UNITS
    return word.is_telling and not is_measure and not word.key.endswith("ly")


_COPIES = 0.6
"""Least share of a claim's content words, matched in order, that makes it a copy of a sentence."""
_LONGEST = 5
"""Most words of a substitution; a longer one makes another statement."""
_SAME_SUBJECT = 0.5
"""Least share of a claim's content stems in a sentence for its values to be rivals."""
_SLIGHT = 3
"""Largest spelled number without a unit that may be no claim: one, three, a pair."""

Value = TypeVar("Value", Number, Date)


@dataclass(frozen=True, slots=True)
class Findings:
    """Differences between a claim and a passage, and values of the claim missing from the note."""

    differences: tuple[Difference, ...] = ()
    unsaid: tuple[str, ...] = ()


def find_differences(
    claim: Wording, passage: Wording, around: Wording, about: Wording, reader: WordReader
) -> Findings:
    """Compare the values of a claim with a passage, then with the text and note around it.

    More than one differing or missing value means another subject: no difference, all unsaid.
    """
    pair = _Comparison(claim, passage, around, about, reader)
    found = list(pair.read())
    differences = [each for each in found if isinstance(each, Difference)]
    values = [each for each in differences if each.kind != "negation"]
    unsaid = [each for each in found if isinstance(each, str)]
    if len(values) + len(unsaid) > 1:
        return Findings((), tuple(dict.fromkeys([*(each.mine for each in values), *unsaid])))
    return Findings(tuple(differences), tuple(unsaid))


@dataclass(frozen=True)
class _Comparison:
    claim: Wording
    passage: Wording
    around: Wording
    about: Wording
    reader: WordReader

    @property
    def _parts(self) -> tuple[Wording, ...]:
        return self.passage.parts or (self.passage,)

    @cached_property
    def _of_the_subject(self) -> list[Wording]:
        """Passage sentences on the claim's subject, searched for rival values."""
        return [p for p in self._parts if self.claim.share_matter(p) >= _SAME_SUBJECT]

    @cached_property
    def sentence(self) -> Wording:
        """The passage sentence that matches most of the claim's content words."""

        def rank(part: Wording) -> tuple[float, float]:
            return find_copying(self.claim, part).telling, self.claim.share_matter(part)

        return max(self._parts, key=rank)

    @cached_property
    def copying(self) -> Copying:
        return find_copying(self.claim, self.sentence)

    @property
    def is_copied(self) -> bool:
        return self.copying.telling >= _COPIES

    def read(self) -> Iterator[Difference | str]:
        """Yield each difference, and each unsaid value as text; every value of the claim once."""
        taken: list[range] = []
        has_denial = False
        for change in self.copying.changes if self.is_copied else ():
            difference = self._read_change(change)
            if difference is not None:
                taken.append(change.mine)
                has_denial = has_denial or difference.kind == "negation"
                yield difference
        changed = {self.claim.words[at].start for places in taken for at in places}
        for values in (self._compare_numbers, self._compare_dates):
            yield from values(changed)
        yield from self._unsaid_names(changed)
        if not has_denial:
            yield from find_denial(self.claim, self.sentence)

    def _read_change(self, change: Change) -> Difference | None:
        """Return the difference that a substitution in a copied sentence makes, or ``None``."""
        mine = [self.claim.words[at] for at in change.mine]
        theirs = [self.sentence.words[at] for at in change.theirs]
        denied = len(find_negations(mine)) % 2 != len(find_negations(theirs)) % 2
        if denied and not all(any(word.is_telling for word in each) for each in (mine, theirs)):
            words = [self.claim.words, self.sentence.words]
            spans = [
                range(max(0, part.start - 1), min(len(each), part.stop + 1))
                for part, each in zip((change.mine, change.theirs), words, strict=True)
            ]
            return differ("negation", self.claim.cut(spans[0]), self.sentence.cut(spans[1]))
        if not mine or not theirs or max(len(mine), len(theirs)) > _LONGEST:
            return None
        return self._other_value(mine, theirs) or self._other_name(mine, theirs)

    def _other_value(
        self, mine: Sequence[WrittenWord], theirs: Sequence[WrittenWord]
    ) -> Difference | None:
        dates = _within(self.claim.dates, mine), _within(self.sentence.dates, theirs)
        if any(one.agrees(other) for one, other in product(*dates)):
            return None
        for one, other in product(*dates):
            if one.is_comparable(other):
                return differ("time", one.text, other.text)
        numbers = _within(self.claim.numbers, mine)
        given = _within(self.sentence.numbers, theirs)
        if numbers and given:
            if any(one.agrees(other) for one in numbers for other in given):
                return self._other_counted(mine, theirs)
            return self._differ(numbers[0], given[0])
        periods = [[w for w in words if w.key in PERIODS] for words in (mine, theirs)]
        if all(periods) and {w.stem for w in periods[0]}.isdisjoint(w.stem for w in periods[1]):
            return differ("time", periods[0][0].key, periods[1][0].key)
        units = [[w.key for w in words if find_unit(w.key).family] for words in (mine, theirs)]
        if all(units) and find_unit(units[0][0]) != find_unit(units[1][0]):
            return differ("unit", units[0][0], units[1][0])
        return self._other_counted(mine, theirs)

    def _other_counted(
        self, mine: Sequence[WrittenWord], theirs: Sequence[WrittenWord]
    ) -> Difference | None:
        """Return a ``unit`` difference where equal numbers count different things."""
        for number in self.claim.numbers:
            for given in self.sentence.numbers:
                words, others = _counted(number, mine), _counted(given, theirs)
                is_unit = number.unit.family and given.unit.family
                if not words or not others or is_unit or not number.agrees(given):
                    continue
                if not self._is_same(words, others):
                    told = f"{number.text} {words[0].key}"
                    return differ("unit", told, f"{given.text} {others[0].key}")
        return None

    def _is_same(self, mine: Iterable[WrittenWord], theirs: Sequence[WrittenWord]) -> bool:
        return any(self.reader.is_synonym(a.key, b.key) for a in mine for b in theirs)

    def _other_name(
        self, mine: Sequence[WrittenWord], theirs: Sequence[WrittenWord]
    ) -> Difference | None:
        common = {w.key for w in self.around.words if self.around.text[w.start].islower()}
        names = [
            [word for word in _names(text, words) if word.key not in common]
            for text, words in ((self.claim, mine), (self.sentence, theirs))
        ]
        if not all(names) or self.claim.tongue == "other":
            return None
        known = {word.stem for word in theirs}
        if any(word.stem in known or self._is_same([word], names[1]) for word in names[0]):
            return None
        return differ("name", _cut(self.claim, names[0]), _cut(self.sentence, names[1]))

    def _compare_numbers(self, taken: set[int]) -> Iterator[Difference | str]:
        claimed = self.claim.numbers
        for mine in claimed:
            same = [one for one in self.passage.numbers if mine.agrees(one)]
            if same:
                if self.is_copied and all(mine.is_turned(one) for one in same):
                    yield self._differ(mine, same[0])
            elif taken.isdisjoint(range(mine.start, mine.stop)):
                known = (*self.around.numbers, *self.about.numbers)
                rivals = (
                    one
                    for part in self._of_the_subject
                    for one in part.numbers
                    if _is_rival(mine, one) and not any(other.agrees(one) for other in claimed)
                )
                if (rival := next(rivals, None)) is not None:
                    yield self._differ(mine, rival)
                elif not any(mine.agrees(one) for one in known) and not self._has(mine.written):
                    yield mine.written

    def _differ(self, mine: Number, theirs: Number) -> Difference:
        is_unit = mine.value == theirs.value and mine.form == theirs.form != "code"
        told, given = mine.written, theirs.written
        if mine.bound * theirs.bound < 0 and is_unit:
            sides = {1: "at least", -1: "at most"}
            told, given = f"{sides[mine.bound]} {told}", f"{sides[theirs.bound]} {given}"
            return differ("number", told, given)
        return differ("unit" if is_unit else "number", told, given)

    def _compare_dates(self, taken: set[int]) -> Iterator[Difference | str]:
        known = (*self.passage.dates, *self.around.dates, *self.about.dates)
        for mine in self.claim.dates:
            if any(mine.agrees(one) for one in known):
                continue
            if not taken.isdisjoint(range(mine.start, mine.stop)):
                continue
            rivals = (
                one
                for part in self._of_the_subject
                for one in part.dates
                if one.unit == mine.unit
                and one.is_comparable(mine)
                and not any(other.agrees(one) for other in self.claim.dates)
            )
            if (rival := next(rivals, None)) is None and self._has(mine.text):
                continue
            yield mine.text if rival is None else differ("time", mine.text, rival.text)

    def _has(self, text: str) -> bool:
        """Return whether a one-word value occurs verbatim in the text or metadata around."""
        return text.casefold() in {w.key for w in (*self.around.words, *self.about.words)}

    def _unsaid_names(self, taken: set[int]) -> Iterator[str]:
        if self.claim.tongue == "other":
            return
        known = {*self.around.words, *self.about.words}
        stems = {word.stem for word in known}
        for word in _names(self.claim, self.claim.words):
            if word.stem in stems or word.start in taken or word.start == 0:
                continue
            if not any(share_root(word.key, other.key) for other in known):
                yield _cut(self.claim, [word])


def _within(values: Sequence[Value], words: Sequence[WrittenWord]) -> list[Value]:
    """Return the values whose spans overlap the given words."""
    return [v for v in values if any(w.start < v.stop and v.start < w.end for w in words)]


def _counted(number: Number, words: Sequence[WrittenWord]) -> list[WrittenWord]:
    return [w for w in words if w.stem in number.counted or number.end <= w.start < number.stop]


def _names(text: Wording, words: Iterable[WrittenWord]) -> list[WrittenWord]:
    taken = [(date.start, date.stop) for date in text.dates]
    taken += [(number.start, number.stop) for number in text.numbers]
    return [
        word
        for word in words
        if word.is_telling
        and any(letter.isupper() for letter in text.text[word.start : word.end])
        and not any(start <= word.start < stop for start, stop in taken)
    ]


def _cut(text: Wording, words: Sequence[WrittenWord]) -> str:
    return text.text[words[0].start : words[-1].end]


def _is_slight(number: Number) -> bool:
    is_word = number.text[0].isalpha() and not number.unit.family
    return is_word and (number.value <= _SLIGHT or number.form == "ordinal")


def _is_rival(mine: Number, theirs: Number) -> bool:
    """Return whether one number could replace another: same unit family, label or noun."""
    one, other = mine.unit.family, theirs.unit.family
    if max(mine.value, theirs.value) < 1 and not (one or other or mine.counted or theirs.counted):
        return mine.form == theirs.form == ""
    if mine.form != theirs.form or _is_slight(mine) or _is_slight(theirs):
        return False
    if one or other:
        return is_same_family(one, other)
    if mine.label and mine.label == theirs.label:
        return True
    return not set(mine.counted).isdisjoint(theirs.counted)
