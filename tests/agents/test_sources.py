"""``palace init --agents``: what the tools of agents wrote is searched, and never written."""

import os
from pathlib import Path

import pytest
from running import run_main, run_well

from memory_palace.changes.changing import Plan, change_notes, today
from memory_palace.changes.journal import LOG, LoggedChange, Remove, Write, digest
from memory_palace.config import NoteSource
from memory_palace.embedding.registry import cache_folder, is_available
from memory_palace.errors import UsageError
from memory_palace.features.agents.sources import write_sources
from memory_palace.notes.sources import sources_path
from memory_palace.palace import Palace
from memory_palace.storage import append_record

TEXTS = Path(__file__).with_name("written_by_agents.md").read_text("utf-8")
OWNED = "memory-palace"
OWN = f".local/share/{OWNED}/agents"


def live_in(home, patch):
    """Let all commands of a test find the tools below this home alone."""
    patch.setenv("PALACE_CACHE", str(cache_folder(os.environ)))
    patch.setenv("HOME", str(home))
    patch.delenv("XDG_CONFIG_HOME", raising=False)
    patch.delenv("XDG_DATA_HOME", raising=False)


def write_files(home, files):
    for path, text in files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, "utf-8")


def read_texts():
    """Return the texts by path below the home, and pairs of question and path by their mark."""
    files, asked = {}, {"? ": [], "~ ": []}
    for part in TEXTS.split("\n== ")[1:]:
        path, *lines = part.split("\n")
        files[path] = "\n".join(line for line in lines if line[:2] not in asked)
        for line in lines:
            asked.get(line[:2], []).append((line[2:], path))
    return files, asked


def look_at(home):
    """Return bytes, time and mode of every file of the tools and projects."""
    files = [path for top in (".*", "code") for path in home.glob(f"{top}/**/*") if path.is_file()]
    found = {path: (path.read_bytes(), path.stat()) for path in files if OWNED not in path.parts}
    return {path: (data, stat.st_mtime_ns, stat.st_mode) for path, (data, stat) in found.items()}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Make a home with the folders of five tools and two projects, and index what they keep."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        live_in(home, patch)
        write_files(home, read_texts()[0])
        before = look_at(home)
        run_well("init", "--agents", home / "code/tidewatch", home / "code/cellar")
        run_well("index", "-C", "agents", "--embedder", "none")
        yield home
        assert look_at(home) == before


@pytest.fixture
def agents(home):
    return Palace(home / OWN)


def count_first(palace, home, mark):
    """Return how many questions of a mark find the file that answers them first."""
    asked = read_texts()[1][mark]
    assert len(asked) == 100
    firsts = [palace.query(question, limit=1, neighbors=0).hits[:1] for question, _ in asked]
    found = [[palace.paths.file_of(hit.path) for hit in hits] for hits in firsts]
    return sum(files == [home / path] for files, (_, path) in zip(found, asked, strict=True))


def test_ninety_of_a_hundred_questions_find_the_text_of_a_tool_first_by_words_alone(agents, home):
    assert count_first(agents, home, "? ") >= 90


@pytest.mark.long
@pytest.mark.skipif(not is_available("minilm"), reason="needs minilm; palace models fetch minilm")
def test_with_a_model_they_do_too_and_most_in_other_words(agents, home, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    write_sources(tmp_path, agents.paths.sources)
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="minilm")
    assert count_first(palace, home, "? ") >= 90
    assert count_first(palace, home, "~ ") >= 65


def test_a_tool_is_a_folder_and_status_names_every_folder(home, capsys):
    _, out, _ = run_main(capsys, "list", "-C", "agents", "--in", "cursor", "--json")
    assert "cursor/cellar/.cursor/rules/database.mdc" in out
    assert "claude" not in out
    _, out, _ = run_main(capsys, "status", "-C", "agents")
    assert f"letta                   8  {home}/.letta\n" in out
    _, out, _ = run_main(capsys, "query", "-C", "agents", "alembic", "--format", "paths")
    assert Path(out.splitlines()[0]).is_file()


WRITING = """\
remember text --to claude/CLAUDE.md
remember text --to persona
new Title --in codex --body text
metabolism archive claude/CLAUDE.md --apply
undo 1 --apply"""


@pytest.mark.parametrize("line", WRITING.split("\n"))
def test_verbs_that_write_refuse_a_source_in_one_line(home, agents, capsys, line):
    gone = Write("claude/CLAUDE.md", digest(b"x"), None)
    append_record(agents.paths.logs / LOG, LoggedChange("1", writes=(gone,)).to_record())
    write_files(agents.paths.logs, {f"before/{digest(b'x')}": "x"})
    before = look_at(home)
    status, _, told = run_main(capsys, *line.split(), "-C", "agents")
    assert (status, told.count("\n")) == (2, 1)
    assert "is outside the palace and is left alone" in told
    plan = Plan([Remove("codex/AGENTS.md", b"")], "tidy")
    with pytest.raises(UsageError, match=r"codex/AGENTS\.md is outside the palace"):
        change_notes(agents, lambda library: plan, command="x", apply=False)
    assert look_at(home) == before


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Make a home in which much lies beside the notes of the tools."""
    live_in(tmp_path, monkeypatch)
    notes = ".claude/CLAUDE.md .claude/projects/-p/memory/a/b.md .letta/agents/x/memory/m.md"
    beside = ".claude/todo.md .claude/projects/-p/1.jsonl .claude/projects/-p/notes.md p/README.md "
    beside += ".letta/agents/x/memory/.git/HEAD.md .codex/auth.json p/.env"
    write_files(tmp_path, dict.fromkeys((*notes.split(), *beside.split()), "zebra"))
    write_files(tmp_path, {"p/AGENTS.md": f"zebra\nkey AKIA{'Q7' * 8}\n<private>hush</private>"})
    return tmp_path


def test_nothing_is_read_that_the_table_does_not_name(small, capsys):
    (small / "p/CLAUDE.md").symlink_to("AGENTS.md")
    (small / "p/GEMINI.md").symlink_to("README.md")
    (small / ".claude/rules").symlink_to(small / "p")
    (small / ".claude/projects/-p/memory/out.md").symlink_to(small / "p/README.md")
    run_well("init", "--agents", small / "p")
    write_files(small / OWN, {"claude/own.md": "zebra", "own.md": "zebra"})
    status, _, told = run_main(capsys, "index", "-C", "agents", "--embedder", "none")
    palace = Palace(small / OWN)
    assert status == 0
    read = "agents/p/AGENTS.md claude/CLAUDE.md claude/p/CLAUDE.md claude/projects/-p/memory/a/b.md"
    assert [*palace.snapshot().paths] == [*read.split(), "letta/agents/x/memory/m.md", "own.md"]
    for path in ("gemini/p/GEMINI.md", "claude/rules", "claude/projects/-p/memory/out.md"):
        assert f"{path}: is a symbolic link that leads to a file that no source names" in told
    assert not [hit for hit in palace.query("hush AKIA").hits if "hush" in hit.snippet]
    (small / ".claude/CLAUDE.md").unlink()
    (small / ".claude/CLAUDE.md").symlink_to(small / "p/.env")
    assert "symbolic link" in run_main(capsys, "show", "claude/CLAUDE.md", "-C", "agents")[2]


def test_what_vanishes_leaves_the_index_and_what_cannot_be_read_is_named(small, capsys):
    run_well("init", "--agents", small / "p")
    run_well("index", "-C", "agents", "--embedder", "none")
    assert (small / OWN / Palace(small / OWN).remember("Zoe is a zebra.").path).is_file()
    (small / ".letta").rename(small / "gone")
    (small / ".claude/CLAUDE.md").unlink()
    os.mkfifo(small / ".claude/CLAUDE.md")
    status, _, told = run_main(capsys, "index", "-C", "agents")
    assert status == 7
    assert f"letta: there is no folder {small}/.letta any more" in told
    assert "claude/CLAUDE.md: is not a regular file" in told
    assert sorted(Palace(small / OWN).snapshot().paths) == [
        *(f"Inbox/inbox-{today()}.md", "agents/p/AGENTS.md", "claude/projects/-p/memory/a/b.md")
    ]


def test_init_again_keeps_projects_and_names_and_drops_what_is_gone(small, capsys):
    for folder in ("p", "q/p", "rules"):
        write_files(small, {f"{folder}/CLAUDE.md": folder})
        run_well("init", "--agents", small / folder)
    (small / "rules").rename(small / "gone")
    out, _ = run_well("init", "--agents")
    assert f"claude/p-2              1  {small}/q/p\n" in out
    assert "rules" not in out
    assert run_main(capsys, "init", "--agents", small / "rules")[0] == 2
    assert Palace.init(small / "p", here=True).paths.sources == ()
    sources_path().write_text('{"palace": []')
    status, _, told = run_main(capsys, "index", "-C", small / OWN)
    assert (status, told.count("\n")) == (2, 1)
    assert f"{sources_path()} cannot be read" in told


PATTERNS = ("projects/*/memory/**/*.md", ".cursor/rules/**/*.mdc", "*.md")
NAMED = ("projects/-p", "projects/-p/memory/a/b.md", ".cursor/rules/a.mdc")
UNNAMED = ("projects/a.md", "projects/-p/memory/.git/c.md", ".cursor/a.b", ".a.md")


@pytest.mark.parametrize("path", (*NAMED, *UNNAMED))
def test_a_pattern_names_visible_notes_and_the_folders_on_the_way(path):
    source = NoteSource("x", "/x", PATTERNS)
    assert source.takes(path, is_folder="." not in path) is (path in NAMED)
