"""Notes of Obsidian, basic-memory, the MCP memory server and MemPalace."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from importing_exports import read_all, write_json, write_lines

CHROMA = """
CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL, database_id TEXT);
CREATE TABLE segments (id TEXT PRIMARY KEY, type TEXT, scope TEXT, collection TEXT);
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL,
  embedding_id TEXT NOT NULL, seq_id BLOB NOT NULL,
  created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, UNIQUE (segment_id, embedding_id));
CREATE TABLE embedding_metadata (id INTEGER REFERENCES embeddings(id), key TEXT NOT NULL,
  string_value TEXT, int_value INTEGER, float_value REAL, bool_value INTEGER,
  PRIMARY KEY (id, key));
"""


def make_chroma(path: Path, drawers: list[dict[str, object]], *, journal: str = "delete") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.executescript(CHROMA)
    for number, drawer in enumerate(drawers, 1):
        connection.execute(
            "INSERT INTO embeddings VALUES (?, 's', ?, ?, '')", (number, f"drawer_{number}", number)
        )
        for key, value in drawer.items():
            column = "int_value" if isinstance(value, int) else "string_value"
            connection.execute(
                f"INSERT INTO embedding_metadata (id, key, {column}) VALUES (?, ?, ?)",
                (number, key, value),
            )
    connection.commit()
    connection.close()
    return path


def drawer(text: str, **more: object) -> dict[str, object]:
    return {"chroma:document": text, "wing": "garden", "room": "soil"} | more


def test_a_vault_stays_as_it_is_without_settings_trash_and_templates(tmp_path: Path) -> None:
    note = b"\xef\xbb\xbf---\r\naliases: [Loam]\r\n---\r\nSee [[Clay|the clay]]. #wet\r\n"
    files = {
        "Soil.md": note,
        "Sub/Clay.markdown": b"Clay",
        ".trash/Old.md": b"secret",
        "Templates/Day.md": b"A day",
        "Forms/Week.md": b"secret",
        "Forms/Sub/Year.md": b"secret",
        "pic.png": b"\x89PNG",
        "Board.canvas": b"{}",
        "Binary.md": b"a\0b",
        ".obsidian/templates.json": b'{"folder": "Forms"}',
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    items, report = read_all("obsidian", tmp_path)
    assert [(note.source_id, note.title, note.data) for note in items] == [
        ("Soil.md", "Soil", note),
        ("Sub/Clay.markdown", "Clay", b"Clay"),
        ("Templates/Day.md", "Day", b"A day"),
    ]
    assert report.dropped == {"template": 2, "attachment": 2}
    assert [broken.file for broken in report.broken] == ["Binary.md"]


def test_links_out_of_a_vault_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("secret")
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Real.md").write_text("Real")
    (vault / "Inside.md").symlink_to("Real.md")
    (vault / "Out.md").symlink_to(tmp_path / "secret.md")
    (vault / "folder").symlink_to(tmp_path / "outside")
    (vault / "round").symlink_to(vault)
    os.mkfifo(vault / "pipe.md")
    items, report = read_all("obsidian", vault)
    assert [(note.path_hint, note.data) for note in items] == [
        ("Inside.md", b"Real"),
        ("Real.md", b"Real"),
    ]
    assert sorted(broken.file for broken in report.broken) == ["Out.md", "folder"]


def test_names_and_sizes_of_an_archive_are_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Good.md", "Good")
        archive.writestr("../../evil.md", "secret")
        archive.writestr("/etc/evil.md", "secret")
        archive.writestr("C:\\evil.md", "secret")
        link = zipfile.ZipInfo("Link.md")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("__MACOSX/._Good.md", "secret")
        with archive.open("Long.md", "w") as stream:
            for _ in range(20):
                stream.write(bytes(1 << 20))
    items, report = read_all("obsidian", path)
    assert [note.path_hint for note in items] == ["Good.md"]
    assert len(report.broken) == 5
    assert not list(tmp_path.rglob("*evil*"))


def test_an_archive_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_palace.importing.formats import export_files

    monkeypatch.setattr(export_files, "_LIMIT_UNPACKED", 1 << 16)
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * (1 << 20))
    items, report = read_all("claude", tmp_path / "x.zip")
    assert not items
    assert "would unpack" in report.broken[0].reason


def test_a_damaged_archive_gives_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("A.md", "A" * 50)
        archive.writestr("B.md", "B" * 50)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"A" * 50, b"A" * 49 + b"x"))
    items, report = read_all("obsidian", path)
    assert [note.path_hint for note in items] == ["B.md"]
    assert report.broken[0].file == "A.md"
    path.write_bytes(data[:-30])
    items, report = read_all("obsidian", path)
    assert not items
    assert "archive" in report.broken[0].reason


def test_notes_of_basic_memory_keep_their_bytes_and_their_permalinks(tmp_path: Path) -> None:
    text = (
        "---\ntitle: Loam\ntype: note\npermalink: soil/loam\n"
        "created: 2026-02-03T04:05:06+00:00\n---\n"
        "- [fact] Holds water #wet (seen)\n- relates_to [[Clay]]\n"
    )
    (tmp_path / "a.md").write_text(text)
    (tmp_path / "b.md").write_text(text.replace("Loam", "Copy"))
    (tmp_path / "c.md").write_text("No front matter\n")
    items, _ = read_all("basic-memory", tmp_path)
    assert [(note.source_id, note.title, note.path_hint) for note in items] == [
        ("soil/loam", "Loam", "a.md"),
        ("b.md", "Copy", "b.md"),
        ("c.md", "c", "c.md"),
    ]
    assert items[0].data == text.encode()
    assert items[0].date == datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


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


def test_drawers_of_a_source_file_become_one_note(tmp_path: Path) -> None:
    overlap = "the soil of the plot is heavy clay"
    path = make_chroma(
        tmp_path / "palace" / "chroma.sqlite3",
        [
            drawer(f"{overlap} and wet", source_file="/home/a/notes.md", chunk_index=1),
            drawer(f"First, {overlap}", source_file="/home/a/notes.md", chunk_index=0),
            drawer("Said aloud", filed_at="2026-02-03T04:05:06+00:00", room="../../etc"),
            drawer("", room="empty"),
        ],
    )
    items, report = read_all("mempalace", path.parent)
    assert [(note.path_hint, note.title, note.data.decode()) for note in items] == [
        ("garden/..-..-etc/Said aloud.md", "Said aloud", "Said aloud\n"),
        ("garden/soil/notes.md", "notes.md", f"First, {overlap} and wet\n"),
    ]
    assert items[0].date == datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert dict(items[1].fields) == {"wing": "garden", "room": "soil"}
    assert report.dropped == {"empty": 1}
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO segments VALUES ('s', 'x', 'METADATA', 'c')")
        connection.execute("INSERT INTO collections VALUES ('c', 'mempalace_closets', 'd')")
    connection.close()
    assert read_all("mempalace", path)[0] == []
    assert [file.name for file in path.parent.iterdir()] == ["chroma.sqlite3"]


def test_what_is_only_in_the_log_of_the_database_is_read_and_nothing_is_left(
    tmp_path: Path,
) -> None:
    path = make_chroma(tmp_path / "chroma.sqlite3", [drawer("Old")], journal="wal")
    program = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        "c.execute(\"UPDATE embedding_metadata SET string_value = 'New' WHERE key LIKE '%:%'\");"
        "c.commit(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    (tmp_path / "chroma.sqlite3-shm").unlink()
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert set(before) == {"chroma.sqlite3", "chroma.sqlite3-wal"}
    items, _ = read_all("mempalace", path)
    assert [note.data for note in items] == [b"New\n"]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE x (a)",
        "CREATE TABLE embedding_metadata (id, key); CREATE VIEW embeddings AS WITH RECURSIVE"
        " t(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM t) SELECT id, id AS embedding_id FROM t",
        "CREATE TABLE embeddings (id); CREATE TABLE embedding_metadata (id, key)",
    ],
)
def test_a_hostile_database_is_named_and_nothing_happens(tmp_path: Path, schema: str) -> None:
    path = tmp_path / "chroma.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.executescript(schema)
    connection.close()
    items, report = read_all("mempalace", path)
    assert not items
    assert [broken.file for broken in report.broken] == ["chroma.sqlite3"]


def test_values_that_are_no_text_and_pages_that_are_torn_are_survived(tmp_path: Path) -> None:
    path = make_chroma(
        tmp_path / "chroma.sqlite3", [drawer(f"Drawer {n} " * 90) for n in range(99)]
    )
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE embedding_metadata SET string_value = x'ff00' WHERE id = 1")
        connection.execute("UPDATE embedding_metadata SET string_value = 7.5 WHERE id = 2")
    connection.close()
    items, _ = read_all("mempalace", path)
    assert len(items) >= 97
    data = path.read_bytes()
    for place in range(4096, len(data) - 4096, 12_288):
        path.write_bytes(data[:place] + b"\xa5" * 2048 + data[place + 2048 :])
        read_all("mempalace", path)
    path.write_bytes(data[: len(data) // 2])
    read_all("mempalace", path)
