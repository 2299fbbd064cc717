"""Odd files, then edits: each gives a clear message or simply works, and no byte changes."""

from __future__ import annotations

import os
import unicodedata

import pytest
from running import git

from memory_palace.palace import Palace

LONG_LINE = "sentence about walruses. " * 2_480
BOMB = "---\na: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join('*' + chr(97 + i) for _ in range(9))}]\n"
    for i in range(8)
)
NFD = unicodedata.normalize("NFD", "Café über.md")
FILES: dict[str, bytes] = {
    "plain.md": b"# Plain\n\nAn ordinary note about herons.\n",
    "empty.md": b"",
    "blank.md": b"\n\n   \n",
    "bom.md": b"\xef\xbb\xbf---\ntitle: Bom\n---\nbyte order pelicans\n",
    "crlf.md": b"---\r\ntitle: Crlf\r\n---\r\n\r\n# H\r\n\r\ncarriage storks\r\n",
    "latin.md": "# Latin\n\ncaf\xe9 with ibises\n".encode("latin-1"),
    "utf16.md": "# Wide\n\nwide cranes\n".encode("utf-16"),
    "nul.md": b"# Nul\n\nbefore\x00after spoonbills\n",
    "long line.md": LONG_LINE.encode(),
    "\U0001f418.md": b"an elephant note\n",
    "a #b [c] 'q' \"d\": e.md": b"quoted egrets\n",
    NFD: b"decomposed bitterns\n",
    "README.md": b"upper readme cormorants\n",
    "readme.md": b"lower readme gannets\n",
    "dup.md": b"# A\n\n## Same\n\none\n\n## Same\n\ntwo grebes\n",
    "fence.md": b"````\n```\n## no heading [[nolink]]\n```\n````\n\nafter the fence terns\n",
    "unclosed.md": b"---\ntitle: never closed\n\n# Body\n\nskuas live here\n",
    "list.md": b"---\n- a\n- b\n---\nlisted auks\n",
    "malformed.md": b"---\ntitle: [broken\n---\nmalformed puffins\n",
    "bomb.md": BOMB.encode() + b"---\nexplosive guillemots\n",
    "same-a.md": b"# Twin\n\nidentical razorbills\n",
    "same-b.md": b"# Twin\n\nidentical razorbills\n",
    "cjk.md": "# 日本\n\n東京の天気は晴れです。\n".encode(),
    "deep/er/nested.md": b"nested shags\n",
    "UPPER.MD": b"suffix in capitals: kittiwakes\n",
    ".md": b"a file without a name\n",
    ".hidden.md": b"hidden\n",
    "not markdown.txt": b"text\n",
    ".obsidian/workspace.md": b"hidden folder\n",
}


def make_torture(root):
    for name, data in FILES.items():
        path = root / "palace" / "chambers" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return Palace.init(root)


@pytest.fixture
def torture(tmp_path):
    return make_torture(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The same after its first build, which nobody changes; and the report of that build."""
    palace = make_torture(tmp_path_factory.mktemp("torture"))
    return palace, palace.index(embedder="hashing")


def visible_names():
    return {
        name
        for name in FILES
        if not any(part.startswith(".") for part in name.split("/")) and not name.endswith(".txt")
    }


def test_every_odd_file_is_indexed_and_none_is_changed(torture):
    room = torture.paths.notes / "chambers"
    report = torture.index(embedder="hashing")
    assert {path.removeprefix("palace/chambers/") for path in report.added} == visible_names()
    assert report.failed == ()
    assert {name: (room / name).read_bytes() for name in FILES} == FILES
    assert torture.index().unchanged == len(visible_names())
    assert torture.doctor().findings == ()


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("byte order pelicans", "bom.md"),
        ("carriage storks", "crlf.md"),
        ("with ibises", "latin.md"),
        ("wide cranes", "utf16.md"),
        ("after spoonbills", "nul.md"),
        ("an elephant note", "\U0001f418.md"),
        ("quoted egrets", "a #b [c] 'q' \"d\": e.md"),
        ("decomposed bitterns", NFD),
        ("upper readme cormorants", "README.md"),
        ("lower readme gannets", "readme.md"),
        ("two grebes", "dup.md"),
        ("after the fence terns", "fence.md"),
        ("skuas live here", "unclosed.md"),
        ("listed auks", "list.md"),
        ("malformed puffins", "malformed.md"),
        ("explosive guillemots", "bomb.md"),
        ("nested shags", "deep/er/nested.md"),
        ("suffix in capitals kittiwakes", "UPPER.MD"),
        ("sentence about walruses", "long line.md"),
    ],
)
def test_what_is_in_an_odd_file_is_found(built, question, name):
    palace, _ = built
    best = palace.query(question, neighbors=0).hits[0]
    assert best.path == f"palace/chambers/{name}"
    lines = palace.read(best.path).text.split("\n")
    assert 1 <= best.chunk.first_line <= best.chunk.last_line <= max(len(lines), 1)


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("latin.md", 3, "not UTF-8"),
        ("nul.md", 3, "NUL"),
        ("malformed.md", 3, "front matter"),
        ("list.md", 2, "list"),
        ("bomb.md", 1, "aliases"),
        ("unclosed.md", 1, "not closed"),
    ],
)
def test_bad_input_is_named_by_file_and_line(built, name, line, words):
    _, report = built
    (problem,) = (p for p in report.problems if p.path.endswith(f"/{name}"))
    assert words in problem.message and not problem.is_failure
    assert problem.line in (line, line - 1)


def test_identical_notes_are_both_kept_and_shown_as_one(built):
    (hit, *others) = built[0].query("identical razorbills", neighbors=0).hits
    assert hit.path.endswith("same-a.md") and hit.folded == 1
    assert not any(other.path.endswith("same-b.md") for other in others)


def test_a_link_that_turns_outward_between_scan_and_read_is_refused(torture, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "x.md"
    outside.write_text("outside albatross\n")
    victim = torture.paths.notes / "chambers" / "plain.md"
    torture.index(embedder="hashing")
    victim.unlink()
    victim.symlink_to(outside)
    torture.index()
    assert not any("albatross" in hit.snippet for hit in torture.query("albatross").hits)


def test_a_note_that_cannot_be_read_is_named_and_leaves_the_index(torture, monkeypatch):
    torture.index(embedder="hashing")
    real = os.open

    def denied(path, *args, **kwargs):
        if str(path).endswith("plain.md"):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **kwargs)

    path = torture.paths.notes / "chambers" / "plain.md"
    path.write_text("changed herons\n")
    monkeypatch.setattr(os, "open", denied)
    report = torture.index()
    assert report.failed == ("palace/chambers/plain.md",)
    assert "Permission denied" in str(report.problems[0])


def test_a_note_that_vanishes_while_it_is_read_is_simply_gone(torture, monkeypatch):
    from memory_palace.index import rows

    real = rows.read_note

    def vanish(paths, path, **options):
        if path.endswith("plain.md"):
            (paths.root / path).unlink()
        return real(paths, path, **options)

    monkeypatch.setattr(rows, "read_note", vanish)
    report = torture.index(embedder="hashing")
    assert "palace/chambers/plain.md" not in report.added and report.failed == ()
    monkeypatch.undo()
    assert torture.doctor().findings == ()


AWS = "AKIA" + "QYLPMN5HHHFPZAM2"
GITHUB = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"


def test_secrets_and_private_text_never_reach_the_index(torture):
    room = torture.paths.notes / "chambers"
    (room / "keys.md").write_text(
        f"# Keys {GITHUB}\n\nThe key is {AWS} for the buckets.\n\nHarmless oystercatchers.\n"
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n"
        "<private>the avocet\nnests here</private> public dunlins\n"
    )
    (room / "diary.md").write_text("---\nprivate: true\n---\n# Diary\n\nmy own turnstone\n")
    report = torture.index(embedder="hashing")
    kinds = sorted((p.line, p.kind) for p in report.problems if p.path.endswith("keys.md"))
    assert kinds == [(1, "secret"), (3, "secret"), (6, "secret"), (7, "secret"), (8, "secret"),
                     (9, "private")]  # fmt: skip
    stored = b"".join(p.read_bytes() for p in torture.paths.index.iterdir())
    for word in (AWS, GITHUB, "MIIEpAIBAAKCAQEA", "avocet", "nests here", "turnstone"):
        assert word.encode() not in stored, word
    assert not any(AWS in str(p) or GITHUB in str(p) for p in report.problems)
    assert torture.query("harmless oystercatchers", neighbors=0).hits[0].path.endswith("keys.md")
    assert not any(n.path.endswith("diary.md") for n in torture.notes())
    assert "AKIA" not in torture.read("keys").text


def test_gitignored_notes_stay_out_where_the_palace_says_so(torture):
    (torture.paths.root / ".gitignore").write_text("nested.md\n")
    assert any("nested.md" in p for p in torture.index(embedder="hashing").added)
    torture.paths.settings.write_text("ignore: git\n")
    assert Palace(torture.paths.root).index().removed == ("palace/chambers/deep/er/nested.md",)


def test_a_date_comes_from_git_once_the_note_is_committed(torture):
    def source(name):
        return next(n.date.source for n in torture.notes() if n.path.endswith(name))

    torture.index(embedder="hashing")
    assert source("/plain.md") == "mtime"
    git(torture.paths.root, "init", "-q")
    git(torture.paths.root, "add", "palace/chambers/plain.md")
    git(torture.paths.root, "commit", "-qm", "x", GIT_COMMITTER_DATE="2026-01-02T03:04:05Z")
    assert torture.index().embedded == 0
    assert source("/plain.md") == "git" and source("/dup.md") == "mtime"
    (torture.paths.notes / "chambers" / "plain.md").write_text("dirty herons\n")
    torture.index()
    assert source("/plain.md") == "mtime"
