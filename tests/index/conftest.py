from pathlib import Path

import pytest
from writing_notes import write_notes

from memory_palace.index import writing
from memory_palace.palace import Palace

NOTES = {
    "grand_hall/map.md": "# Map\n\nThe rooms and what is in them. See [[Kitchen]].\n",
    "project_rooms/bread/Kitchen.md": (
        "---\npriority: high\ndate: 2026-03-01\n---\n# Kitchen\n\n## Oven\n\nIt runs ten degrees "
        "hot.\n\n## Starter\n\nFeed the sourdough starter on Mondays.\n"
    ),
    "chambers/baker/2026-02-03 flour.md": "Rye flour keeps for six months.\n",
    "archive_basement/2025/old.md": "# Old\n\nThe zebra oven was sold.\n",
}


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    """A small palace that has not been indexed."""
    write_notes(tmp_path / "palace", NOTES)
    return Palace.init(tmp_path)


@pytest.fixture
def indexed(palace: Palace) -> Palace:
    """The same palace after its first build."""
    palace.index(embedder="hashing")
    return palace


@pytest.fixture
def piled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merge segments by their sizes alone: few notes are merged at each build, as that saves."""
    monkeypatch.setattr(writing, "DEAD_SHARE", 1)
