"""Each plug-in field by field against the shape its harness has published.

Read and tried on 2026-11-22 with Claude Code 2.1.330 (code.claude.com/docs/en/plugins-reference),
Codex 0.169.0 (developers.openai.com/codex/plugins/build, openai/codex codex-rs/core-plugins and
codex-rs/hooks) and OpenClaw 2026.9.6 (docs/plugins/manifest.md of its package).
"""

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from writing_notes import index_notes

from memory_palace import __version__
from memory_palace.features.agents.plugin import (
    NAME,
    compare_tree,
    find_program,
    make_files,
    write_tree,
)

PROGRAM = ["/home/wren/my tools/it's/palace", "-C", "/home/wren/$HOME notes"]
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SEMVER = re.compile(r"\d+\.\d+\.\d+")


@pytest.fixture(params=["claude", "codex", "openclaw"])
def harness(request):
    return request.param


@pytest.fixture
def tree(harness, tmp_path):
    write_tree(compare_tree(tmp_path / "plug", make_files(harness, PROGRAM)), {"palace": None})
    return tmp_path / "plug"


def read_json(path):
    return json.loads(path.read_text("utf-8"))


def front_matter_of(path):
    _, front, body = path.read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


def test_every_file_can_be_parsed_and_nothing_is_left_to_fill_in(tree):
    for path in filter(Path.is_file, tree.rglob("*")):
        text = path.read_text("utf-8")
        assert not re.search(r"@[A-Z]+@", text), path
        if path.suffix == ".json":
            assert json.loads(text)
        if path.suffix == ".md" and text.startswith("---"):
            assert front_matter_of(path)[0]["description"]


def check_servers(servers):
    """``command`` a string, ``args`` an array: no shell reads them."""
    assert servers == {"palace": {"command": PROGRAM[0], "args": [*PROGRAM[1:], "mcp"]}}


def check_hooks(hooks, harness):
    """Events to groups of ``{matcher?, hooks: [{type, command, timeout}]}``, as both read it."""
    assert hooks.keys() == {"hooks"}
    verbs = {}
    for event, groups in hooks["hooks"].items():
        ((hook,),) = [group["hooks"] for group in groups]
        assert hook.keys() == {"type", "command", "timeout"}
        assert hook["type"] == "command"
        assert 1 <= hook["timeout"] <= 60  # seconds in both
        words = shlex.split(hook["command"])
        assert words[: len(PROGRAM)] == PROGRAM
        verbs[event] = words[len(PROGRAM) :]
    assert verbs == {
        event: ["hook", verb, "--harness", harness]
        for event, verb in (("SessionStart", "session-start"), ("UserPromptSubmit", "prompt"))
    }


@pytest.mark.parametrize("harness", ["claude"], indirect=True)
def test_claude_finds_what_it_loads(tree):
    market = read_json(tree / ".claude-plugin/marketplace.json")
    assert KEBAB.fullmatch(market["name"])
    assert market["owner"]["name"]
    (entry,) = market["plugins"]
    assert entry["source"].startswith("./")  # relative to the marketplace's folder
    plugin = tree / entry["source"]
    manifest = read_json(plugin / ".claude-plugin/plugin.json")
    assert manifest["name"] == entry["name"] == NAME
    assert manifest["version"] == entry["version"] == __version__
    assert SEMVER.match(manifest["version"])
    assert manifest["author"]["name"]
    # Only the manifest is in .claude-plugin; the other parts are found in their default places, and
    # naming those in the manifest as well loads hooks twice.
    assert [path.name for path in (plugin / ".claude-plugin").iterdir()] == ["plugin.json"]
    assert not manifest.keys() & {"hooks", "skills", "commands", "mcpServers"}
    check_servers(read_json(plugin / ".mcp.json")["mcpServers"])
    check_hooks(read_json(plugin / "hooks/hooks.json"), "claude")
    for command in (plugin / "commands").iterdir():
        front, body = front_matter_of(command)
        assert front.keys() == {"description", "argument-hint"}
        assert "$ARGUMENTS" in body
        assert "!`" not in body, "what a user typed would reach a shell"


@pytest.mark.parametrize("harness", ["codex"], indirect=True)
def test_codex_finds_what_it_loads(tree):
    market = read_json(tree / ".agents/plugins/marketplace.json")
    assert KEBAB.fullmatch(market["name"])
    (entry,) = market["plugins"]
    assert entry["source"]["source"] == "local"
    assert entry["source"]["path"].startswith("./")
    assert entry["source"]["path"] != "./"  # a plug-in at the top is not found
    assert entry["policy"] == {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    assert entry["category"]
    plugin = tree / entry["source"]["path"]
    assert [path.name for path in (plugin / ".codex-plugin").iterdir()] == ["plugin.json"]
    manifest = read_json(plugin / ".codex-plugin/plugin.json")
    assert (manifest["name"], manifest["version"]) == (entry["name"], __version__)
    for field in ("skills", "mcpServers", "hooks"):
        assert manifest[field].startswith("./")
        assert (plugin / manifest[field]).exists()
    check_servers(read_json(plugin / manifest["mcpServers"])["mcpServers"])
    check_hooks(read_json(plugin / manifest["hooks"]), "codex")
    shown = manifest["interface"]
    known = {"displayName", "shortDescription", "developerName", "category", "capabilities"}
    assert shown.keys() == known
    assert (tree / "AGENTS.md").read_text().startswith("## ")  # to stand in a longer file


@pytest.mark.parametrize("harness", ["openclaw"], indirect=True)
def test_openclaw_finds_what_it_loads(tree):
    manifest = read_json(tree / "openclaw.plugin.json")
    assert manifest["id"] == NAME
    assert manifest["version"] == __version__
    assert manifest["kind"] == "memory"  # for the slot plugins.slots.memory
    assert manifest["categories"] == ["memory"]
    assert manifest["contracts"] == {"tools": ["memory_search", "memory_get"]}
    assert manifest["activation"] == {"onStartup": True}
    assert manifest["configSchema"]["type"] == "object"
    (server,) = manifest["mcpServers"].values()
    assert server.pop("transport") == "stdio"
    check_servers({"palace": server})
    for folder in manifest["skills"]:
        assert list((tree / folder).rglob("SKILL.md"))
    package = read_json(tree / "package.json")
    assert (package["name"], package["type"]) == (manifest["id"], "module")
    assert package["version"] == __version__
    assert "dependencies" not in package, "it is loaded as it stands"
    for entry in package["openclaw"]["extensions"]:
        assert (tree / entry).suffix == ".js"
        assert (tree / entry).is_file()


def test_the_skill_is_short_and_says_when_it_is_meant(tree):
    (path,) = tree.rglob("SKILL.md")
    front, body = front_matter_of(path)
    assert front["name"] == path.parent.name == NAME
    assert KEBAB.fullmatch(front["name"])
    assert len(front["name"]) <= 64
    assert 100 < len(front["description"]) <= 1024
    assert len(path.read_text().splitlines()) < 60
    assert shlex.join(PROGRAM) in body


# --- The program that they start ------------------------------------------------------------------


def test_the_program_is_found_where_there_is_no_environment(tmp_path):
    """Harnesses started from a desktop have neither the virtual environment nor ~/.local/bin."""
    done = subprocess.run(
        [*find_program(), "--version"], env={}, cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == (f"{__version__}\n", "")


def make_script(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_link_on_the_path_is_preferred_for_it_outlives_what_it_leads_to(tmp_path, monkeypatch):
    script = make_script(tmp_path / "venvs" / "memory-palace" / "bin" / "palace")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "palace").symlink_to(script)
    monkeypatch.setattr(sys, "argv", [str(script), "connect", "claude"])
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_program() == [str(tmp_path / "bin" / "palace")]


def test_another_palace_on_the_path_is_not_taken(tmp_path, monkeypatch):
    script = make_script(tmp_path / "mine" / "palace")
    make_script(tmp_path / "other" / "palace")
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("PATH", str(tmp_path / "other"))
    assert find_program() == [str(script)]


def test_without_a_script_the_interpreter_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["-c"])
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program() == [sys.executable, "-m", "memory_palace"]


# --- What the files start -------------------------------------------------------------------------


MESSAGES = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "where does the boat leak, did we say?"},
}


@pytest.fixture
def notes(tmp_path):
    texts = {"boat.md": "# Boat\n\nThe boat leaks at the bow, we said.\n"}
    return index_notes(tmp_path / "it's $HOME", texts).paths.root


def start(line, message, folder, **environ):
    """Run a hook's command line as its harness does: by a shell, with one message on stdin."""
    text = json.dumps({"session_id": "s", "cwd": str(folder)} | message)
    return subprocess.run(
        ["/bin/sh", "-c", line], input=text, env=environ, cwd=folder, capture_output=True, text=True
    )


@pytest.mark.parametrize("harness", ["claude", "codex"], indirect=True)
def test_each_hook_runs_in_an_empty_environment(harness, notes, tmp_path):
    files = make_files(harness, [*find_program(), "-C", str(notes)])
    hooks = json.loads(files[f"{NAME}/hooks/hooks.json"])["hooks"]
    assert hooks.keys() == MESSAGES.keys()
    for event, message in MESSAGES.items():
        done = start(hooks[event][0]["hooks"][0]["command"], message, tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), event
        if event == "UserPromptSubmit":
            assert "boat.md" in done.stdout


@pytest.mark.mcp
@pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="needs the extra [mcp]")
def test_the_server_answers_initialize(harness, notes, tmp_path):
    files = make_files(harness, [*find_program(), "-C", str(notes)])
    place = "openclaw.plugin.json" if harness == "openclaw" else f"{NAME}/.mcp.json"
    server = json.loads(files[place])["mcpServers"]["palace"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello |= {"clientInfo": {"name": "test", "version": "1"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    line = [server["command"], *server["args"]]
    done = subprocess.run(
        line, input=f"{json.dumps(request)}\n", env={}, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[0])
    assert answer["result"]["serverInfo"]["version"] == __version__
