"""Two hops: every keyword has a vote, nothing is silently empty, and bytes are bytes."""

import random
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import NotAPalaceError
from memory_palace.features.memories.form import Memory
from memory_palace.features.memories.hierarchy import ROOT_CHARACTERS, HierarchicalIndex, render
from memory_palace.palace import Palace

SYLLABLES = "ba ko li mu ren sa tor vi".split()


def memory(path, subject, content="Text.", **fields):
    return Memory(path, subject, "", content, **fields)


def make_memories(count):
    """Return memories of invented words in six domains, the same ones each time."""
    rng = random.Random(7)
    words = list(map("".join, product(SYLLABLES, repeat=3)))

    def draw(domain, size):
        return " ".join(rng.choices(words[80 * domain :][:120], k=size))

    return [
        memory(f"palace/domain {at % 6}/memory {at}.md", draw(at % 6, 3), draw(at % 6, 60))
        for at in range(count)
    ]


MEMORIES = make_memories(300)
INDEX = HierarchicalIndex.of(MEMORIES)
ASKED = [" ".join(kept.content.split()[:4]) for kept in MEMORIES[:10]]


def test_the_document_s_class_reads_a_palace_and_counts_what_it_read(tmp_path):
    palace = Palace.init(tmp_path)
    folder = palace.paths.root / "palace/chambers/rain"
    folder.mkdir(parents=True)
    note = "---\ntype: memory\n---\n# Gauge\n\n## Image\n\nÄ\n\n## Content\n\nIt tips.\n"
    (folder / "gauge.md").write_text(note, "utf-8")
    index = HierarchicalIndex(str(tmp_path))
    memories, size = index.retrieve("gauge", k=3)
    assert [found.subject for found in memories] == ["Gauge"]
    read = index.root_text + index.domain_text("chambers/rain") + render(memories[0])
    assert size == len(read.encode()) > len(read)
    below = HierarchicalIndex(str(tmp_path / "palace"))  # FINDINGS D: silently empty
    assert below.retrieve("gauge", k=3) == (memories, size)


def test_a_folder_that_is_no_palace_is_named(tmp_path):
    with pytest.raises(NotAPalaceError, match="no palace in"):
        HierarchicalIndex(tmp_path)


def test_an_empty_palace_finds_nothing_and_fails_nowhere():
    memories, size = HierarchicalIndex.of([]).retrieve("anything")
    assert memories == [] and size == len("\n")


def test_d6_the_order_of_keywords_changes_nothing():
    words = ASKED[0].split()
    found = {tuple(m.id for m in INDEX.retrieve(" ".join(p))[0]) for p in permutations(words)}
    assert len(found) == 1


def test_d7_a_question_that_fits_no_domain_is_asked_everywhere():
    found = INDEX.look_up("zzz qqq")
    assert not found.is_sure and len(found.domains) == len(INDEX.domains)
    assert len(found.memories) == 3


def test_d8_ties_go_by_subject_then_file_whatever_the_order_given():
    twins = [memory(f"palace/{d}/{n}.md", "Twin") for d in "ba" for n in "zy"]
    for order in permutations(twins):
        found, _ = HierarchicalIndex.of(order).retrieve("twin", k=4)
        assert [m.id for m in found] == sorted(m.id for m in twins)


def test_d10_d11_bytes_are_utf8_and_hold_root_domains_and_memories():
    found = INDEX.look_up(ASKED[0])
    parts = [INDEX.root_text, *map(INDEX.domain_text, found.domains)]
    assert found.index_bytes == sum(len(part.encode()) for part in parts)
    assert found.bytes == found.index_bytes + sum(len(render(m).encode()) for m in found.loaded)


def test_d14_no_index_holds_a_token():
    kept = Memory("palace/a/x.md", "Owl", "Wings [Verify: velvet anchor choir]", "Night.")
    index = HierarchicalIndex.of([kept])
    assert "velvet" not in index.root_text + index.domain_text("a")
    assert not index.look_up("velvet anchor choir").is_sure


@pytest.mark.parametrize("count", [1, 40, 2_000])
def test_the_root_is_bounded_however_many_domains_there_are(count):
    index = HierarchicalIndex.of(
        [memory(f"palace/domain number {n:04d}/m.md", f"Subject {n}") for n in range(count)]
    )
    assert len(index.root_text) <= ROOT_CHARACTERS
    assert "domain number 0000" in index.root_text
    assert ("more domains" in index.root_text) is (count >= 40)


@given(st.text(max_size=60), st.integers(0, 4_000), st.integers(1, 9))
def test_a_budget_is_never_exceeded(question, budget, k):
    found = INDEX.look_up(question, k, budget_bytes=budget)
    assert found.bytes <= budget and len(found.memories) <= k
    assert len(found.domains) <= k or not found.is_sure


def test_what_is_counted_is_what_is_shown():
    kept = memory("palace/a/x.md", "Owl \x1b[31m", "Night \u202e falls.")
    found = HierarchicalIndex.of([kept]).look_up("owl")
    assert "\x1b" not in found.text and "\u202e" not in found.text
    assert found.bytes == len(found.text.encode())


def test_vectors_take_part_in_both_hops():
    index = HierarchicalIndex.of(MEMORIES, embedder=HashingEmbedder())
    assert MEMORIES[3].id in {m.id for m in index.look_up(ASKED[3], 5).loaded}
