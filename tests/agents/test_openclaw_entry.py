"""The entry that OpenClaw loads, run by node with a command in the palace's place and with ours."""

import json
import shutil
import subprocess
import sys

import pytest
from writing_notes import index_notes

from memory_palace.features.agents.plugin import compare_tree, find_program, make_files, write_tree
from memory_palace.language.visible import visible
from memory_palace.shown import to_json

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(not NODE, reason="node is not installed")

HARNESS = """
import entry from "./index.js";
const [name, params, context] = JSON.parse(process.argv[2]);
const tools = {}, hooks = {}, warnings = [];
entry.register({
  registerTool: (tool) => (tools[tool.name] = tool),
  on: (event, handler) => (hooks[event] = handler),
  logger: { warn: (text) => warnings.push(text) },
});
const run = async () =>
  name in tools ? tools[name].execute("1", params) : hooks[name](params, context);
const answers = [];
for (let turn = 0; turn < 2; turn++)
  await run().then((found) => answers.push(found ?? null), (error) => answers.push(error.message));
const names = { tools: Object.keys(tools), hooks: Object.keys(hooks) };
console.log(JSON.stringify({ answers, warnings, ...names }));
"""
FAKE = """
import json, os, sys
with open(os.environ["CALLS"], "a") as file:
    file.write(json.dumps([sys.argv[1:], sys.stdin.read()]) + "\\n")
print(os.environ["SAYS"], end="")
print(os.environ.get("COMPLAINS", ""), end="", file=sys.stderr)
sys.exit(int(os.environ.get("STATUS", "0")))
"""


@pytest.fixture
def plug(tmp_path):
    """Return a function that runs a tool or a hook of the entry twice, and what came of it."""

    def run(name, params, *, program=None, context=None, **environ):
        folder = tmp_path / "plug in"
        fake = tmp_path / "fake palace.py"
        fake.write_text(FAKE)
        files = make_files("openclaw", program or [sys.executable, str(fake)])
        write_tree(compare_tree(folder, files), {"palace": None})
        (folder / "harness.mjs").write_text(HARNESS)
        calls = tmp_path / "calls"
        calls.unlink(missing_ok=True)
        line = [NODE, folder / "harness.mjs", json.dumps([name, params, context or {}])]
        environ = {"CALLS": str(calls), "SAYS": "", "PATH": "/usr/bin:/bin", **environ}
        done = subprocess.run(line, env=environ, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        made = calls.read_text().splitlines() if calls.exists() else []
        return json.loads(done.stdout), [json.loads(call) for call in made]

    return run


def hit(**given):
    return {
        "path": "a b.md",
        "line": 3,
        "last_line": 5,
        "confidence": 0.9,
        "date": "2026-05-01",
        "title": "A",
        "text": "said",
    } | given


def text_of(answer):
    ((part,),) = [answer["content"]]
    assert part["type"] == "text"
    return part["text"]


def test_it_registers_what_the_manifest_says(plug):
    found, _ = plug("memory_search", {"query": "a"}, SAYS='{"hits":[]}')
    manifest = json.loads(make_files("openclaw", ["palace"])["openclaw.plugin.json"])
    assert found["tools"] == manifest["contracts"]["tools"]
    assert found["hooks"] == ["before_prompt_build", "session_end"]


@pytest.mark.parametrize(
    "query",
    ["--help", "-k 9", "$(touch x) `id` ; rm -rf ~", 'it\'s "quoted"\nand\ttwo lines', "é🏔"],
)
def test_a_question_is_one_argument_whatever_stands_in_it(plug, query):
    found, calls = plug("memory_search", {"query": query, "maxResults": 3}, SAYS='{"hits":[]}')
    line, _ = calls[0]
    assert line[-2:] == ["--", query]
    assert line[:3] == ["query", "-k", "3"]
    assert text_of(found["answers"][0]) == "No note answers this."


def test_hits_have_a_place_a_date_and_a_fence_that_holds(plug):
    hostile = (
        "```\n````\nignore\x08\x0c\x1b[31m it\\u202e \\\\u\u202e\u200b\U000e0041👩\u200d🌾\ttab"
    )
    hits = to_json({"hits": [hit(text=hostile, title="T\u202e\nb.md:1-9")], "answered": True})
    found, _ = plug("memory_search", {"query": "a"}, SAYS=hits)
    head, opening, *inside, closing = text_of(found["answers"][0]).split("\n")
    assert head == "a b.md:3-5  0.90  2026-05-01  T<U+202E> b.md:1-9"
    assert opening == closing == "`````"
    assert "\n".join(inside) == visible(hostile)


def test_a_hit_without_text_that_does_not_answer_is_shown_as_the_nearest(plug):
    hits = json.dumps({"hits": [hit(text=None, confidence=None)], "answered": False})
    found, _ = plug("memory_search", {"query": "a"}, SAYS=hits)
    assert text_of(found["answers"][0]).startswith(
        "No note answers this. The nearest:\n\na b.md:3-5  "
    )


@pytest.mark.parametrize(
    ("params", "place"),
    [
        ({"path": "a b.md"}, "a b.md"),
        ({"path": "a b.md:3-5"}, "a b.md:3-5"),
        ({"path": "a b.md", "from": 7, "lines": 3}, "a b.md:7-9"),
        ({"path": "a b.md", "lines": 2}, "a b.md:1-2"),
        ({"path": "--root=/"}, "--root=/"),
    ],
)
def test_lines_are_read_in_a_fence(plug, params, place):
    found, calls = plug("memory_get", params, SAYS=to_json({"text": "one\n```\ntwo\n"}))
    assert calls[0][0] == ["show", "--json", "--", place]
    assert text_of(found["answers"][0]) == "````\none\n```\ntwo\n````"


def test_a_long_note_is_cut_inside_the_fence(plug):
    found, _ = plug("memory_get", {"path": "a.md"}, SAYS=to_json({"text": "word " * 20_000}))
    text = text_of(found["answers"][0])
    assert len(text) < 40_000
    assert text.endswith("… [cut: read fewer lines]\n```")


def test_what_goes_wrong_is_told_to_the_agent(plug):
    complaint = "palace: no note matches 'x'\n"
    found, _ = plug("memory_get", {"path": "x"}, STATUS="2", COMPLAINS=complaint)
    assert found["answers"] == [complaint.strip()] * 2
    says = to_json({"schema": 1, "error": {"code": 2, "kind": "UsageError", "message": "no note"}})
    found, _ = plug("memory_get", {"path": "x"}, STATUS="2", SAYS=says)
    assert found["answers"] == ["no note"] * 2


def test_a_program_that_is_gone_is_told_and_stops_no_turn(plug):
    gone = ["/nowhere/palace"]
    found, _ = plug("memory_search", {"query": "a"}, program=gone)
    assert all("/nowhere/palace" in answer for answer in found["answers"])
    found, _ = plug("before_prompt_build", {"prompt": "hello"}, program=gone)
    assert found["answers"] == [None, None]
    assert len(found["warnings"]) == 3


def test_a_prompt_is_prepended_with_what_the_hooks_say(plug):
    context = {"sessionKey": "s1", "workspaceDir": "/home/wren"}
    event = {"prompt": "history and all", "currentUserMessage": "what about the rain"}
    found, calls = plug("before_prompt_build", event, context=context, SAYS="notes")
    verbs = [line for line, _ in calls]
    hook = ["--harness", "openclaw"]
    assert sorted(verbs[:2]) == [["hook", "prompt", *hook], ["hook", "session-start", *hook]]
    assert verbs[2:] == [["hook", "prompt", *hook]], "a session begins once"
    assert found["answers"] == [{"prependContext": "notes\nnotes"}, {"prependContext": "notes"}]
    for _, message in calls:
        assert json.loads(message) == {
            "session_id": "s1",
            "cwd": "/home/wren",
            "prompt": "what about the rain",
        }
    found, _ = plug("before_prompt_build", {"prompt": "hello"}, SAYS="\n")
    assert found["answers"] == [None, None], "silence adds nothing"


def test_it_asks_a_palace(plug, tmp_path):
    home = tmp_path / "notes"
    index_notes(home, {"boat.md": "# Boat\n\nThe boat leaks at the bow.\n"})
    program = [*find_program(), "-C", str(home)]
    found, _ = plug("memory_search", {"query": "where does the boat leak"}, program=program)
    assert "boat.md:3-3" in text_of(found["answers"][0])
    assert "leaks at the bow" in text_of(found["answers"][0])
    found, _ = plug("memory_get", {"path": "boat.md", "from": 3, "lines": 1}, program=program)
    assert text_of(found["answers"][0]) == "```\nThe boat leaks at the bow.\n```"
    found, _ = plug("memory_get", {"path": "../../etc/passwd"}, program=program)
    assert "no note matches" in found["answers"][0]
