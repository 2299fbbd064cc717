"""Guards keep uncertain evidence from hiding certain evidence."""

from dataclasses import replace

import numpy as np

from memory_palace.models import ParsedQuery
from memory_palace.retrieval.signals import PROFILES, Profile
from tests.searching import search

VECTOR = np.array([1, 0], np.float32)
WORDS = "frost pump gauge valve"


def asked(text=WORDS):
    return ParsedQuery(text, 0.0, vector=VECTOR)


def paths(found):
    return [hit.path.removeprefix("palace/").removesuffix(".md") for hit in found.hits]


WORDY = Profile("wordy", {"lexical": 1.0, "semantic": 0.01})


def test_only_one_note_is_moved_and_only_to_the_fifth_place(build, passage):
    loud = [passage(f"palace/w{n}.md", [0.0], texts=[f"{WORDS} " * 2 + str(n)]) for n in range(6)]
    near = [passage(f"palace/n{n}.md", [0.9 - 0.1 * n], texts=["frost"]) for n in range(3)]
    rest = [passage(f"palace/r{n}.md", [0.3], texts=["nothing"]) for n in range(9)]
    snapshot = build(loud + near + rest)
    plain = paths(search(asked(), snapshot, profile=WORDY, limit=9))
    kept = paths(search(asked(), snapshot, profile=replace(WORDY, preserves_rank=True), limit=9))
    assert plain[:6] == [f"w{n}" for n in range(6)]
    assert kept == [*plain[:4], "n0", *(path for path in plain[4:] if path != "n0")]


def test_nothing_moves_where_nobody_intrudes(build, passage):
    notes = [passage(f"palace/{n}.md", [0.9 - 0.1 * n], texts=[f"frost {n}"]) for n in range(7)]
    snapshot = build(notes)
    for profile in (WORDY, PROFILES["raw"]):
        kept = replace(profile, preserves_rank=True)
        assert paths(search(asked("frost"), snapshot, profile=kept, limit=7)) == paths(
            search(asked("frost"), snapshot, profile=profile, limit=7)
        )


def test_the_cap_bounds_what_signals_of_low_precision_add(build, passage):
    snapshot = build([passage(f"palace/{n}.md", [0.1 * n], texts=[WORDS]) for n in range(4)])
    free = Profile("free", {"semantic": 1.0, "statement": 2.0})
    capped = replace(free, capped=frozenset({"statement"}), cap=0.5)
    for hit in search(asked(), snapshot, profile=capped).hits:
        parts = {part.signal: part.contribution for part in hit.contributions}
        assert parts["statement"] + parts["cap"] <= 0.5
        assert hit.score == round(sum(parts.values()), 6)


def test_the_nearest_five_are_anchored_by_their_rank(build, passage):
    notes = [passage(f"palace/{n}.md", [0.9 - 0.1 * n]) for n in range(8)]
    anchored = Profile("anchored", {"semantic": 0.01, "anchoring": 1.0})
    found = search(asked("x"), build(notes), profile=anchored, limit=8)
    values = [h.contributions[1].value for h in found.hits]
    assert values == [1.0, 0.75, 0.5625, 0.421875, 0.316406, 0, 0, 0]


def test_ties_are_anchored_in_the_order_of_paths(build, passage):
    notes = [passage(f"palace/{n}.md", [0.5]) for n in range(7)]
    anchored = Profile("anchored", {"anchoring": 1.0})
    found = search(asked("x"), build(notes), profile=anchored, limit=8)
    assert paths(found) == ["0", "1", "2", "3", "4"]


def test_a_question_for_many_has_passages_of_many_notes(build, passage):
    high, low = ([near] * 3 for near in (0.9, 0.85))
    notes = [passage(f"palace/{name}.md", near) for name, near in (("a", high), ("b", low))]
    snapshot, profile = build(notes), Profile("near", {"semantic": 5.0})
    for text, order in (("which pumps", "ababab"), ("which pump", "aaabbb")):
        found = search(asked(text), snapshot, profile=profile, per_note=False, limit=6)
        assert "".join(paths(found)) == order
        assert [h.score for h in found.hits] == sorted([h.score for h in found.hits], reverse=True)
        assert all(
            h.score == round(sum(p.contribution for p in h.contributions), 6) for h in found.hits
        )
