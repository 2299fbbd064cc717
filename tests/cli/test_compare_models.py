"""Models are compared on somebody's own notes, by questions that the notes themselves pose."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from memory_palace.cli.commands import app
from memory_palace.embedding import e5, minilm
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import UsageError
from memory_palace.features.upkeep.model_choice import WORDS, compare_models, draw_sample
from memory_palace.models import Matrix
from memory_palace.palace import Palace

BIRDS = "heron otter vole stoat bittern plover curlew dunlin knot wigeon teal pochard".split()


class Deaf(HashingEmbedder):
    """Gives every text the same vector, and counts those that it is given."""

    name = "e5"
    fingerprint = "deaf"
    given = 0

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        type(self).given += len(texts)
        return np.full((len(texts), self.dimension), self.dimension**-0.5, np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self.embed_passages(texts)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """Twelve notes, each about an animal that its title and its text name."""
    deaf, quick = Deaf(), type("Quick", (HashingEmbedder,), {"name": "minilm"})
    monkeypatch.setattr(Deaf, "given", 0)
    monkeypatch.setattr(e5, "load", lambda model, environ: deaf)
    monkeypatch.setattr(minilm, "load", lambda model, environ: quick())
    for name in BIRDS:
        text = f"# The {name}\n\nA {name} was seen at the weir; one {name} stayed until dusk.\n"
        (tmp_path / f"{name}.md").write_text(text)
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="none")
    return palace


def test_no_passage_shows_the_title_of_its_note(notes: Palace):
    sample = draw_sample(notes, most=40)
    assert [question.text for question in sample.questions] == [f"The {n}" for n in sorted(BIRDS)]
    for text, owner in zip(sample.texts, sample.owners.tolist(), strict=True):
        name = sample.paths[owner].removesuffix(".md")
        assert text == f"A {name} was seen at the weir; one {name} stayed until dusk."


def test_the_words_around_a_link_ask_for_its_note_and_not_for_their_own(notes: Palace):
    path = notes.paths.root / "vole.md"
    path.write_text(
        "# The vole\n\nWhat dives below the bridge at night is the [[otter|sleek one]].\n"
    )
    notes.index()
    sample = draw_sample(notes, most=40)
    (asked,) = [question for question in sample.questions if question.kind == "link"]
    assert asked.text == "What dives below the bridge at night is the ."
    assert sample.paths[asked.note] == "otter.md"
    assert asked.source is not None and sample.paths[asked.source] == "vole.md"


def test_the_model_that_finds_more_is_named_and_the_difference_is_no_chance(notes: Palace):
    found = compare_models(notes, ["e5", "minilm"], clock=lambda: 0.0)
    assert (found.best, found.next, found.better) == ("minilm", "e5", "minilm")
    by_name = {score.name: score for score in found.models}
    assert by_name["minilm"].any_at_1 == by_name[WORDS].any_at_1 == 1.0
    assert by_name["e5"].mrr == round(1 / 6.5, 4)


def test_models_that_find_the_same_differ_by_chance_alone(notes: Palace):
    found = compare_models(notes, ["minilm", "hashing"], clock=lambda: 0.0)
    assert found.better is None and (found.difference, found.low, found.high) == (0.0, 0.0, 0.0)


def test_no_more_passages_are_embedded_than_was_said(notes: Palace):
    sample = draw_sample(notes, most=20)
    assert len(sample.texts) <= 20 and len(sample.paths) == 10
    compare_models(notes, ["e5"], most=20, clock=lambda: 0.0)
    questions, loading = len(sample.questions), 1
    assert Deaf.given == len(sample.texts) + questions + loading


def test_comparing_writes_nothing_into_the_palace(notes: Palace):
    files = sorted(path for path in notes.paths.root.rglob("*") if path.is_file())
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in files]
    compare_models(notes, ["minilm"], clock=lambda: 0.0)
    assert sorted(p for p in notes.paths.root.rglob("*") if p.is_file()) == files
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in files] == before


def test_private_notes_ask_nothing(notes: Palace):
    path = notes.paths.root / "otter.md"
    path.write_text("---\nprivate: true\n---\n" + path.read_text())
    notes.index()
    assert "otter.md" not in draw_sample(notes, most=40).paths


def test_a_note_that_has_gone_since_it_was_indexed_asks_nothing(notes: Palace):
    (notes.paths.root / "otter.md").unlink()
    questions = draw_sample(notes, most=40).questions
    assert "The otter" not in [question.text for question in questions]
    assert len(questions) == len(BIRDS) - 1


def test_too_few_notes_are_an_error_that_says_so(tmp_path: Path):
    (tmp_path / "a.md").write_text("# Alone\n\nThere is nothing else.\n")
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="none")
    with pytest.raises(UsageError, match="1 questions, of 10 at least"):
        compare_models(palace, ["hashing"])


def test_the_verb_shows_a_row_for_each_and_says_which_does_better(notes: Palace):
    root = str(notes.paths.root)
    command = ["models", "compare", root, "--model", "e5", "--model", "minilm"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "12 notes, 12 passages; asked for by 12 titles and 0 links"
    assert [line.split()[0] for line in lines[3:6]] == ["words", "minilm", "e5"]
    assert lines[-1].startswith("minilm does better here than e5 (MRR +0.85, 95 % +0.85 to")
    assert all(len(line) <= 80 for line in lines)
    record = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert (record["better"], record["titles"], record["links"]) == ("minilm", 12, 0)
