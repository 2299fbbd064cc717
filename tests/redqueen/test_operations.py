from datetime import UTC, datetime, timedelta

import pytest
from copying_palaces import copy_sample
from running import commit_all
from writing_notes import read_state

from memory_palace.changes.changing import read_notes, undo_change
from memory_palace.errors import UsageError
from memory_palace.features.redqueen import rounds
from memory_palace.features.redqueen.rounds import find_resting, load_memories, run
from memory_palace.features.redqueen.session import RoundProposal, SentenceRoles, Strategy
from memory_palace.palace import Palace


class Namer(SentenceRoles):
    """Proposes a name for every weak memory: here it matters what becomes of it."""

    async def strengthen(self, weak, memories, strategy):
        return [RoundProposal("alias", path, f"other {path[-9:-3]}", reason="x") for path in weak]


@pytest.fixture
def sample(tmp_path):
    return copy_sample(tmp_path, embedder="hashing")


def play(palace, *, apply=True, **more):
    options = {"strategy": Strategy.RANDOM, "question_count": 12, "seed": 1, **more}
    return run(palace, roles=Namer(), apply=apply, **options)


def test_a_dry_round_writes_nothing_an_applied_one_what_was_shown_and_undo_gives_every_byte_back(
    sample,
):
    files = {p: p.read_bytes() for p in sample.paths.root.rglob("*") if p.is_file()}
    before = read_state(sample.paths)
    shown = play(sample, apply=False)
    assert shown.change.diff and not shown.change.identity
    assert {p: p.read_bytes() for p in sample.paths.root.rglob("*") if p.is_file()} == files
    done = play(sample)
    assert done.change.diff == shown.change.diff
    assert len(done.change.paths) == 3
    changed = {p for p, data in read_state(sample.paths).items() if before[p] != data}
    assert changed == set(done.change.paths)
    undo_change(sample, apply=True)
    assert read_state(sample.paths) == before
    assert find_resting(sample, now=datetime.now(UTC)) == set()


def test_a_memory_is_not_evolved_twice_within_a_day_and_may_be_after(sample):
    first = play(sample, limit=None)
    again = play(sample, limit=None)
    assert first.change.paths and not again.change.paths
    assert again.resting == tuple(sorted(first.change.paths))
    now = datetime.now(UTC)
    assert find_resting(sample, now=now) >= set(first.change.paths)
    assert find_resting(sample, now=now + timedelta(hours=24, seconds=1)) == set()


def test_cold_pinned_and_private_notes_are_never_examined(sample):
    secret = sample.paths.notes / "chambers" / "secret.md"
    secret.write_text("---\nprivate: true\n---\n# Secret\n\nThe key lies below the third stone.\n")
    memories = load_memories(sample, read_notes(sample), now=datetime.now(UTC))
    assert not any("archive_basement" in path for path in memories)
    assert "palace/grand_hall/constitution.md" not in memories
    assert "palace/chambers/secret.md" not in memories
    assert "palace/chambers/01_wren/wren.md" in memories


def test_an_edit_made_during_the_round_is_kept(sample, monkeypatch):
    done = play(sample, apply=False)
    path = sample.paths.root / done.change.paths[0]
    real = rounds.change_notes

    def edit_first(palace, plan, **more):
        path.write_text(path.read_text("utf-8") + "\nWritten meanwhile.\n", "utf-8")
        return real(palace, plan, **more)

    monkeypatch.setattr(rounds, "change_notes", edit_first)
    play(sample)
    after = path.read_text("utf-8")
    assert "Written meanwhile." in after
    assert "aliases: " in after


def test_a_palace_without_prose_says_so(tmp_path):
    with pytest.raises(UsageError, match="no note has prose"):
        play(Palace.init(tmp_path))


def test_a_note_with_edits_that_git_does_not_know_is_passed_over_and_named(sample):
    root = sample.paths.root
    commit_all(root)
    first = play(sample, apply=False).change.paths[0]
    (root / first).write_text((root / first).read_text("utf-8") + "\nMine.\n", "utf-8")
    done = play(sample)
    assert done.uncommitted == (first,)
    assert done.change.paths and first not in done.change.paths
    assert (root / first).read_text("utf-8").endswith("Mine.\n")


def test_paths_alone_are_those_of_the_query_and_no_note_is_read_for_them(sample, monkeypatch):
    sample.index(embedder="hashing")
    texts = ["when to rotate keys", '"red queen" rounds', "#decision latency", "cache"]
    hits = [sample.query(text, limit=4, neighbors=0).hits for text in texts]
    monkeypatch.delattr("memory_palace.retrieval.search.choose_texts")
    sample.check_freshness = None
    assert sample.rank_paths(texts, limit=4) == [tuple(h.path for h in found) for found in hits]
    assert all(hits)
