"""An agent's day with a palace, by MCP alone: no step needs an editor, a shell or a second try."""

import re
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs the extra [mcp]")

from agents.talking import MODERN, OLDER, ask, connect, run

from memory_palace import Palace

pytestmark = pytest.mark.mcp


@pytest.mark.parametrize("mode", [MODERN, OLDER])
def test_an_agents_day(tmp_path: Path, mode: str) -> None:
    palace = Palace.init(tmp_path)
    folder = tmp_path / "palace" / "project_rooms" / "mill"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mill.md").write_text("# The mill\n\nThe wheel turns at dawn.\n", "utf-8")
    palace.index(embedder="hashing")

    async def morning() -> None:
        async with connect(tmp_path, mode=mode, PALACE_AGENT="wren") as client:
            kept = await ask(
                client,
                "remember",
                text="The sluice gate jams when the river is above 2.4 metres; grease the hinge.",
                title="Sluice gate",
                tags=["mill"],
            )
            place = kept.split("\n")[0]
            assert re.fullmatch(r"palace/\S+\.md:\d+-\d+", place)
            found = await ask(client, "search", query="why does the sluice gate jam?")
            cited = next(line.split("  ")[0] for line in found.split("\n") if ".md:" in line)
            assert cited.split(":")[0] == place.split(":")[0]
            assert "grease the hinge" in await ask(client, "read", note=cited)
            assert "grease the hinge" in await ask(client, "read", note=place)

            added = await ask(
                client,
                "remember",
                text="The wheel was stopped for repairs on Monday.",
                note="The mill",
                under="Log",
            )
            assert "stopped for repairs" in await ask(client, "read", note=added.split("\n")[0])
            assert added.startswith("palace/project_rooms/mill/mill.md:")

            card = await ask(
                client,
                "tasks",
                action="new",
                title="Grease the hinge",
                project="mill",
                goal="The gate opens by hand",
                checks=["hinge greased", "gate opened twice"],
            )
            assert "active  0/2" in card
            assert "Grease the hinge" in await ask(client, "tasks", action="list")
            assert "1 [x] hinge greased" in await ask(
                client, "tasks", action="tick", card="Grease the hinge", number=1
            )
            assert "active  2/2" in await ask(
                client, "tasks", action="tick", card="Grease the hinge", number="2"
            )
            done = await ask(client, "tasks", action="complete", card="Grease the hinge")
            assert "completed  2/2" in done
            assert "no task cards are open" in await ask(client, "tasks", action="list")

            right = "The sluice gate jams when the river is above 2.4 metres."
            wrong = "The sluice gate jams when the river is above 9.7 metres."
            good = await ask(client, "verify", answer=right, notes=[place])
            bad = await ask(client, "verify", answer=wrong, notes=place)
            assert good.startswith("quoted") and bad.startswith("contradicted")
            anywhere = await ask(client, "verify", answer=wrong)
            assert anywhere.startswith("contradicted") and place.partition(":")[0] in anywhere

    async def evening() -> None:
        async with connect(tmp_path, mode=mode) as client:
            said = "the sluice gate is jammed again and the river is high"
            assert "grease the hinge" in await ask(client, "recall", text=said)
            assert "stopped for repairs" in await ask(
                client, "search", query="wheel repairs Monday"
            )

    run(morning)
    run(evening)
