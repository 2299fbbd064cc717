"""What would be said nowhere in the hot rooms if a note left them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from memory_palace.checking.answers import read_claims, split_prose
from memory_palace.checking.checker import check_answer
from memory_palace.checking.verdicts import ACCEPTED, Passage
from memory_palace.checking.wording import Wording
from memory_palace.markdown.markup import Markup
from memory_palace.metabolism.condensing import is_foam
from memory_palace.notes.document import Document
from memory_palace.notes.superseding import blank_claims, find_claims
from memory_palace.notes.withholding import withhold

LEAST_SAID = 0.8
"""Share of a statement's words that a passage must have, beside what the checker asks.

Of the sample's 409 statements others say 85 so, each of them rightly; at .6 it is 124, and every
fifth of those added is said of something else.
"""
_SHOWN = 100
"""Characters that are shown of a statement."""
_COMPARED = 5
"""Notes that a statement is compared with: those that have most of its words."""
_ADDRESS = re.compile(r"https?://[^\s)\]>\"]+")
_NAMES_ALONE = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?(?:(?:\[\[[^\[\]\n]*\]\][ \t,;]*)+|[^\s:;,|()\[\]]+\.md[ \t]*)$", re.M
)
"""Lines that hold nothing but links or a path."""
_WORD = re.compile(r"\w+")


class HotNotes:
    """What the notes say that are in the hot rooms."""

    def __init__(self, documents: Iterable[Document], leaving: Iterable[str] = ()) -> None:
        self._documents = {d.path: d for d in documents if not d.is_cold}
        self._gone = set(leaving)
        self._needed: dict[str, str] = {}

    def let_go(self, document: Document, *, without: Collection[str] = ()) -> str:
        """Return why a note has to stay; nothing where others say all it says, and then it is gone.

        A note that says what another one leaves behind stays for this time. Foam is no loss, nor is
        a line that only names notes. A statement is said elsewhere in the same words, or where the
        checker of answers accepts it and a passage has nearly all its words; a line of code and an
        address only as they are, and never by the notes ``without``.
        """
        if document.path in self._needed:
            return f"{self._needed[document.path]} goes because this note says what it said"
        if withhold(document.data.decode("utf-8", "replace"), document.path)[1]:
            return "holds something private, which is not compared"
        away = {document.path, *self._gone, *without}
        found = [(each, self._who_says(each, away)) for each in _statements(_read_held(document))]
        unsaid = [each for each, where in found if where is None]
        if not unsaid:
            self._gone.add(document.path)
            self._needed |= {where: document.path for _, where in found if where}
        return _write_unsaid(unsaid)

    def _who_says(self, statement: str, away: set[str]) -> str | None:
        """Return the note that says it, ``""`` for what says nothing, ``None`` for no note."""
        same = self._written.get(_key(statement), {}).keys() - away
        if same:
            return min(same)
        claim = Wording(statement)
        if _ADDRESS.fullmatch(statement):
            return None
        if not claim.says_something:
            return None if claim.content and not claim.text.endswith(":") else ""
        passages = [
            Passage(p, 1, 1, _read_held(self._documents[p])) for p in self._nearest(claim, away)
        ]
        for check in check_answer(statement, passages).sentences if passages else ():
            if check.verdict in ACCEPTED and check.score >= LEAST_SAID and check.passage:
                return check.passage.note
        return None

    def _nearest(self, claim: Wording, away: set[str]) -> list[str]:
        shared = Counter[str]()
        for stem in claim.content:
            shared.update(self._postings.get(stem, set()) - away)
        least = LEAST_SAID * len(claim.content)
        near = [path for path, count in shared.items() if count >= least]
        return sorted(near, key=lambda path: (-shared[path], path))[:_COMPARED]

    @cached_property
    def _written(self) -> dict[str, dict[str, None]]:
        """For each statement the notes that have it in these words."""
        found = defaultdict[str, dict[str, None]](dict)
        for path, document in self._documents.items():
            for statement in _statements(_read_held(document)):
                found[_key(statement)][path] = None
        return found

    @cached_property
    def _postings(self) -> dict[str, set[str]]:
        """For each telling stem the notes that have it."""
        found = defaultdict[str, set[str]](set)
        for path, document in self._documents.items():
            for stem in Wording(document.body).content:
                found[stem].add(path)
        return found


def _write_unsaid(unsaid: Sequence[str]) -> str:
    if not unsaid:
        return ""
    first = unsaid[0] if len(unsaid[0]) <= _SHOWN else f"{unsaid[0][: _SHOWN - 1]}…"
    if len(unsaid) == 1:
        return f"says a thing that no other hot note says: {first}"
    return f"says {len(unsaid)} things that no other hot note says, first: {first}"


def _read_held(document: Document) -> str:
    """Return what a note says, but for what it says is superseded."""
    return blank_claims(document.body, find_claims(document.body))


def _statements(body: str) -> Iterator[str]:
    """Yield the sentences of a note without foam, its lines of code and its addresses."""
    said = dict.fromkeys(split_prose(read_claims(_NAMES_ALONE.sub("", body))))
    yield from (sentence for sentence in said if _key(sentence) and not is_foam(sentence))
    lines = zip(body.split("\n"), Markup(body).fenced, strict=True)
    code = (line.strip() for line, is_fenced in lines if is_fenced)
    yield from (line for line in code if _key(line) and not line.startswith(("```", "~~~")))
    yield from dict.fromkeys(_ADDRESS.findall(body))


def _key(statement: str) -> str:
    return " ".join(_WORD.findall(statement.casefold()))
