"""Index and query through the public API with the real loading and encoding code."""

import pytest
from writing_notes import write_notes

from memory_palace.palace import Palace

pytestmark = pytest.mark.bge

NOTES = {
    "grand_hall/gateway.md": "# Gateway\n\nWe replaced the gateway: its radio lost packets.\n",
    "chambers/snow.md": "# Snow\n\nBattery below eleven volts means snow on the panel.\n",
    "reflection_wing/kurz.md": "# Kurz\n\nDas ist ein kurzer Satz auf Deutsch mit Umlauten.\n",
    "project_rooms/句子.md": "# 句子\n\n这是一个中文句子\n",
}


@pytest.fixture
def palace(tmp_path, tiny_bge_m3, monkeypatch):
    monkeypatch.setenv("PALACE_BGE_M3", str(tiny_bge_m3))
    monkeypatch.setenv("PALACE_CACHE", str(tmp_path / "cache"))
    write_notes(tmp_path / "palace", NOTES)
    return Palace.init(tmp_path)


@pytest.mark.parametrize("name", NOTES)
def test_a_note_is_found_by_its_own_passage(palace, name):
    report = palace.index(embedder="bge-m3")
    assert (report.embedder, report.embedded) == ("bge-m3", len(NOTES))
    # Random weights know no meaning, so the question is the passage, word for word.
    result = palace.query(NOTES[name], profile="raw", gate=False)
    assert result.hits[0].path == f"palace/{name}"
    assert result.hits[0].score == pytest.approx(1.0, abs=1e-5)
    assert result.hits[1].score < 0.999
    assert (result.mode, result.embedder) == ("vector", "bge-m3")
