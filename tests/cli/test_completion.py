import subprocess
import sys
from pathlib import Path

import pytest
from writing_notes import write_notes

from memory_palace.cli.app import main

NOTES = {
    "chambers/Ada Wren.md": "---\ntitle: The keeper\ntags: [people, work/hut]\n---\nAda.\n",
    "project_rooms/hut/Rain gauge.md": "# Rain gauge\n\nIt drifts. #work/gauge\n",
    "project_rooms/hut/[odd] $name.md": "# Odd\n\nA name for a shell.\n",
    "dispatch_corridor/active/swap-packs.md": "# Swap packs\n\nFresh ones.\n",
    "project_rooms/hidden.md": "---\nprivate: true\ntitle: Rain of secrets\ntags: [wore]\n---\nx\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("completion")
    write_notes(root / "palace", NOTES)
    main(["-C", str(root), "index", "-q", "--embedder", "none"])
    (root / "elsewhere" / "folder").mkdir(parents=True)
    return root


@pytest.fixture
def tab(root, monkeypatch, capsys):
    """Return what Tab offers in bash for words of which the last is unfinished."""
    monkeypatch.chdir(root)
    monkeypatch.delenv("PALACE_ROOT", raising=False)

    def offered(*words):
        with monkeypatch.context() as patch, pytest.raises(SystemExit) as ended:
            patch.setenv("_PALACE_COMPLETE", "complete_bash")
            patch.setenv("COMP_WORDS", "\n".join(["palace", *words]))
            patch.setenv("COMP_CWORD", str(len(words)))
            main([])
        printed = capsys.readouterr()
        assert (ended.value.code, printed.err) == (0, "")
        return printed.out.split() if printed.out.isspace() else printed.out.splitlines()

    return offered


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["qu"], ["query"]),
        (["m"], ["models", "metabolism", "mcp", "memory"]),
        (["graph", "o"], ["orphans"]),
        (["query", "--de"], ["--details"]),
        (["query", "--room", "ch"], ["chambers"]),
        (["query", "--profile", "bm"], ["bm25"]),
        (["list", "--sort", ""], ["path", "date"]),
        (["show", "Ra"], [r"Rain\ gauge"]),
        (["show", '"Rain g'], ["Rain gauge"]),
        (["show", "palace/ch"], [r"palace/chambers/Ada\ Wren.md"]),
        (["graph", "route", "Rain", "Ada"], [r"Ada\ Wren"]),
        (["query", "--in", "palace/p"], ["palace/project_rooms", "palace/project_rooms/hut"]),
        (["query", "--in", "ch"], ["chambers"]),
        (["query", "--tag", "wo"], ["work/gauge", "work/hut"]),
        (["-C", "elsewhere/"], ["elsewhere/folder/"]),
        (["show", "zzz"], []),
        (["task", "show", ""], ["swap-packs"]),
    ],
    ids=" ".join,
)
def test_tab_offers(tab, words, offered):
    assert tab(*words) == offered


def test_the_palace_that_is_typed_is_the_one_that_is_read(tab, root, monkeypatch):
    monkeypatch.chdir("/")
    assert tab("show", "Ra") == []
    assert tab("-C", str(root), "show", "Ra") == [r"Rain\ gauge"]
    assert tab("show", "-C", str(root), "Ra") == [r"Rain\ gauge"]


def test_a_folder_below_home_keeps_its_tilde(tab, root, monkeypatch):
    monkeypatch.setenv("HOME", str(root))
    assert tab("-C", "~/else") == ["~/elsewhere/"]


def test_names_of_palaces_are_offered(tab, root, monkeypatch, capsys):
    main(["config", "register", "kept", str(root)])
    capsys.readouterr()
    monkeypatch.chdir("/")
    assert tab("-C", "ke") == ["kept"]
    assert tab("show", "-C", "ke") == ["kept"]
    assert tab("-C", "kept", "show", "Ra") == [r"Rain\ gauge"]
    main(["config", "register", "kept", "--remove"])


@pytest.mark.parametrize("damage", ["none", "broken"])
def test_without_a_sound_index_tab_is_silent(tab, tmp_path, monkeypatch, damage):
    (tmp_path / "palace" / ".index").mkdir(parents=True)
    if damage == "broken":
        (tmp_path / "palace" / ".index" / "INDEX.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    for words in (["show", ""], ["query", "--tag", ""], ["query", "--in", "x"]):
        assert tab(*words) == []
    assert tab("sho") == ["show"]


def start(command, folder, **environment):
    """Run a command as a user whose home is the folder."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    environment = {"PATH": path, "HOME": str(folder), "SHELL": "/bin/bash", **environment}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_bash_completes_with_the_script_that_is_installed(root):
    script = """
    eval "$(_PALACE_COMPLETE=source_bash palace)"
    COMP_WORDS=(palace show Rai) COMP_CWORD=2
    _palace_completion palace
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = start(["bash", "--norc", "-c", script], root)
    assert (done.stdout, done.stderr) == ("Rain\\ gauge\n", "")


def test_installing_writes_the_users_shell_and_no_more(root, tmp_path):
    done = start(["bash", "--norc", "-c", "palace --install-completion; true"], tmp_path)
    assert "completion installed" in done.stdout, done.stderr
    written = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {".bashrc", "palace.sh"}


def test_tab_loads_no_model(root):
    code = (
        "import sys\nfrom memory_palace.cli.app import main\n"
        "try: main([])\nexcept SystemExit: pass\n"
        "print([n for n in ('tokenizers', 'watchdog') if n in sys.modules])"
    )
    zsh = {"_PALACE_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "palace show Ra"}
    done = start([sys.executable, "-c", code], root, **zsh)
    assert "Rain gauge" in done.stdout and done.stdout.splitlines()[-1] == "[]", done.stderr
