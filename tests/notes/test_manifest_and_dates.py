import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import commit_all, git

from memory_palace.config import PalacePaths
from memory_palace.errors import ConfigError
from memory_palace.notes.manifest import (
    ManifestEntry,
    add_lines,
    drop_lines,
    git_commit_times,
    git_head,
    read_manifest,
)


def manifest_in(root):
    path = PalacePaths(root).manifest
    path.parent.mkdir(exist_ok=True)
    return path


def test_a_file_in_crlf_stays_in_crlf_also_without_a_last_line_end():
    data = b'{"path": "palace/a.md"}\r\n{"path": "palace/b.md"}'
    grown = add_lines(data, [ManifestEntry("palace/c.md", None, None, 0)])
    assert grown == data + b'\r\n{"path": "palace/c.md"}\r\n'


def test_a_line_that_is_not_utf8_or_names_no_file_is_a_failure(tmp_path):
    path = manifest_in(tmp_path)
    path.write_bytes(b'{"path": "palace/\xe9.md"}\n{"path": "palace/\\ud800.md"}\n')
    manifest = read_manifest(PalacePaths(tmp_path))
    assert manifest.entries == {}
    assert [(p.line, p.is_failure) for p in manifest.problems] == [(1, True), (2, True)]


def test_unknown_values_survive_a_rename_even_lone_surrogates(tmp_path):
    path = manifest_in(tmp_path)
    path.write_bytes(b'{"path": "palace/a.md", "mood": "\\ud800"}\n')
    (old,) = read_manifest(PalacePaths(tmp_path)).entries.values()
    path.write_bytes(add_lines(b"", [ManifestEntry("palace/b.md", None, None, 0, old.extra)]))
    assert read_manifest(PalacePaths(tmp_path)).entries["palace/b.md"].extra == old.extra


def test_a_cold_line_after_a_byte_order_mark_is_dropped():
    data = b'\xef\xbb\xbf{"path": "palace/a.md"}\nnot json\n'
    assert drop_lines(data, lambda path: True) == b"not json\n"


def test_a_missing_manifest_is_empty_and_an_unreadable_one_says_so(tmp_path):
    assert read_manifest(PalacePaths(tmp_path)).entries == {}
    manifest_in(tmp_path).mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        read_manifest(PalacePaths(tmp_path))


def test_git_dates_odd_names_and_writes_nothing(tmp_path):
    git(tmp_path, "init", "-q")
    root = tmp_path / "sub"
    root.mkdir()
    odd = ["a[1].md", "b *.md", "c 'd\".md"]
    for name in odd:
        (root / name).write_text("x")
    commit_all(tmp_path)
    (root / odd[0]).touch()
    index = (tmp_path / ".git" / "index").read_bytes()
    assert set(git_commit_times(root, odd)) == set(odd)
    assert (tmp_path / ".git" / "index").read_bytes() == index
    assert git_head(root) is not None


def test_a_renamed_note_is_dirty(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "old.md").write_text("words " * 50)
    commit_all(tmp_path)
    git(tmp_path, "mv", "old.md", "new.md")
    assert git_commit_times(tmp_path, ["old.md", "new.md"]) == {}


def test_git_dates_only_what_is_tracked_and_clean(tmp_path):
    assert git_commit_times(tmp_path, ["a.md"]) == {}
    git(tmp_path, "init", "-q")
    for name in ("a.md", "b.md", "übel .md"):
        (tmp_path / name).write_text("x")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x", "--date", "2026-01-01T00:00:00Z")
    (tmp_path / "b.md").write_text("dirty")
    (tmp_path / "c.md").write_text("untracked")
    assert set(git_commit_times(tmp_path, ["a.md", "b.md", "c.md", "übel .md"])) == {
        "a.md",
        "übel .md",
    }


lines = st.lists(
    st.one_of(
        st.just(""),
        st.just("# comment"),
        st.text(alphabet='ab{}":,', max_size=20),
        st.sampled_from([json.dumps({"path": f"palace/{n}.md", "mood": n}) for n in "xyz"]),
    )
)


@given(lines, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_adding_lines_changes_no_byte_that_was_there(rows, end, is_ended):
    data = (end.join(rows) + (end if is_ended and rows else "")).encode()
    new = [ManifestEntry("palace/new.md", "t", "low", 0, {"k": 1})]
    grown = add_lines(data, new)
    assert grown.startswith(data)
    assert json.loads(grown.splitlines()[-1]) == {
        "path": "palace/new.md",
        "type": "t",
        "priority": "low",
        "k": 1,
    }
    assert drop_lines(grown, lambda path: False) == grown


def test_bad_manifest_lines_are_named_and_the_others_count(tmp_path):
    path = manifest_in(tmp_path)
    path.write_text(
        '# mine\n\n{"path": "palace/a.md", "priority": "low"}\nnope\n{"type": "x"}\n'
        '{"path": "/etc/passwd"}\n{"path": "palace/../x"}\n'
        '{"path": "palace/a.md", "priority": "High", "x": 1}\n'
    )
    manifest = read_manifest(PalacePaths(tmp_path))
    assert manifest.entries["palace/a.md"].priority == "high"
    assert manifest.entries["palace/a.md"].extra == {"x": 1}
    failures = [p.line for p in manifest.problems if p.is_failure]
    assert failures == [4, 5, 6, 7]
    assert "first on line 3" in manifest.problems[-1].message
