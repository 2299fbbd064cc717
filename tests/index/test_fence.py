"""A reader that fails on a text costs one fact: of a note in a build, or of a question."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from running import run_main

from memory_palace.errors import UsageError
from memory_palace.models import Problem
from memory_palace.notes.note import Fence, read_body
from memory_palace.palace import Palace

BROKEN = "zugzwang"
"""The word at which a reader is made to fail."""
TEXT = f"""---
tags: [play]
date: 2024-05-03
---
# Chess

A game on 3 May 2024 was good, see [[bread]].

The {BROKEN} of 4 May 2024 decided it.
"""
CHESS = "palace/chambers/chess.md"
READERS = {
    "memory_palace.language.times.find_times": ("dates", 9),
    "memory_palace.facts.find_speakers": ("speakers", 9),
    "memory_palace.facts.tell_tongue": ("language", 5),
    "memory_palace.facts._squeeze_headings": ("headings", 9),
    "memory_palace.facts.tokenize": ("words", 5),
    "memory_palace.features.structure.facts.find_quoted": ("structure", 5),
    "memory_palace.notes.parsing.links_of": ("links", None),
    "memory_palace.notes.parsing._tags": ("tags", None),
    "memory_palace.notes.parsing.find_claims": ("passages", None),
    "memory_palace.notes.chunking._runs": ("passages", None),
    "memory_palace.markdown.markup.read_blocks": ("Markdown", None),
    "memory_palace.notes.frontmatter.split_front_matter": ("front matter", 1),
    "memory_palace.language.visible.drop_markers": ("private and secret lines", None),
    "memory_palace.language.visible.find_secrets": ("private and secret lines", None),
}
"""Each with what the problem says that was read, and its line."""
CLOSING = {name for name, (what, _) in READERS.items() if what.startswith("private")}
OF_QUESTIONS = {
    "memory_palace.language.times.find_times": "times",
    "memory_palace.retrieval.times.find_times": "when:",
    "memory_palace.retrieval.quotes.find_quoted": "quotes",
    "memory_palace.features.structure.signals.split_words": "grammar",
    "memory_palace.features.structure.signals.find_names": "names",
    "memory_palace.features.structure.signals.find_phrases": "grammar",
    "memory_palace.features.structure.signals._relations": "relations",
}


@pytest.fixture
def palace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Palace:
    folder = tmp_path / "palace" / "chambers"
    folder.mkdir(parents=True)
    (folder / "chess.md").write_text(TEXT, "utf-8")
    (folder / "bread.md").write_text("# Bread\n\nThe oven of 5 May 2024 runs hot.\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "memory_palace.notes.note._tell", lambda problem: sys.stderr.write(f"palace: {problem}\n")
    )
    return Palace.init(tmp_path)


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what makes a reader fail on every text with the broken word."""

    def make(name: str) -> None:
        module, _, function = name.rpartition(".")
        whole = getattr(import_module(module), function)

        def read(*given: object, **named: object) -> object:
            if any(BROKEN in str(getattr(each, "text", each)) for each in given):
                raise AttributeError("'int' object has no attribute 'first'")
            return whole(*given, **named)

        monkeypatch.setattr(import_module(module), function, read)

    return make


@pytest.mark.parametrize("reader", READERS)
def test_a_build_loses_one_fact_and_names_reader_note_and_line(palace, spoil, reader, capsys):
    spoil(reader)
    status, out, err = run_main(capsys, "index", "--embedder", "hashing", "--structure")
    what, line = READERS[reader]
    where = CHESS if line is None else f"{CHESS}:{line}"
    assert status == 7
    assert f"{where}: the reader of {what} failed (AttributeError, test_fence.py:" in err
    assert "1 note not indexed in full" in err and "Traceback" not in err
    assert "added      2" in out
    snapshot = palace.snapshot()
    assert list(snapshot.paths) == ["palace/chambers/bread.md", CHESS]
    assert any(what in str(problem) for problem in palace.status().problems)
    found = palace.query(BROKEN, lexical=True).hits
    expected = [] if reader in CLOSING | {"memory_palace.facts.tokenize"} else [CHESS]
    assert [hit.path for hit in found if hit.path == CHESS] == expected
    assert [hit.path for hit in palace.query("oven", lexical=True).hits][:1] == [snapshot.paths[0]]


def test_only_the_line_on_which_a_reader_fails_loses_its_dates(palace, spoil):
    spoil("memory_palace.language.times.find_times")
    palace.index(embedder="hashing")
    paths = [hit.path for hit in palace.query("when:2024-05-03", lexical=True).hits]
    assert CHESS in paths
    assert palace.query("when:2024-05-04", lexical=True).hits == ()


def test_a_note_whose_secrets_cannot_be_told_is_closed(spoil):
    spoil("memory_palace.language.visible.find_secrets")
    body = read_body("a.md", TEXT.encode())
    assert body.is_private and body.text == "" and body.problems[0].is_failure


def test_a_build_over_a_defect_is_not_repeated_and_agrees_with_itself(palace, spoil, capsys):
    spoil("memory_palace.notes.chunking._runs")
    assert run_main(capsys, "index", "--embedder", "hashing")[0] == 7
    assert run_main(capsys, "index")[0] == 0 and run_main(capsys, "doctor")[0] == 0


@pytest.mark.parametrize("reader", OF_QUESTIONS)
def test_a_question_is_answered_without_what_a_reader_fails_on(palace, spoil, reader, capsys):
    palace.index(embedder="hashing", structure=True)
    spoil(reader)
    asked = f'Did Anna like the "{BROKEN}" of 4 May 2024 when:{BROKEN}-2024'
    status, out, err = run_main(capsys, "query", asked, "--profile", "structured")
    assert status == 0 and "Traceback" not in err
    assert f"palace: the question: the reader of {OF_QUESTIONS[reader]} failed" in err
    assert "chess.md" in out


@pytest.mark.parametrize(
    ("reader", "what"),
    [
        ("memory_palace.language.times.find_times", "times"),
        ("memory_palace.index.chance.tokenize", "what was said"),
        ("memory_palace.features.recall.recalling.NoteReader", "what to tell"),
    ],
)
def test_recall_says_what_it_can_without_what_a_reader_fails_on(
    palace, spoil, reader, what, capsys
):
    palace.index(embedder="hashing")
    spoil(reader)
    status, out, err = run_main(capsys, "recall", f"the {BROKEN} of 4 May 2024 in chess was good")
    assert status == 0 and "Traceback" not in err
    assert f"palace: the question: the reader of {what} failed" in err
    assert ("chess.md" in out) == (what == "times")


@pytest.mark.parametrize("error", [MemoryError, UsageError, FileNotFoundError, KeyboardInterrupt])
def test_what_a_person_can_mend_or_asked_for_passes_the_fence(error):
    def read() -> None:
        raise error

    with pytest.raises(error):
        Fence().read("times", read, None)


def test_a_text_on_which_a_reader_fails_only_as_a_whole_is_named_once():
    told: list[Problem] = []
    found = Fence("a.md", told.append).read_lines("digits", lambda text: [int(text)], "1\n2", 3)
    assert found == [1, 2] and [problem.line for problem in told] == [3]
