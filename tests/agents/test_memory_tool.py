"""The memory tool: documented examples, also by the official SDK; undo, secrets, attacks."""

import importlib.util
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from running import commit_all, run_well
from writing_notes import index_notes

from memory_palace import Palace, UsageError
from memory_palace.features.agents.memory_tool import FIELDS, PalaceMemoryTool

PAGE = Path(__file__).with_name("memory_tool.md").read_text("utf-8")
BLOCKS = re.findall(r"```json\n({.*?})\n```\n```text\n(.*?)\n```", PAGE, re.DOTALL)
EXAMPLES = [(json.loads(given), answer) for given, answer in BLOCKS]
NO_SDK = importlib.util.find_spec("anthropic") is None
SDK = [pytest.mark.anthropic, pytest.mark.skipif(NO_SDK, reason="needs the extra [anthropic]")]
SECRET = "the key is AKIAIOSFODNN7EXAMPLE"
NOTES = {
    "memories/plan.md": "# Plan\n\nThe rain gauge is levelled in May.\n",
    "memories/mixed.md": f"# Mixed\n\n{SECRET}\n\n<private>diary</private>\n\nopen\n",
    "memories/own.md": "---\nprivate: true\n---\n# Own diary\n",
    "frost.md": "# Frost\n\nSee [[memories/plan]].\n",
    "bread.md": "# Bread\n",
}
PLACES = json.loads(re.findall(r"```json\n(\[.*?\])\n```", PAGE, re.DOTALL)[0])
ODD = (None, True, -1, 1.5, 10**30, "", "\0", "\ud800", "\n", "é" * 3000, [], [1, 2], {}, {"a": 1})


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    root, outside = tmp_path / "notes", tmp_path / "outside"
    palace = index_notes(root, NOTES)
    outside.mkdir()
    (outside / "x.md").write_text("# Outside\n", "utf-8")
    for name, target in {"way": outside, "up": root, "link.md": root / "bread.md"}.items():
        (root / "memories" / name).symlink_to(target)
    return palace


def read_all(palace: Palace) -> dict[str, bytes]:
    files = (path for path in palace.paths.root.parent.rglob("*") if path.is_file())
    return {path.as_posix(): path.read_bytes() for path in files if ".palace" not in path.parts}


def do(tool: PalaceMemoryTool, command: str, *values: object) -> str:
    return tool.call({"command": command, **dict(zip(FIELDS[command], values, strict=False))})


@pytest.mark.parametrize("by", ["mappings", pytest.param("types of the SDK", marks=SDK)])
def test_documented_commands_get_the_documented_answers(by: str, tmp_path: Path) -> None:
    tool = index_notes(tmp_path, {}).memory_tool()
    for given, answer in EXAMPLES:
        if by != "mappings":
            from anthropic.types import beta
            from pydantic import TypeAdapter

            given = TypeAdapter(beta.BetaMemoryTool20250818Command).validate_python(given)
        assert tool.execute(given) == answer


@pytest.mark.anthropic
@SDK[1]
def test_the_runner_of_the_sdk_takes_it(tmp_path: Path) -> None:
    import anthropic
    import httpx2

    asked: list[Any] = []

    def reply(request: Any) -> Any:
        asked.append(json.loads(request.content))
        told = [given for given, _ in EXAMPLES][len(asked) - 1 : len(asked)]
        called = {"type": "tool_use", "id": f"toolu_{len(asked)}", "name": "memory"}
        content = [{**called, "input": given} for given in told]
        message = {"id": "msg", "type": "message", "role": "assistant", "model": "any"}
        message |= {"usage": {"input_tokens": 1, "output_tokens": 1}}
        message |= {"stop_reason": "tool_use" if content else "end_turn"}
        message |= {"content": content or [{"type": "text", "text": "Done."}]}
        return httpx2.Response(200, json=message)

    http = anthropic.DefaultHttpxClient(transport=httpx2.MockTransport(reply))
    start = {"role": "user", "content": "Remember the plan."}
    tools: Any = [index_notes(tmp_path, {}).memory_tool()]
    with anthropic.Anthropic(api_key="none", http_client=http) as client:
        run = client.beta.messages.tool_runner
        run(model="any", max_tokens=9, messages=[start], tools=tools).until_done()
    assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [one["messages"][-1]["content"][0]["content"] for one in asked[1:]]
    assert results == [answer for _, answer in EXAMPLES]


def test_each_write_is_one_change_that_undo_takes_back(palace: Palace) -> None:
    tool, root = palace.memory_tool(), palace.paths.root
    commit_all(root)
    writes: list[tuple[Any, ...]] = [
        ("create", "/memories/new/notes.txt", "Oars in the shed.\n"),
        ("str_replace", "/memories/plan.md", "June", "May"),
        ("insert", "/memories/plan.md", "x", 3),
        ("rename", "/memories/plan.md", "/memories/a/b.md"),
        ("delete", "/memories/plan.md"),
    ]
    for number, given in enumerate(writes):
        before = read_all(palace)
        assert "Error" not in do(tool, *given)
        assert read_all(palace) != before
        assert len(palace.changes.log()) == 2 * number + 1
        run_well("-C", root, "undo", "--apply")
        assert read_all(palace) == before
    assert [do(tool, *given)[0] for given in (writes[0], writes[3])] == ["F", "S"]
    assert palace.query("where are the oars")[0].path == "memories/new/notes.txt.md"
    assert b"\norigin: agent\n" in (root / "memories/new/notes.txt.md").read_bytes()
    assert b"[[memories/a/b]]" in (root / "frost.md").read_bytes()


def test_what_is_private_or_secret_is_neither_written_nor_shown(palace: Palace) -> None:
    tool = palace.memory_tool()
    text = f"open\n{SECRET}\n<private>diary</private>\nend\n"
    said = [do(tool, "create", "/memories/new.md", text)]
    assert [f"line {number} was not written" in said[0] for number in (1, 2, 3)] == [0, 1, 1]
    before = read_all(palace)
    said += [
        str(before[str(palace.paths.root / "memories/new.md")]),
        do(tool, "view", "/memories/mixed.md"),
    ]
    assert "end" in said[1]
    assert said[2].count("[withheld]") == 2
    refused: list[tuple[Any, ...]] = [
        ("view", "/memories/own.md"),
        ("delete", "/memories/own.md"),
        ("create", "/memories/own.md", "x"),
        ("create", "/memories/z.md", "---\nprivate: yes\n---\nx"),
        ("create", "/memories/z.md", SECRET),
        ("create", "/memories/z.md", "x" * (1 << 20)),
        ("str_replace", "/memories/mixed.md", "", "<private>"),
        ("str_replace", "/memories/plan.md", "AKIAIOSFODNN7EXAMPLE", "May"),
        ("insert", "/memories/mixed.md", "x", 0),
        ("insert", "/memories/plan.md", "x", True),
    ]
    for given in refused:
        said.append(do(tool, *given))
        assert "Error: " in said[-1] or "does not exist" in said[-1], given
    said.append(do(tool, "view", "/memories"))
    assert not [one for one in said if re.search("AKIA|diary|own.md\n", one)]
    assert read_all(palace) == before


@pytest.mark.parametrize("folder", ["../outside", ".palace/x", "", "memories/way"])
def test_the_folder_is_one_of_the_notes(palace: Palace, folder: str) -> None:
    with pytest.raises(UsageError, match="outside the palace"):
        palace.memory_tool(folder=folder)


def test_malformed_commands_get_one_line_and_change_nothing(palace: Palace) -> None:
    tool, random, before = palace.memory_tool(), Random(37), read_all(palace)
    fields = {name for each in FIELDS.values() for name in each}
    for _ in range(5_000):
        given: Any = {name: random.choice((*PLACES, *ODD)) for name in sorted(fields)}
        given["command"] = random.choice((*[*FIELDS] * 4, *ODD))
        for name in random.sample(sorted(given), random.choice((0, 0, 0, 1, 2))):
            del given[name]
        said = tool.call(random.choice((*[given] * 30, None, [], "view", 1, vars)))
        assert said.startswith(("Error: ", "The path ", "No replacement ")), given
        assert [said] == said.splitlines() and str(palace.paths.root) not in said, given
    assert read_all(palace) == before
