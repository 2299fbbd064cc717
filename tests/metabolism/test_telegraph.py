"""What a telegraph keeps of cards as people write them, and that nothing is made up for a gap."""

import json
import re
from datetime import date
from pathlib import Path
from unicodedata import normalize

import pytest

from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.metabolism.cycle import distill
from memory_palace.features.metabolism.distill import MOST_TOKENS, distill_card, part_of
from memory_palace.notes.document import parse_document
from memory_palace.palace import Palace

PEOPLE = Path(__file__).parents[1] / "people"
CARDS = sorted(p for p in PEOPLE.glob("cards_*/*.md") if p.stem != "README")
TODAY = date(2026, 11, 21)


@pytest.fixture
def read(notes):
    """Return a function that gives the telegraph of a body, ``None`` where it has no part."""

    def telegraph(body):
        path = "dispatch_corridor/completed/2026-10-01_c.md"
        notes[path] = f"---\nstatus: completed\n---\n{body}"
        try:
            return distill_card(notes.ledger().cards[f"palace/{path}"])
        except CheckFailedError:
            return None

    return telegraph


def squeeze(text):
    return re.sub(r"[\s|*_>`-]+", "", normalize("NFKC", text)).casefold()


@pytest.mark.parametrize("path", CARDS, ids=lambda path: path.stem)
def test_a_telegraph_of_any_hand_says_nothing_else_and_puts_no_failure_under_the_solution(
    path, read
):
    body = parse_document("x.md", path.read_bytes()).body
    found = read(body)
    if found is None:  # a letter, a log: nothing in it says what belongs where
        return
    for text in (*found.parts.values(), *found.left_out):
        for sentence in re.split(r"(?<=[.!?。])\s|\n", text):
            assert squeeze(sentence) in squeeze(body)
    assert 0 < found.tokens <= MOST_TOKENS
    gold = path.with_name(f"{path.stem}.gold.json")
    if "dev" in path.parent.name:
        solution = squeeze(found.parts.get("Working solution", ""))
        failed = json.loads(gold.read_text("utf-8"))["failed_attempts"]
        assert not any(squeeze(text) in solution for text in failed)


@pytest.mark.parametrize(
    ("label", "part"),
    [
        ("Lesson", "principle"), ("Lehre", "principle"), ("Leçon", "principle"),
        ("Lección", "principle"), ("教訓", "principle"), ("Урок", "principle"),
        ("교훈", "principle"), ("Lezione", "principle"), ("Lição", "principle"),
        ("Ursache", "background"), ("Lösung", "solution"), ("Tried", "failed"),
        ("Versucht", "failed"), ("2. **What did not work**", "failed"), ("解決", "solution"),
        ("Root cause (Tuesday)", "background"), ("O que resolveu?", "solution"),
        ("Les faits", None), ("Fixtures", None),
        ("Acceptance Checks", "left_out"),
    ],
)  # fmt: skip
def test_a_heading_in_any_of_eleven_languages_says_the_part(label, part):
    assert part_of(label) == part


@pytest.mark.parametrize(
    "body",
    [
        "- Problem: lamp flickers\n- Fix: tightened the wire\n- Lesson: look there\n",
        "**Problem.** lamp flickers\n\n**Fix.** tightened the wire\n\n**Lesson.** look there\n",
        "Problem\n---\nlamp flickers\n\nFix:\n- tightened the wire\n\nLesson\n===\nlook there\n",
        "## Problem\n\n### Monday\n\nlamp flickers\n\n## Fix\n\n### Tuesday\n\ntightened the wire"
        "\n\n## Lesson\n\nlook there\n",
    ],
)
def test_labels_are_read_in_whatever_form_they_stand(body, read):
    parts = {name: text.removeprefix("- ") for name, text in read(f"# T\n\n{body}").parts.items()}
    assert parts == {
        "Background": "lamp flickers",
        "Working solution": "tightened the wire",
        "Principle": "look there",
    }


def test_what_no_heading_names_is_left_out_and_listed(read):
    body = "Dear all,\n\n## Problem\n\nIt rained in.\n\n- [x] told Jo\n\n## Notes\n\nBring tea.\n"
    found = read(f"# Roof\n\n{body}\n## Next steps\n\n- [ ] paint\n")
    assert found.parts == {"Background": "It rained in."}
    assert found.left_out == ("Dear all,", "- [x] told Jo", "Bring tea.")
    assert found.missing == ["Failed attempts", "Working solution", "Principle"]
    assert read("# Roof\n\nIt rained in. We mended it.\n") is None


def test_code_and_tables_below_a_heading_are_kept_as_they_are(read):
    code, table = "```sh\nrm -r x\n\nls\n```", "| a | b |\n|---|---|\n| 1 | 2 |"
    found = read(f"## Fix\n\nDo this:\n{code}\n\n{table}\n")
    assert found.parts == {"Working solution": f"Do this:\n\n{code}\n\n{table}"}


@pytest.mark.parametrize("size", [1, 8, 60])
def test_a_telegraph_never_grows_past_its_bound_and_keeps_each_part(read, size):
    long = " ".join(f"Row {i} of valve {i * 7} froze in night {i * 3}." for i in range(size))
    found = read(f"## Problem\n\n{long}\n\n## Result\n\n{long}\n\n## Lesson\n\nWarm it.\n")
    assert found.tokens <= MOST_TOKENS and found.parts["Principle"] == "Warm it."
    assert len(found.parts) == 3 and bool(found.left_out) == (size == 60)
    kept = sum(text.count("froze") for text in (*found.parts.values(), *found.left_out))
    assert kept == 2 * size


def test_an_empty_or_open_card_is_not_distilled_and_a_gap_is_named(tmp_path):
    palace = Palace.init(tmp_path)
    for state, slug, text in (
        ("completed", "short", "Problem: The tent leaked at the ridge.\n\nFix: Two coats."),
        ("completed", "empty", "- [x] done\n"),
        ("active", "open", "Problem: The tent leaked."),
    ):
        file = palace.paths.notes / f"dispatch_corridor/{state}/2026-11-01_{slug}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\nstatus: {state}\nproject: camp\n---\n# Tent\n\n{text}\n")
    outcome = distill(palace, "short", apply=True, today=TODAY)
    text = (tmp_path / outcome.paths[0]).read_text()
    assert "## Background\n\nThe tent leaked at the ridge.\n" in text
    assert "## Failed" not in text and "## Principle" not in text
    assert "nothing found for Principle" in outcome.evidence
    with pytest.raises(CheckFailedError, match="below a heading or label"):
        distill(palace, "empty", apply=True)
    with pytest.raises(UsageError, match="only completed"):
        distill(palace, "open", apply=True)
