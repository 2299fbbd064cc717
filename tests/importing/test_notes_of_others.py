"""Notes of OpenClaw and of the MCP memory server."""

import os
import zipfile
from pathlib import Path

import pytest
from importing_exports import read_all, write_lines

from memory_palace.errors import UsageError
from memory_palace.features.importing.run import safe_path


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("secret")
    vault = tmp_path / "vault" / "memory"
    vault.mkdir(parents=True)
    (vault / "Real.md").write_text("Real")
    (vault / "Out.md").symlink_to(tmp_path / "secret.md")
    (vault / "folder").symlink_to(tmp_path / "outside")
    os.mkfifo(vault / "pipe.md")
    items, _ = read_all("openclaw", vault.parent)
    assert [(note.path_hint, note.data) for note in items] == [("memory/Real.md", b"Real")]


def test_names_and_sizes_of_an_archive_are_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("memory/Good.md", "Good")
        archive.writestr("memory/../../evil.md", "secret")
        archive.writestr("C:\\memory\\drive.md", "Drive")
        archive.writestr("/etc/memory/top.md", "Top")
        archive.writestr("__MACOSX/memory/._Good.md", "secret")
        with archive.open("memory/Long.md", "w") as stream:
            for _ in range(20):
                stream.write(bytes(1 << 20))
    items, report = read_all("openclaw", path)
    assert [safe_path(note.path_hint) for note in items] == [
        "etc/memory/top.md",
        "C/memory/drive.md",
        "memory/Good.md",
    ]
    assert [broken.file for broken in report.broken] == ["memory/Long.md"]


def test_an_archive_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_palace.features.importing.formats import files

    monkeypatch.setattr(files, "_LIMIT_UNPACKED", 1 << 16)
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * (1 << 20))
    items, report = read_all("claude", tmp_path / "x.zip")
    assert not items
    assert "would unpack" in report.broken[0].reason


def test_a_damaged_archive_gives_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("memory/A.md", "A" * 50)
        archive.writestr("memory/B.md", "B" * 50)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"A" * 50, b"A" * 49 + b"x"))
    items, report = read_all("openclaw", path)
    assert [note.path_hint for note in items] == ["memory/B.md"]
    assert report.broken[0].file == "memory/A.md"
    path.write_bytes(data[:-30])
    with pytest.raises(UsageError, match="archive"):
        read_all("openclaw", path)


GRAPH = [
    {
        "type": "entity",
        "name": "Ann",
        "entityType": "person",
        "observations": ["Likes tea", "A\nB"],
    },
    {"type": "relation", "from": "Ann", "to": "Garden/Plot", "relationType": "owns"},
    {"type": "entity", "name": "Garden/Plot", "entityType": "place", "observations": []},
    {"type": "relation", "from": "Ann", "to": "Nobody", "relationType": "knows"},
    {"type": "relation", "from": "Lost", "to": "Ann", "relationType": "knows"},
]


def test_entities_become_notes_that_link_to_each_other(tmp_path: Path) -> None:
    items, _ = read_all("memory-json", write_lines(tmp_path / "memory.json", GRAPH))
    assert [(note.source_id, note.path_hint) for note in items] == [
        ("Ann", "person/Ann.md"),
        ("Garden/Plot", "place/Garden-Plot.md"),
    ]
    assert items[0].data.decode() == (
        "---\ntitle: Ann\ntype: person\nsource: memory-json\nsource_id: Ann\n---\n"
        "- Likes tea\n- A\n  B\n- owns [[Garden/Plot]]\n- knows Nobody\n"
    )
