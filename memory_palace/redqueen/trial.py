"""Whether a proposal helps the search to find its note, and takes nothing from another."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memory_palace.changes.overlay import overlay
from memory_palace.engine import Engine
from memory_palace.language.sentences import split_sentences
from memory_palace.language.tokens import tokenize
from memory_palace.markdown.prose import strip_markup
from memory_palace.models import Query
from memory_palace.notes.document import Library
from memory_palace.redqueen.askings import Asking
from memory_palace.redqueen.examination import AskingResult, ask_search
from memory_palace.redqueen.patching import patch_note
from memory_palace.redqueen.proposals import RoundProposal, name_notes
from memory_palace.retrieval.profiles import get_profile
from memory_palace.retrieval.question import embed_question
from memory_palace.retrieval.search import search

MOST_SHOWN = 20
"""Proposals of one round: a person reads each."""
_TRIED = 3
"""Times as many are tried as are shown."""
_GUARDS = 60
"""Questions that must go on finding their notes, for each round of trials."""
_ROUNDS = 3
_NEAR, _LEAST_NEAR, _NEAR_SHARE = 30, 3, 1 / 6
"""Notes, and share of all, among which the target of a link has to be: asked with the sentence
without the name, so that a word in another sense leads to another note."""
_FIRST = 2
"""Notes among which a name has to find its note by what the notes say, before it is given."""
_REACHED = 20
"""Notes among which a question has to find its note before it is said to answer it."""


def try_proposals(
    engine: Engine,
    library: Library,
    proposals: Sequence[RoundProposal],
    askings: Sequence[Asking],
    *,
    most: int = MOST_SHOWN,
) -> list[RoundProposal]:
    """Return at most ``most`` proposals that are worth a person's look, in their order.

    What people ask and titles must find their notes among the first five as before, with all that
    is returned in place. A name must then bring its note first, and a question bring it higher
    than it came; the words around a missing link must lead near the note that it would lead to.
    """
    fit = [p for p in proposals[: _TRIED * most] if _fits(engine, library, p)][:most]
    for _ in range(_ROUNDS):
        fit, is_settled = _try_together(engine, library, fit, askings)
        if is_settled:
            return fit
    return []


def _fits(engine: Engine, library: Library, proposal: RoundProposal) -> bool:
    """Say whether the words of a proposal lead to its note, as the notes are."""
    if proposal.kind == "link":
        near = min(_NEAR, max(_LEAST_NEAR, round(len(library.documents) * _NEAR_SHARE)))
        (found,) = engine.rank_paths([_context(library, proposal)], limit=near + 1)
        return proposal.target in [path for path in found if path != proposal.path][:near]
    if proposal.kind == "alias":
        return proposal.path in _find_by_content(engine, proposal.text, _FIRST)
    if proposal.kind == "question" and not proposal.answer:  # a model's are vetted
        (found,) = engine.rank_paths([proposal.text], limit=_REACHED)
        return proposal.path in found[1:]
    return True


def _try_together(
    engine: Engine, library: Library, proposals: Sequence[RoundProposal], askings: Sequence[Asking]
) -> tuple[list[RoundProposal], bool]:
    """Return those that help and harm nothing with all of them in place, and whether all do."""
    if not proposals:
        return [], True
    own = [Asking(p.text, (p.path,), "question") for p in proposals]
    guards = list(_choose_guards(library, proposals, askings))
    before, kept = ask_search(engine, [*own, *guards]), []
    with overlay(engine, _patch(library, proposals)) as changed:
        after = ask_search(changed, [*own, *guards])
    harmful = _find_harmful(proposals, before[len(own) :], after[len(own) :])
    for proposal, old, new in zip(proposals, before, after, strict=False):
        if proposal.path not in harmful and _helps(proposal, old.rank, new.rank):
            kept.append(proposal)
    return kept, len(kept) == len(proposals)


def _helps(proposal: RoundProposal, before: int, after: int) -> bool:
    if proposal.kind in ("alias", "acronym"):
        return after == 1
    if proposal.kind == "question":
        return after > 0 and (before == 0 or after < before)
    return True


def _find_harmful(
    proposals: Sequence[RoundProposal],
    before: Sequence[AskingResult],
    after: Sequence[AskingResult],
) -> set[str]:
    """Return the notes whose proposals took a note from the first five of a question."""
    touched = set(name_notes(proposals))
    harmful: set[str] = set()
    for old, new in zip(before, after, strict=True):
        if old.rank and not new.rank:
            newcomers = (set(new.found) - set(old.found)) & touched
            harmful |= newcomers or touched & {*new.found, *old.asking.answers}
    return harmful


def _choose_guards(
    library: Library, proposals: Sequence[RoundProposal], askings: Sequence[Asking]
) -> Iterator[Asking]:
    """Yield what may be harmed: what is asked in words of a proposal, and of a changed note."""
    words = {w for p in proposals if p.kind != "link" for w in tokenize(p.text)}
    touched = set(name_notes(proposals))
    titles = [Asking(d.title, (path,), "question") for path, d in library.documents.items()]
    asked = [a for a in (*askings, *titles) if not library.documents[a.answers[0]].is_cold]
    sharing = [a for a in asked if a.kind == "golden" or words & set(tokenize(a.text))]
    known = set(map(id, sharing))
    own = [a for a in asked if id(a) not in known and touched & set(a.answers)]
    yield from [*sharing, *own][:_GUARDS]


def _patch(library: Library, proposals: Sequence[RoundProposal]) -> Mapping[str, bytes]:
    return {
        path: patch_note(library.documents[path], [p for p in proposals if p.path == path])
        for path in name_notes(proposals)
    }


def _context(library: Library, proposal: RoundProposal) -> str:
    """Return the sentence that holds the words of a link, without these and without markup."""
    document = library.documents[proposal.path]
    line = document.body.split("\n")[proposal.line - document.body_first_line]
    sentences = split_sentences(strip_markup(line))
    sentence = next((text for text in sentences if proposal.text in text), line)
    return " ".join(sentence.replace(proposal.text, " ").split()) or document.title


def _find_by_content(engine: Engine, text: str, limit: int) -> list[str]:
    """Return the notes that a text brings by what they say, not by what they are called."""
    snapshot = engine.snapshot()
    query = Query(text, time.time())
    if snapshot.commit.dimension:
        query = embed_question(query, engine.embedder())
    hybrid = get_profile("hybrid")
    unnamed = {name: weight for name, weight in hybrid.weights.items() if name != "called"}
    found = search(query, snapshot, profile=replace(hybrid, weights=unnamed), limit=limit)
    return [hit.path for hit in found.hits]
