"""What the skill tells an agent to type works as it stands, in the sample palace."""

import json
import re
import shlex
import shutil

import pytest
from copying_palaces import copy_sample
from running import run_main

from memory_palace.features.agents.plugin import make_files

SKILL = make_files("claude", ["/opt/palace"])[
    "memory-palace/skills/memory-palace/SKILL.md"
].decode()
LINES = [
    line
    for block in re.findall(r"```sh\n(.*?)```", SKILL, re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    return copy_sample(tmp_path_factory.mktemp("skill"), embedder="hashing").paths.root


@pytest.fixture
def sample(indexed, tmp_path):
    """A copy for each test: what one ticks another finds ticked."""
    return shutil.copytree(indexed, tmp_path / "skill")


@pytest.mark.parametrize("line", LINES)
def test_each_command_of_the_skill_does_what_it_says(line, sample, capsys, monkeypatch):
    monkeypatch.delenv("PALACE_AGENT", raising=False)
    program, *words = shlex.split(line, comments=True)
    assert program == "palace"
    status, out, err = run_main(capsys, "-C", str(sample), *words)
    assert status == 0, err
    assert out
    if "--json" in words:
        assert "error" not in json.loads(out)


def test_what_is_remembered_is_found_and_what_is_ticked_is_ticked(sample, capsys):
    for line in LINES:
        run_main(capsys, "-C", str(sample), *shlex.split(line, comments=True)[1:])
    texts = [shlex.split(line)[3] for line in LINES if " remember --json " in line]
    assert len(texts) == 2
    for kept in texts:
        _, out, _ = run_main(capsys, "-C", str(sample), "query", "--json", kept)
        assert kept in "".join(hit["text"] for hit in json.loads(out)["hits"])
    (card,) = (sample / "palace" / "dispatch_corridor" / "active").glob("*leave-on-paper.md")
    boxes = re.findall(r"^- \[.\]", card.read_text("utf-8"), re.MULTILINE)
    assert boxes[0] == "- [x]"


def test_the_skill_names_the_six_tools_of_the_server():
    for tool in ("search", "read", "recall", "remember", "tasks", "verify"):
        assert re.search(rf"# {tool}\b", SKILL), tool
