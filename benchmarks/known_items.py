"""Questions a person asks of notes whose names and words they know, drawn from any folder of notes.

Names are titles, file names and aliases that one note alone bears; a quote is five words in a row
that stand in one note alone.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.generate import scratch_folder
from benchmarks.golden import copy_vault
from memory_palace.graph.resolve import fold_name
from memory_palace.markdown.markup import strip_markup
from memory_palace.notes.parsing import parse_note
from memory_palace.palace import Palace

MOST = 150
"""Questions of each kind."""
QUOTED, SHORTEST = 5, 5
"""Words of a quote, and least letters of a name that a typo is made in."""
DEPTH = 10
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_KINDS = ("title", "file name", "alias", "typo", "quote")

_Ranked = Callable[[str], tuple[Sequence[str], bool]]  # paths, best first; whether it answers
_Found = tuple[int, bool]  # the rank of a note, 0 where it is not found; whether it is answered


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question and the one note that it means."""

    kind: str
    question: str
    path: str


@dataclass(frozen=True, slots=True)
class KnownScore:
    """How one system answered one kind of question."""

    kind: str
    system: str
    questions: int
    at_1: float
    at_5: float
    at_10: float
    """Shares of questions whose note is among the first 1, 5 and 10."""
    answered: float
    """The share where it is among those, and the system says that it answers."""


@dataclass(frozen=True, slots=True)
class _Named:
    path: str
    title: str
    aliases: tuple[str, ...]
    text: str

    @property
    def names(self) -> list[tuple[str, str]]:
        """Its names, each with its kind."""
        aliases = (("alias", alias) for alias in self.aliases)
        return [("title", self.title), ("file name", self.stem), *aliases]

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2].rpartition(".")[0]


def measure_known(
    folder: Path,
    *,
    embedder: str,
    seed: int,
    most: int = MOST,
    report: Callable[[KnownItem, int], None] = lambda item, rank: None,
) -> list[KnownScore]:
    """Ask for known items of a folder; return the scores, the worst kind of ours first.

    ``report`` is told every question of ours and the rank of its note, 0 where it is not found.
    """
    chance = random.Random(seed)
    with scratch_folder() as root:
        copy_vault(folder, root)
        palace = Palace(root)
        palace.index(embedder=embedder)
        notes = [_read(root, note.path) for note in palace.notes()]
        items = draw_items(notes, chance, most=most)
        systems: dict[str, _Ranked] = {
            **_ask_modes(palace),
            "bm25": _ask(palace, "bm25", lexical=True),
        }
        ranks = rank_items(items, systems, report)
    return order_worst_first([_score(*key, found) for key, found in ranks.items() if found])


def draw_items(notes: Sequence[_Named], chance: random.Random, *, most: int) -> Iterator[KnownItem]:
    """Yield questions of every kind, at most so many of each."""
    bearers: dict[str, set[str]] = defaultdict(set)
    for note in notes:
        for _, name in note.names:
            bearers[fold_name(name)].add(note.path)
    exact = [
        KnownItem(kind, name, note.path)
        for note in notes
        for kind, name in note.names
        if len(bearers[fold_name(name)]) == 1
    ]
    typos = [KnownItem("typo", mistype(item.question, chance), item.path) for item in exact]
    found = [*exact, *(t for t in typos if t.question and fold_name(t.question) not in bearers)]
    found += _quotes(notes, chance)
    for kind in _KINDS:
        items = [item for item in found if item.kind == kind]
        yield from chance.sample(items, min(most, len(items)))


def mistype(name: str, chance: random.Random) -> str:
    """Return a name with one letter inserted, deleted, swapped with the next, or replaced."""
    places = [place for place, letter in enumerate(name) if letter.isalpha()]
    if len(places) < SHORTEST:
        return ""
    place = chance.choice(places)
    letter = chance.choice(_LETTERS.replace(name[place].casefold(), ""))
    before, at, after = name[:place], name[place], name[place + 1 :]
    forms = [before + letter + at + after, before + after, before + letter + after]
    if after[:1].isalpha() and after[0] != at:
        forms.append(before + after[0] + at + after[1:])
    return chance.choice(forms)


def rank_items(
    items: Iterable[KnownItem],
    systems: Mapping[str, _Ranked],
    report: Callable[[KnownItem, int], None],
) -> dict[tuple[str, str], list[_Found]]:
    """Return what became of each item by kind and system; the first system's ranks are reported."""
    ranks: dict[tuple[str, str], list[_Found]] = defaultdict(list)
    for item in items:
        for place, (system, ranked) in enumerate(systems.items()):
            paths, is_answered = ranked(item.question)
            rank = paths.index(item.path) + 1 if item.path in paths else 0
            ranks[item.kind, system].append((rank, rank > 0 and is_answered))
            if not place:
                report(item, rank)
    return ranks


def order_worst_first(scores: Sequence[KnownScore]) -> list[KnownScore]:
    """Order kinds by how the first system of each did, the worst first."""
    first: dict[str, float] = {}
    for score in scores:
        first.setdefault(score.kind, score.at_5 if score.kind == "typo" else score.at_1)
    return sorted(scores, key=lambda score: first[score.kind])


def _score(kind: str, system: str, found: Sequence[_Found]) -> KnownScore:
    shares = [sum(1 <= rank <= most for rank, _ in found) / len(found) for most in (1, 5, DEPTH)]
    shares.append(sum(is_answered for _, is_answered in found) / len(found))
    return KnownScore(kind, system, len(found), *shares)


def _read(root: Path, path: str) -> _Named:
    data = (root / path).read_bytes()
    note = parse_note(path, data, count_tokens=lambda text: 1, token_limit=256)
    return _Named(path, note.title, note.aliases, note.body)


def _quotes(notes: Sequence[_Named], chance: random.Random) -> Iterator[KnownItem]:
    """Yield five words in a row as a note shows them, in quotation marks, one for each note."""
    shown = {note.path: " ".join(strip_markup(note.text).split()) for note in notes}
    folded = [text.casefold() for text in shown.values()]
    for path in sorted(shown):
        words = shown[path].split()
        places = range(len(words) - QUOTED + 1)
        for place in chance.sample(places, min(3, len(places))):
            quote = " ".join(words[place : place + QUOTED])
            if '"' not in quote and sum(quote.casefold() in text for text in folded) == 1:
                yield KnownItem("quote", f'"{quote}"', path)
                break


def _ask(palace: Palace, profile: str, *, lexical: bool) -> _Ranked:
    def ranked(question: str) -> tuple[list[str], bool]:
        found = palace.query(question, limit=DEPTH, profile=profile, lexical=lexical, neighbors=0)
        return [hit.path for hit in found], found.is_answered

    return ranked


def _ask_modes(palace: Palace) -> dict[str, _Ranked]:
    """Return the ways in which a palace is asked: the default one first."""
    words = {"--mode lexical": _ask(palace, "hybrid", lexical=True)}
    if not palace.snapshot().commit.dimension:
        return words
    return {"palace query": _ask(palace, "hybrid", lexical=False), **words}
