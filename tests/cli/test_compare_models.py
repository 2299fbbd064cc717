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
from memory_palace.features.upkeep import model_choice
from memory_palace.features.upkeep.model_choice import compare_models, draw_sample
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
    sample = draw_sample(notes)
    assert sample.titles == [f"The {n}" for n in sorted(BIRDS)]
    for text, owner in zip(sample.texts, sample.owners.tolist(), strict=True):
        name = sample.paths[owner].removesuffix(".md")
        assert text == f"A {name} was seen at the weir; one {name} stayed until dusk."


def test_the_model_that_finds_more_is_named_and_the_difference_is_no_chance(notes: Palace):
    found = compare_models(notes, ["e5", "minilm"], clock=lambda: 0.0)
    best, other = found.models
    assert (best.name, other.name, found.better) == ("minilm", "e5", "minilm")
    assert (best.any_at_1, other.mrr) == (1.0, round(1 / 6.5, 4))


def test_models_that_find_the_same_differ_by_chance_alone(notes: Palace):
    found = compare_models(notes, ["minilm", "hashing"], clock=lambda: 0.0)
    assert found.better is None and (found.difference, found.low, found.high) == (0.0, 0.0, 0.0)


def test_no_more_passages_are_embedded_than_was_said(notes: Palace, monkeypatch):
    monkeypatch.setattr(model_choice, "MOST_PASSAGES", 20)
    sample = draw_sample(notes)
    assert len(sample.texts) <= 20 and len(sample.paths) == 10
    compare_models(notes, ["e5"], clock=lambda: 0.0)
    questions, loading = len(sample.titles), 1
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
    assert "otter.md" not in draw_sample(notes).paths


def test_a_note_that_has_gone_since_it_was_indexed_asks_nothing(notes: Palace):
    (notes.paths.root / "otter.md").unlink()
    titles = draw_sample(notes).titles
    assert "The otter" not in titles and len(titles) == len(BIRDS) - 1


def test_too_few_notes_are_an_error_that_says_so(tmp_path: Path):
    (tmp_path / "a.md").write_text("# Alone\n\nThere is nothing else.\n")
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="none")
    with pytest.raises(
        UsageError, match="too few titles of their own to compare models by: 1, of 10"
    ):
        compare_models(palace, ["hashing"])


def test_the_verb_shows_a_row_for_each_and_says_which_does_better(notes: Palace):
    root = str(notes.paths.root)
    command = ["models", "compare", "-C", root, "--model", "e5", "--model", "minilm"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "12 notes, 12 passages; asked for by 12 titles"
    assert [line.split()[0] for line in lines[3:5]] == ["minilm", "e5"]
    assert lines[-1].startswith("minilm does better here than e5 (MRR +0.85, 95 % +0.85 to")
    assert all(len(line) <= 80 for line in lines)
    record = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert (record["better"], record["titles"]) == ("minilm", 12)
