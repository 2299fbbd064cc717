"""The ``llm`` library with this package beside it: its own command line, and a fake model."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from writing_notes import index_notes

pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif(importlib.util.find_spec("llm") is None, reason="needs the extra [llm]"),
]

FAKE = """
import json, sys
import llm
from llm.plugins import pm

class Fake(llm.Model):
    model_id = "fake"
    supports_tools = True

    def execute(self, prompt, stream, response, conversation):
        if prompt.tools and not prompt.tool_results:
            calls = json.loads(prompt.prompt)
            for name, arguments in calls:
                response.add_tool_call(llm.ToolCall(name=name, arguments=arguments))
            return
        yield "\\n".join(result.output for result in prompt.tool_results) or prompt.prompt

class Plugin:
    __name__ = "fake"

    @llm.hookimpl
    def register_models(self, register):
        register(Fake())

from llm.cli import cli
pm.register(Plugin())
cli(sys.argv[1:])
"""


@pytest.fixture
def notes(tmp_path):
    texts = {"boat.md": "# Boat\n\nThe boat leaks at the ```` bow.\n"}
    return index_notes(tmp_path / "my notes", texts).paths.root


@pytest.fixture
def llm(tmp_path, notes):
    """Return a function that runs llm's command line in the folder of the notes."""

    def run(*line, cwd=notes, **environ):
        given = {**os.environ, "LLM_USER_PATH": str(tmp_path / "llm"), **environ}
        command = [sys.executable, "-c", FAKE, *line]
        return subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True)

    return run


def call(llm, name, **arguments):
    done = llm("-m", "fake", "-T", name, json.dumps([[name, arguments]]))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_llm_knows_the_fragments_and_the_tools(llm):
    assert "palace:\n  Passages of the user's notes" in llm("fragments", "loaders").stdout
    tools = json.loads(llm("tools", "--json").stdout)["tools"]
    ours = {tool["name"]: tool for tool in tools if tool["plugin"] == "memory-palace"}
    assert ours.keys() == {"palace_search", "palace_read", "palace_remember"}
    assert ours["palace_search"]["arguments"]["properties"].keys() == {"query", "limit"}
    assert all(len(tool["description"]) < 400 for tool in ours.values())


def test_a_fragment_is_what_the_notes_have_on_it_in_a_fence(llm):
    done = llm("-m", "fake", "-f", "palace:where does the boat leak", "What now?")
    assert done.returncode == 0, done.stderr
    assert "boat.md:3" in done.stdout
    assert "\n`````\nThe boat leaks at the ```` bow.\n`````\n" in done.stdout
    assert done.stdout.endswith("What now?\n")


def test_a_fragment_of_nothing_is_an_error(llm):
    done = llm("-m", "fake", "-f", "palace:", "What now?")
    assert done.returncode == 1
    assert "Could not load fragment palace:" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_palace_is_the_one_that_a_command_would_ask(llm, tmp_path, notes):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    line = ("-m", "fake", "-f", "palace:where does the boat leak", "")
    assert "boat.md:3" in llm(*line, cwd=elsewhere, PALACE_ROOT=str(notes)).stdout
    done = llm(*line, cwd=elsewhere)
    assert done.returncode == 1
    assert "palace init" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_finds_reads_and_keeps(llm, notes):
    assert "boat.md:3" in call(llm, "palace_search", query="where does the boat leak")
    assert "The boat leaks" in call(llm, "palace_read", note="boat.md:3-3")
    place = call(llm, "palace_remember", text="The oars are in the shed.").strip()
    assert "The oars are in the shed." in call(llm, "palace_read", note=place)
    assert place.partition(":")[0] in call(llm, "palace_search", query="where are the oars")


@pytest.mark.parametrize("note", ["../../etc/passwd", "/etc/passwd", "nothing.md", "boat.md:9-99"])
def test_a_model_is_told_what_it_did_wrong(llm, note):
    assert call(llm, "palace_read", note=note).startswith("Error: ")


def test_a_secret_is_not_kept(llm, notes):
    secret = "the key is AKIAIOSFODNN7EXAMPLE"
    call(llm, "palace_remember", text=secret)
    assert all(secret not in path.read_text() for path in notes.rglob("*.md"))


def test_other_use_of_llm_imports_nothing_of_ours():
    """Only the package itself and the plug-in: numpy, typer and the engine wait for a question."""
    script = (
        "import sys, llm.plugins; before = set(sys.modules); llm.plugins.load_plugins();"
        "import llm.cli;"
        "print(sorted(m for m in sys.modules if m.startswith('memory_palace') or m == 'typer'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    plugin = "memory_palace.features.agents.llm_plugin".split(".")
    ours = [".".join(plugin[:end]) for end in range(1, 5)]
    assert done.stdout == f"{ours}\n", done.stderr
