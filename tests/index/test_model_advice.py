"""Which embedder a palace is told of by the languages of its notes, and which it takes up."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest
from running import run_well as palace

from memory_palace.embedding import bge_m3, e5, minilm
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.embedding.registry import PinnedModel
from memory_palace.errors import WrongEmbedderError
from memory_palace.palace import Palace

ADVICE = "not English, which minilm does not know and e5 does: "
GERMAN = "Die Pumpe ist nicht für den Winter gemacht, und das ist schlecht."
ENGLISH = "The pump is not made for the winter, and that is too bad."


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of the models that are here; each embeds as ``hashing`` does, under its own name."""
    found = {"minilm"}
    for module in (minilm, e5):
        name = module.__name__.rpartition(".")[2]
        fingerprint = f"{name}:quick"
        quick = type("Quick", (HashingEmbedder,), {"name": name, "fingerprint": fingerprint})
        monkeypatch.setattr(module, "load", lambda model, environ, quick=quick: quick())
    monkeypatch.setattr(PinnedModel, "is_present", lambda model, cache: model.name in found)
    return found


def fill(root: Path, texts: list[str]) -> Path:
    root.mkdir(exist_ok=True)
    Palace.init(root, here=True)
    for number, text in enumerate(texts):
        (root / f"{number}.md").write_text(f"{text} {number}\n")
    return root


def test_a_foreign_palace_is_told_of_e5_once(tmp_path, here):
    root = fill(tmp_path, [GERMAN] * 2 + [ENGLISH] * 18)
    said = palace("-C", root, "index")[1]
    assert f"10 % of the notes are {ADVICE}" in said
    assert "`palace models fetch e5 && palace index --force --embedder e5`" in said
    (root / "new.md").write_text(GERMAN)
    assert ADVICE not in palace("-C", root, "index")[1]
    assert ADVICE not in palace("-C", root, "index", "--force")[1]


def test_an_english_palace_is_told_of_nothing(tmp_path, here):
    root = fill(tmp_path, [GERMAN] + [ENGLISH] * 19)
    assert palace("-C", root, "index")[1] == ""
    record = json.loads(palace("-C", root, "status", "--json")[0])
    assert (record["not_english"], record["recommended_embedder"]) == (0.05, None)


def test_a_palace_that_becomes_foreign_is_told_by_its_status(tmp_path, here):
    root = fill(tmp_path, [ENGLISH] * 3)
    assert palace("-C", root, "index")[1] == ""
    (root / "new.md").write_text(GERMAN)
    assert palace("-C", root, "index")[1] == ""
    told = palace("-C", root, "status")[0]
    assert "25 % of 4 passages not English" in told


def test_what_is_typed_gives_the_palace_vectors_of_e5(tmp_path, here):
    root = fill(tmp_path, [GERMAN] * 3)
    palace("-C", root, "index", "--embedder", "minilm")
    here.add("e5")
    assert "palace index --force --embedder e5  find notes" in palace("-C", root, "status")[0]
    assert palace("-C", root, "index", "--force", "--embedder", "e5")[1] == ""
    assert "index --force" not in palace("-C", root, "status")[0]
    assert "100 % of 3 passages not English" in palace("-C", root, "status", "--details")[0]


@pytest.mark.parametrize(("text", "embedder"), [(GERMAN, "e5"), (ENGLISH, "minilm")])
def test_a_first_build_takes_the_model_that_serves_the_notes(tmp_path, here, text, embedder):
    here.add("e5")
    root = fill(tmp_path, [text] * 3)
    assert palace("-C", root, "index")[1] == ""
    assert Palace(root).snapshot().commit.embedder == embedder


def test_a_foreign_palace_without_a_model_waits_for_e5_and_takes_it_up(tmp_path, here):
    here.clear()
    root = fill(tmp_path, [GERMAN] * 3)
    assert "`palace models fetch e5` (91 MB)" in palace("-C", root, "index")[1]
    assert "`palace models fetch e5`" in palace("-C", root, "query", "Pumpe")[1]
    here.add("e5")
    assert "e5 is here now: 3 passages get vectors" in palace("-C", root, "index")[1]
    assert Palace(root).snapshot().commit.embedder == "e5"


@pytest.mark.parametrize("other", ["minilm", "e5"])
def test_a_palace_that_waits_takes_whichever_model_has_come(tmp_path, here, other):
    here.clear()
    root = fill(tmp_path, [ENGLISH, ENGLISH, ENGLISH if other == "e5" else GERMAN])
    palace("-C", root, "index")
    here.add(other)
    assert f"{other} is here now: 3 passages get vectors" in palace("-C", root, "index")[1]
    assert Palace(root).snapshot().commit.embedder == other


def test_a_mostly_foreign_palace_with_minilm_alone_stays_with_words_until_e5_comes(tmp_path, here):
    root = fill(tmp_path, [GERMAN] * 3 + [ENGLISH] * 2)
    for _ in range(2):  # the second build judges by what the first one counted
        said = palace("-C", root, "index")[1]
        assert "most notes are not English, which minilm alone reads: words alone answer" in said
        assert "`palace models fetch e5` (91 MB), then `palace index`" in said
        assert Palace(root).snapshot().commit.embedder == "none"
    here.add("e5")
    assert "e5 is here now: 5 passages get vectors" in palace("-C", root, "index")[1]


def test_minilm_for_foreign_notes_is_obeyed_where_it_is_asked_for(tmp_path, here):
    root = fill(tmp_path, [GERMAN] * 3)
    palace("-C", root, "index", "--embedder", "minilm")
    palace("-C", root, "index")
    assert Palace(root).snapshot().commit.embedder == "minilm"


@pytest.mark.parametrize("embedder", ["minilm", "e5"])
def test_a_question_that_the_model_cannot_read_is_answered_by_words_and_says_so(
    tmp_path, here, embedder
):
    here.add(embedder)
    root = fill(tmp_path, [ENGLISH] * 3)
    palace("-C", root, "index", "--embedder", embedder)
    for text in (
        "Wie wird die Pumpe für den Winter gemacht?",
        "Pourquoi la pompe n'est pas faite pour l'hiver ?",
        "冬のポンプはどこにありますか",
    ):
        printed, said = palace("-C", root, "query", text, "--json")
        is_unread = embedder == "minilm"
        assert json.loads(printed).get("unread_by") == ("minilm" if is_unread else None)
        assert (json.loads(printed).get("mode") == "lexical") == is_unread
        assert (
            "minilm reads English alone; `palace models fetch e5 && palace" in said
        ) == is_unread
    printed, said = palace("-C", root, "query", "is the pump of José Núñez in São Paulo?", "--json")
    assert "mode" not in json.loads(printed) and "reads English alone" not in said


@pytest.mark.parametrize("chosen", ["none", "hashing", "e5"])
def test_who_chose_another_embedder_is_told_of_nothing(tmp_path, here, chosen):
    here.add("e5")
    root = fill(tmp_path, [GERMAN] * 3)
    assert palace("-C", root, "index", "--embedder", chosen)[1] == ""
    assert json.loads(palace("-C", root, "status", "--json")[0])["recommended_embedder"] is None


def test_settings_that_name_minilm_are_to_be_changed_first(tmp_path, here):
    root = fill(tmp_path, [GERMAN] * 3)
    (root / ".palace" / "palace.yaml").write_text("embedder: minilm\n")
    said = palace("-C", root, "index")[1]
    assert "e5 does: set `embedder: e5` in the settings, then `palace models fetch e5 && " in said
    assert "palace index --force`\n" in said


def test_the_share_is_counted_anew_when_notes_go(tmp_path, here):
    root = fill(tmp_path, [GERMAN] * 1 + [ENGLISH] * 3)
    record = json.loads(palace("-C", root, "index", "--json")[0])
    assert (record["not_english"], record["recommended_embedder"]) == (0.25, "e5")
    (root / "0.md").unlink()
    record = json.loads(palace("-C", root, "index", "--json")[0])
    assert (record["not_english"], record["recommended_embedder"]) == (0.0, None)


def test_fetch_without_a_name_brings_what_serves_the_notes(tmp_path, here, monkeypatch):
    here.clear()
    fetched: list[str] = []
    monkeypatch.setattr(
        "memory_palace.features.upkeep.models._fetch",
        lambda model: fetched.append(model.name) or tmp_path,
    )
    german, english = fill(tmp_path / "de", [GERMAN] * 3), fill(tmp_path / "en", [ENGLISH] * 3)
    said = palace("-C", german, "models", "fetch")[1]
    assert said.startswith("e5, because 100 % of the notes here are not English\n")
    assert palace("-C", english, "models", "fetch")[1].startswith("minilm, because 0 %")
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.md").write_text(GERMAN)
    monkeypatch.chdir(plain)
    monkeypatch.delenv("PALACE_ROOT", raising=False)
    palace("models", "fetch")
    assert fetched == ["e5", "minilm", "e5"]


@pytest.mark.parametrize("is_ready", [True, False])
def test_the_script_for_bge_m3_builds_with_it_where_it_is_ready(
    tmp_path, here, monkeypatch, capsys, is_ready
):
    quick = type("Quick", (HashingEmbedder,), {"name": "bge-m3", "fingerprint": "bge-m3:quick"})
    monkeypatch.setattr(bge_m3, "load", lambda model, environ: quick())
    monkeypatch.setattr(bge_m3, "is_available", lambda environ: is_ready)
    script = Path(__file__).parents[2] / "scripts/build_index_bge.py"
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(fill(tmp_path, [ENGLISH] * 3))
    monkeypatch.delenv("PALACE_ROOT", raising=False)
    runpy.run_path(str(script), run_name="__main__")
    model = "bge-m3" if is_ready else "minilm"
    assert f"embedded   3 chunks with {model}" in capsys.readouterr().out


# --- A palace that was first indexed without a model, and a model that comes later ----


@pytest.fixture
def root(tmp_path: Path, here: set[str]) -> Path:
    """A palace of three notes, where no model is here yet."""
    here.clear()
    return fill(
        tmp_path, [f"The {name} sleeps by the weir." for name in ("heron", "otter", "vole")]
    )


def test_the_model_is_taken_up_by_the_next_build_and_that_is_said(root, here):
    shown, said = palace("-C", root, "index")
    assert "no model is here: words alone answer" in said
    assert "  embedded   none: words alone answer\n" in shown
    assert Palace(root).snapshot().commit.embedder == "none"
    assert "run `palace models fetch minilm`" in palace("-C", root, "query", "heron")[1]
    here.add("minilm")
    assert "minilm is here now; `palace index`" in palace("-C", root, "query", "heron")[1]
    assert "minilm is here now" in palace("-C", root, "status")[0]
    said = palace("-C", root, "index")[1]
    assert "minilm is here now: 3 passages get vectors;" in said
    assert Palace(root).snapshot().commit.embedder == "minilm"
    assert "minilm" not in palace("-C", root, "index")[1]
    assert Palace(root).query("heron").mode == "vector"
    assert Palace(root).doctor().findings == ()


@pytest.mark.parametrize("first", [["--embedder", "none"], ["--embedder", "hashing"]])
def test_an_embedder_that_was_asked_for_is_never_changed(root, here, first):
    assert "no model" not in palace("-C", root, "index", *first)[1]
    here.add("minilm")
    assert "minilm" not in palace("-C", root, "index")[1]
    assert palace("-C", root, "index", "--force")[1] == ""
    assert Palace(root).snapshot().commit.embedder == first[1]


@pytest.mark.parametrize("what", ["INDEX.json", "seg-*.npz"])
def test_a_damaged_index_is_mended_while_it_takes_up_the_model(root, here, what):
    palace("-C", root, "index")
    here.add("minilm")
    next(Palace(root).paths.index.glob(what)).write_bytes(b"torn")
    palace("-C", root, "index")
    assert (
        Palace(root).snapshot().commit.embedder == "minilm" and Palace(root).doctor().findings == ()
    )


def test_words_alone_can_be_chosen_when_the_model_has_come(root, here):
    palace("-C", root, "index")
    here.add("minilm")
    palace("-C", root, "index", "--embedder", "none")
    palace("-C", root, "index")
    assert (
        Palace(root).snapshot().commit.embedder == "none" and Palace(root).awaited_model() is None
    )


def test_a_model_that_is_asked_for_by_name_needs_no_force_where_it_was_waited_for(root, here):
    palace("-C", root, "index")
    here.add("minilm")
    with pytest.raises(WrongEmbedderError):
        Palace(root).index(embedder="hashing")
    Palace(root).index(embedder="minilm")
    assert Palace(root).snapshot().commit.embedder == "minilm"


def test_what_a_change_indexes_takes_up_no_model(root, here):
    palace("-C", root, "index")
    here.add("minilm")
    palace("-C", root, "new", "Late")
    assert Palace(root).snapshot().commit.embedder == "none"
    palace("-C", root, "index")
    assert Palace(root).snapshot().commit.embedder == "minilm"


def test_a_build_that_was_stopped_while_it_took_up_the_model_goes_on(root, here, monkeypatch):
    palace("-C", root, "index")
    here.add("minilm")
    embed, made = HashingEmbedder.embed_passages, []

    def embed_one_and_die(self, texts):
        if made:
            raise KeyboardInterrupt
        made.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr("memory_palace.index.rows.AT_ONCE", 0)
    monkeypatch.setattr(HashingEmbedder, "embed_passages", embed_one_and_die)
    with pytest.raises(KeyboardInterrupt):
        Palace(root).index()
    monkeypatch.setattr(HashingEmbedder, "embed_passages", embed)
    found = Palace(root).query("heron")
    assert (found.mode, found.awaiting) == ("vector", 2)
    assert Palace(root).index().embedded == 2
