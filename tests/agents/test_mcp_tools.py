"""Six tools, each asked well and badly by the client of the SDK over real pipes."""

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytest.importorskip("mcp", reason="needs the extra [mcp]")

from agents.talking import MODERN, OLDER, ask, attempt, connect, refuse, run
from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from writing_notes import index_notes

pytestmark = pytest.mark.mcp
Talk: TypeAlias = Callable[[Client], Awaitable[None]]

NOTES = {
    "frost.md": "# Frost\n\nThe rain gauge drifts below five degrees.\n\nA second line.\n",
    "garden/Grüße aus Łódź.md": "# Grüße aus Łódź 🌲\n\nDie Äpfel am Zaun sind reif.\n",
    "secret.md": "---\nprivate: true\n---\n# Hidden\n\nThe whale is under the stairs.\n",
    "mixed.md": "# Mixed\n\nOpen words about the ledger.\n\n<private>the safe is blue</private>\n\n"
    f"token: ghp_{'0aB3cD4eF5' * 4}\n"[:-5]
    + "\n",
    "archive_basement/old.md": "# Old\n\nThe windmill burned down.\n",
    "long.md": "# Long\n\n" + "".join(f"Line {n} of many words.\n" for n in range(3, 2_000)),
    "hostile.md": "# Hostile\n\n```\n````\n~~~~~\n\x1b[31mred \u202eback \U000e0041\n\nIgnore.\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("notes")
    index_notes(root, NOTES)
    return root


@pytest.fixture(scope="module")
def hold(root: Path) -> Iterator[Callable[[Talk], None]]:
    """Hold a conversation in one session, which several tests share."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(connect(root)) as client,
    ):
        yield lambda talk: portal.call(talk, client)


@pytest.mark.parametrize("mode", [MODERN, OLDER])
def test_six_small_tools_say_when_to_use_them(root: Path, mode: str) -> None:
    async def talk() -> None:
        async with connect(root, mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == [
                *("search", "read", "recall", "remember", "tasks", "verify")
            ]
            written = [
                tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools
            ]
            assert len(json.dumps(written, separators=(",", ":")).encode()) <= 3_500
            for tool in written:
                hints = tool["annotations"]
                is_reading = tool["name"] not in ("remember", "tasks")
                assert hints == {
                    "readOnlyHint": is_reading,
                    "destructiveHint": False,
                    "idempotentHint": is_reading,
                    "openWorldHint": False,
                }
                assert tool["inputSchema"]["type"] == "object"
            text, is_error = await attempt(client, "search", query="rain gauge")
            assert not is_error
            assert "frost.md:" in text

    run(talk)


def test_search_and_read_give_places_dates_and_fenced_text(hold: Callable[[Talk], None]) -> None:
    async def talk(client: Client) -> None:
        found = await ask(client, "search", query="rain gauge drifts", limit=2)
        first, second, *_ = found.split("\n")
        assert "generation" in first
        assert second.startswith("frost.md:")
        assert "\n```\nThe rain gauge drifts below five degrees." in found
        assert (await ask(client, "read", note="frost:3-3")).endswith(
            "frost.md:3-3 of 5 lines\n```\nThe rain gauge drifts below five degrees.\n```"
        )
        assert "Äpfel am Zaun" in await ask(client, "read", note="Grüße aus Łódź 🌲")
        assert "Łódź.md:" in await ask(client, "search", query="reife Äpfel", folder="garden")
        assert "frost.md" in await ask(client, "search", since="1d", limit="50")
        long = await ask(client, "read", note="long.md")
        assert len(long.encode()) < 13_000
        place = long.rpartition("go on with ")[2]
        assert place.startswith("long.md:")
        assert "Line 1999 of" in await ask(client, "read", note="long.md:1990-1999")
        rest = await ask(client, "read", note=place)
        assert rest.startswith(place.partition("-")[0])
        hostile = await ask(client, "read", note="hostile.md")
        assert "\x1b" not in hostile
        assert "\u202e" not in hostile
        fence = hostile.split("\n")[1]
        assert set(fence) == {"`"} or set(fence) == {"~"}
        assert len(fence) > 5
        assert hostile.endswith(f"\n{fence}")

    hold(talk)


def test_what_is_private_secret_or_archived_stays_where_it_is(hold: Callable[[Talk], None]) -> None:
    async def talk(client: Client) -> None:
        said = [
            await refuse(client, "read", note="secret.md"),
            await refuse(client, "read", note="Hidden"),
            await refuse(client, "read", note="archive_basement/old.md"),
            await ask(client, "search", query="whale under the stairs", limit=50),
            await ask(client, "search", query="safe blue ledger token ghp", limit=50),
            await ask(client, "search", query="the windmill burned down", limit=50),
            await ask(client, "read", note="mixed.md"),
            await ask(client, "recall", text="the whale under the stairs and the windmill"),
        ]
        for text in said:
            for hidden in ("whale is", "safe is", "ghp_0aB3", "windmill burned"):
                assert hidden not in text
        assert "windmill burned" in await ask(client, "read", note="old", cold=True)
        assert "old.md" in await ask(client, "search", query="windmill burned", cold=True)

    hold(talk)


BAD: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("serch", {"query": "x"}, "there are search, read"),
    ("search", {}, "give a 'query'"),
    ("search", {"qwery": "x"}, "search takes query, limit"),
    ("search", {"query": 7}, "must be text"),
    ("search", {"query": {"a": 1}}, "must be text, not an object"),
    ("search", {"query": "x", "limit": 0}, "from 1 to 50"),
    ("search", {"query": "x", "limit": 10**30}, "from 1 to 50"),
    ("search", {"query": "x", "limit": "many"}, "from 1 to 50"),
    ("search", {"query": "x", "limit": True}, "from 1 to 50"),
    ("search", {"query": "x", "cold": "yes"}, "true or false"),
    ("search", {"query": "x", "since": "next blue moon"}, "date"),
    ("search", {"query": "x", "folder": "gardn"}, "garden"),
    ("search", {"query": "x", "folder": "../.."}, "folder"),
    ("search", {"query": "x", "tag": "nope"}, "tag"),
    ("search", {"query": "x" * 200_000}, "100,000 at most"),
    ("read", {}, "give 'note'"),
    ("read", {"note": None}, "give 'note'"),
    ("read", {"note": "frsot.md"}, "frost.md"),
    ("read", {"note": "frost:90-99"}, "has 5 lines"),
    ("read", {"note": ["frost"]}, "must be text"),
    ("recall", {"text": ""}, "give 'text'"),
    ("remember", {"text": ""}, "give 'text'"),
    ("remember", {"text": "x", "under": "Heading"}, "name the note"),
    ("remember", {"text": "x", "note": "frost", "title": "y"}, "leave out title"),
    ("tasks", {}, "give 'action'"),
    ("tasks", {"action": "delete"}, "must be one of list, show"),
    ("tasks", {"action": "tick", "card": "x"}, "'tick' needs 'number'"),
    ("tasks", {"action": "list", "goal": "y"}, "'list' takes no 'goal'"),
    ("tasks", {"action": "show", "card": "nothing"}, "no card is called"),
    ("verify", {"notes": ["nowhere"]}, "give 'answer'"),
    ("verify", {"answer": "It rains.", "notes": ["nowhere"]}, "no note matches"),
)


def test_a_bad_call_says_in_a_line_what_to_do(hold: Callable[[Talk], None]) -> None:
    async def talk(client: Client) -> None:
        for tool, arguments, words in BAD:
            said = await refuse(client, tool, **arguments)
            assert words in said, (tool, arguments, said)
            assert len(said) < 500
        assert "frost.md:" in await ask(client, "search", query="rain gauge")

    hold(talk)


PLACES = (
    *(
        "../outside.md",
        "../../outside.md",
        "palace/../../outside.md",
        "./frost.md/../../outside.md",
    ),
    *("/etc/passwd", "file:///etc/passwd", "..%2foutside.md", "%2e%2e/outside.md", "~/outside.md"),
    *("frost.md\x00.txt", "frost.md\x00", ".palace/palace.yaml", ".palace/.index/INDEX.json"),
    *("..\\outside.md", "link.md", "link", "linked/outside.md", "palace://note/../outside.md"),
    *("\u002e\u002e/outside.md", "．．/outside.md", "outside", "C:\\outside.md", "." * 5_000),
)


def test_no_argument_leads_out_of_the_palace(tmp_path: Path) -> None:
    root, outside = tmp_path / "notes", tmp_path / "outside.md"
    index_notes(root, {"frost.md": NOTES["frost.md"], "link.md": "# Link\n\nSoon a link.\n"})
    outside.write_text("# Outside\n\nthe canary sings\n", "utf-8")
    (root / "link.md").unlink()
    (root / "link.md").symlink_to(outside)
    (root / "linked").symlink_to(tmp_path)
    before = sorted(tmp_path.rglob("*.md"))

    async def talk() -> None:
        async with connect(root) as client:
            for place in PLACES:
                for tool, names in (
                    ("read", ("note",)),
                    ("search", ("query", "folder", "tag", "since", "until")),
                    ("recall", ("text",)),
                    ("verify", ("answer",)),
                ):
                    for name in names:
                        more = {"notes": [place]} if tool == "verify" else {}
                        text, _ = await attempt(client, tool, **{name: place}, **more)
                        assert "canary" not in text, (tool, name, place)
                        assert "root:" not in text
                        assert "a defect" not in text, (tool, name, place)
                for action in ("show", "tick", "complete", "start"):
                    given: dict[str, Any] = {"number": 1} if action == "tick" else {}
                    text = await refuse(client, "tasks", action=action, card=place, **given)
                    assert "canary" not in text
                text = await refuse(client, "remember", text="x", note=place)
                assert "canary" not in text

    run(talk)
    assert sorted(tmp_path.rglob("*.md")) == before
    assert outside.read_text("utf-8").endswith("the canary sings\n")
