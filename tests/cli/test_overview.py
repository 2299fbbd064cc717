from __future__ import annotations

import pytest

from memory_palace.cli.app import main
from memory_palace.embedding import minilm
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.embedding.registry import PinnedModel


@pytest.fixture
def alone(tmp_path, monkeypatch, capsys):
    """Run `palace` alone in a folder; no embedding model is on this machine."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PALACE_CACHE", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("PALACE_ROOT", raising=False)
    (tmp_path / "notes").mkdir()
    monkeypatch.chdir(tmp_path / "notes")

    def run(*arguments):
        try:
            main(arguments)
        except SystemExit as error:
            assert not error.code, capsys.readouterr().err
        return capsys.readouterr().out

    return run


def test_outside_of_all_palaces_it_shows_its_help(alone):
    assert "Usage: palace" in alone() and "init" in alone()


def test_each_state_says_what_to_do_next(alone, tmp_path, capsys):
    alone("init", ".")
    with pytest.raises(AssertionError, match="run `palace index`"):
        alone()
    alone("index", "-q", "--embedder", "none")
    assert "palace new" in alone()  # nothing to ask about yet
    note = tmp_path / "notes" / "palace" / "chambers" / "frost.md"
    note.write_text("# Frost\n\nThe gauge drifts in frost.\n")
    stale = alone()
    assert "1 note behind" in stale and "  palace index " in stale
    alone("index", "-q")
    words = alone()
    assert "up to date" in words and "1, in 1 passage\n" in words and "words only" in words
    alone("index", "-q", "--force", "--embedder", "hashing")
    well = alone()
    assert "model      hashing" in well and "models fetch" not in well
    assert "palace index" not in well


def test_it_says_when_a_model_is_missing_and_when_it_has_come(alone, tmp_path, monkeypatch):
    is_here = []

    class Quick(HashingEmbedder):
        name = "minilm"
        fingerprint = "minilm:quick"

    monkeypatch.setattr(PinnedModel, "is_present", lambda model, cache: model.name in is_here)
    monkeypatch.setattr(minilm, "load", lambda model, environ: Quick())
    (tmp_path / "notes" / "frost.md").write_text("# Frost\n\nThe gauge drifts in frost.\n")
    alone("init", "--here")
    alone("index", "-q")
    assert "words only" in alone() and "palace models fetch" in alone()
    is_here.append("minilm")
    assert "palace index" in alone() and "minilm is here now" in alone()
    alone("index", "-q")
    assert "model      minilm" in alone() and "palace index" not in alone()


def test_a_palace_that_is_asked_for_and_not_there_is_an_error(alone, capsys):
    with pytest.raises(AssertionError, match="neither a folder"):
        alone("-C", "nowhere")
