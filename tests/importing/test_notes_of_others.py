"""Notes of OpenClaw and of the MCP memory server."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from importing_exports import read_all, write_json, write_lines


def test_links_out_of_a_vault_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("secret")
    vault = tmp_path / "vault" / "memory"
    vault.mkdir(parents=True)
    (vault / "Real.md").write_text("Real")
    (vault / "Inside.md").symlink_to("Real.md")
    (vault / "Out.md").symlink_to(tmp_path / "secret.md")
    (vault / "folder").symlink_to(tmp_path / "outside")
    (vault / "round").symlink_to(vault)
    os.mkfifo(vault / "pipe.md")
    items, report = read_all("openclaw", vault.parent)
    assert [(note.path_hint, note.data) for note in items] == [
        ("memory/Inside.md", b"Real"),
        ("memory/Real.md", b"Real"),
    ]
    assert sorted(broken.file for broken in report.broken) == ["memory/Out.md", "memory/folder"]


def test_names_and_sizes_of_an_archive_are_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("memory/Good.md", "Good")
        archive.writestr("../../evil.md", "secret")
        archive.writestr("/etc/evil.md", "secret")
        archive.writestr("C:\\evil.md", "secret")
        link = zipfile.ZipInfo("memory/Link.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("__MACOSX/._Good.md", "secret")
        with archive.open("memory/Long.md", "w") as stream:
            for _ in range(20):
                stream.write(bytes(1 << 20))
    items, report = read_all("openclaw", path)
    assert [note.path_hint for note in items] == ["memory/Good.md"]
    assert len(report.broken) == 5
    assert not list(tmp_path.rglob("*evil*"))


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
    items, report = read_all("openclaw", path)
    assert not items
    assert "archive" in report.broken[0].reason


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
    items, report = read_all("memory-json", write_lines(tmp_path / "memory.json", GRAPH))
    assert [(note.source_id, note.path_hint, note.fields) for note in items] == [
        ("Ann", "person/Ann.md", {"type": "person"}),
        ("Garden/Plot", "place/Garden-Plot.md", {"type": "place"}),
    ]
    assert items[0].data.decode() == (
        "- Likes tea\n- A\n  B\n\n## Relations\n\n- owns [[Garden/Plot]]\n- knows Nobody\n"
    )
    assert report.dropped == {"relation of no entity": 1}
    whole = {"entities": [GRAPH[0], GRAPH[2]], "relations": [GRAPH[1], GRAPH[3], GRAPH[4]]}
    again, _ = read_all("memory-json", write_json(tmp_path / "graph" / "graph.json", whole))
    assert again == items
