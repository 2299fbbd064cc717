"""What the tools say names tools and their arguments; commands are for the person to run."""

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra [mcp]")

from writing_notes import index_notes

from memory_palace import Palace
from memory_palace.features.agents.mcp_server import HeldPalace, Session

pytestmark = pytest.mark.mcp

ASKED = re.compile(r"ask the person to run `palace [^`]+`|`palace [^`]+`, run by the person")
COMMAND = re.compile(r"palace (?:show|list|index|task|init|doctor|models|cold)\b|(?:^|\W)--[a-z]+")
NOTES = {
    "frost.md": "# Frost\n\nThe gauge drifts" + " and is read again each morning" * 20 + ".\n",
    "archive_basement/old.md": "# Old\n\nThe windmill burned down.\n",
}
NEW = {"title": "Mend", "project": "house", "goal": "dry", "checks": ["no drips"]}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read", {"note": "zzz"}),
    ("read", {"note": "archive_basement/old.md"}),
    ("read", {"note": "frost:900-901"}),
    ("search", {"query": "x", "folder": "zzz"}),
    ("search", {"query": "x", "since": "zzz"}),
    ("verify", {"answer": "It rains.", "notes": ["zzz"]}),
    ("remember", {"text": "x", "note": "zzz"}),
    ("remember", {"text": "x", "note": "archive_basement/old.md"}),
    ("remember", {"text": "x", "note": "frost", "under": " "}),
    ("tasks", {"action": "show", "card": "zzz"}),
    ("tasks", {"action": "complete", "card": "mend"}),
    ("tasks", {"action": "block", "card": "mend", "reason": "\n"}),
    ("tasks", {"action": "reopen", "card": "mend", "reason": "x"}),
    ("tasks", {"action": "tick", "card": "mend", "number": 9}),
)


class Server:
    """A session without its pipes."""

    def __init__(self, root: Path) -> None:
        held = HeldPalace(lambda: Palace.discover(root), update=lambda *_: None)
        self._session = Session(held)

    def ask(self, tool: str, **given: Any) -> str:
        said, is_error = self._session.call(tool, given, "Claude Code")
        assert not is_error, said
        return said

    def refuse(self, tool: str, **given: Any) -> str:
        said, is_error = self._session.call(tool, given, "Claude Code")
        assert is_error and "a defect" not in said, said
        assert not COMMAND.search(ASKED.sub("", said)), said
        return said


@pytest.mark.parametrize(("tool", "given"), CALLS, ids=lambda part: str(part)[:60])
def test_what_is_wrong_with_a_call_is_said_without_commands(
    server: Server, tool: str, given: dict[str, Any]
) -> None:
    server.refuse(tool, **given)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    root = tmp_path_factory.mktemp("notes")
    index_notes(root, NOTES)
    found = Server(root)
    found.ask("tasks", action="new", **NEW)
    return found


def test_what_is_cut_says_how_to_read_the_rest(server: Server) -> None:
    found = server.ask("search", query="gauge drifts", budget=300)
    assert re.search(r"… \[cut: read frost\.md:\d+(-\d+)?\]", found)
    card = server.ask("tasks", action="new", **{**NEW, "title": "Wall", "goal": "dry " * 2_000})
    path = card.split()[1]
    assert card.endswith(f"… [cut: read {path}]\n```")
    for number in range(8):
        title = f"Fence {number} {'of many in a row ' * 30}"
        server.ask("tasks", action="new", **{**NEW, "title": title})
    assert "… [cut: 10 in all]" in server.ask("tasks", action="list")


def test_a_palace_or_an_index_that_is_missing_is_the_persons_to_make(tmp_path: Path) -> None:
    (tmp_path / "frost.md").write_text("# Frost\n")
    said = Server(tmp_path).refuse("search", query="frost")
    assert "`palace init --here`, run by the person, takes a folder of notes" in said
    (tmp_path / ".palace").mkdir()
    said = Server(tmp_path).refuse("recall", text="frost")
    assert said.endswith("; ask the person to run `palace index`")
