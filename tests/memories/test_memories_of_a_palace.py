"""Memories are written, found, scored and reviewed over real files."""

from datetime import UTC, date, datetime

import pytest

from memory_palace.changes.changing import read_notes, undo_change
from memory_palace.errors import UsageError
from memory_palace.features.memories.form import LOG, Factor, Mark, Memory
from memory_palace.features.memories.hierarchy import HierarchicalIndex
from memory_palace.features.memories.memories import (
    lint_memories,
    list_memories,
    new_memory,
    plan_reviews,
    record_review,
    score_memory,
    show_memory,
)
from memory_palace.features.redqueen.rounds import load_memories
from memory_palace.palace import Palace

TODAY = date(2026, 3, 1)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
COMMIT = Memory(
    "", "Two-phase commit", "You kick a red gong.", "One no aborts all of it.",
    "twins refusing soup", anchors=("2pc",), locus="gong",
)  # fmt: skip


@pytest.fixture
def palace(tmp_path):
    made = Palace.init(tmp_path)
    write(made, COMMIT)
    return made


def write(palace, memory, *, room="chambers/protocols", **where):
    parts = {"image": memory.image, "content": memory.content, "locus": memory.locus}
    parts |= {"tokens": memory.verify_tokens, "anchors": memory.anchors}
    return new_memory(palace, memory.subject, **parts, room=room, today=TODAY, **where)


def test_a_new_memory_is_written_at_once_and_undo_takes_it_back(tmp_path):
    made = Palace.init(tmp_path)
    path = tmp_path / "palace/chambers/protocols/Two-phase commit.md"
    assert "+## Image" in write(made, COMMIT).diff and path.exists()
    assert show_memory(made, "2pc").verify_token == "twins refusing soup"
    undo_change(made, apply=True)
    assert not path.exists()


def test_the_score_sheet_of_a_memory_is_no_text_of_it(palace):
    score_memory(palace, "2pc", [Mark(Factor.MOVEMENT, True, "a kick")], apply=True)
    palace.index(embedder="none")
    (hit,) = palace.query("gong movement smashin score kick", neighbors=0).hits
    assert "red gong" in hit.text and "Movement" not in hit.text and "SMASHIN" not in hit.text
    assert palace.query('"Movement: a kick"', neighbors=0).unmatched_quotes


def test_a_memory_is_not_written_over_another(palace):
    with pytest.raises(UsageError, match="exist"):
        write(palace, COMMIT)


def test_a_taken_token_is_named_when_it_is_written(palace):
    written = write(palace, Memory("", "Saga", "A.", "B.", "twins refusing soup"))
    assert any("also the token of" in str(flaw) for flaw in written.flaws)


def test_memories_are_listed_by_domain(palace):
    write(palace, Memory("", "Atrium", "A.", "B."))
    assert len(list_memories(palace, domain="protocols")) == 2
    with pytest.raises(UsageError, match="no domain"):
        list_memories(palace, domain="cellar")


def test_other_notes_are_no_memories(palace):
    (palace.paths.root / "palace/chambers/log.md").write_text("# Log\n\nIt rained.\n")
    assert len(list_memories(palace)) == 1
    with pytest.raises(UsageError, match="not a memory"):
        show_memory(palace, "log")


def test_a_mark_is_written_with_its_reason_and_every_other_line_stays(palace):
    path = palace.paths.root / show_memory(palace, "2pc").id
    before = path.read_text()
    given = [Mark(Factor.HUMOR, True, "slippers", "ilse")]
    scored = score_memory(palace, "2pc", given, apply=True)
    after = path.read_text()
    assert "- [x] Humor: slippers (by ilse)\n" in after
    assert after.replace("- [x] Humor: slippers (by ilse)\n", "") == before.replace(
        "SMASHIN 2/12", f"SMASHIN {scored.score}/12"
    )
    assert not score_memory(palace, "2pc", [], apply=True).change.diff
    assert not [flaw for flaw in lint_memories(palace) if flaw.is_error]


def test_a_review_is_one_line_and_changes_no_note(palace):
    note = palace.paths.root / show_memory(palace, "2pc").id
    before = note.read_bytes()
    assert plan_reviews(palace, today=TODAY)[0][1].due == date(2026, 3, 2)
    standing = record_review(palace, "2pc", is_recalled=True, confidence=0.9, now=NOW)
    assert (standing.due, standing.streak) == (date(2026, 3, 3), 1)
    assert note.read_bytes() == before
    assert show_memory(palace, "2pc").confidence == list_memories(palace)[0].confidence == 0.9
    assert HierarchicalIndex(palace.paths.root).memories[0].confidence == 0.9
    examined = load_memories(palace, read_notes(palace), now=NOW)
    assert [memory.confidence for memory in examined.values() if memory.smashin] == [0.9]
    assert len((palace.paths.logs / LOG).read_text().splitlines()) == 1


def test_d14_a_response_is_verified_by_words_and_a_told_token_is_no_proof(palace):
    pytest.importorskip("memory_palace.features.checking")
    for passes in (True, False):
        done = palace.memories.verify("One no aborts all. Twins refusing soup.", ["2pc"])
        assert done.token_verdict == "held" and done.passes_strictly is passes
        assert not done.by_meaning
        (palace.paths.root / "palace/chambers/leak.md").write_text("Twins refusing soup.\n")


def test_d12_a_memory_is_changed_under_the_writer_s_lock(palace, monkeypatch):
    held = []
    writing = Palace.writing

    def watch(self, **options):
        held.append(options)
        return writing(self, **options)

    monkeypatch.setattr(Palace, "writing", watch)
    score_memory(palace, "2pc", [Mark(Factor.ABSURD, True)], apply=True)
    record_review(palace, "2pc", is_recalled=False, confidence=None, now=NOW)
    assert len(held) == 2
