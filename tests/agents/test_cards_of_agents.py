"""Where the cards of agents lie: in the corridor there is, else in their inbox."""

import pytest

from memory_palace.errors import UsageError
from memory_palace.features.agents.tools import list_tools
from memory_palace.palace import Palace


def tasks(palace, action, agent=None, **given):
    return list_tools()["tasks"].call(palace, {"action": action, **given}, agent)


NEW = {"title": "Mend", "project": "house", "goal": "dry", "checks": ["no drips"]}


def notes_below(root):
    found = (path.relative_to(root).as_posix() for path in root.rglob("*.md"))
    return {path.partition("/active/")[0] for path in found}


@pytest.mark.parametrize(
    ("settings", "folder", "corridor"),
    [
        ("", "", "Inbox/Tasks"),
        ("inbox: Agents/Post\n", "", "Agents/Post/Tasks"),
        ("rooms: {To do: dispatch_corridor}\n", "To do", "To do"),
        ("", "dispatch_corridor", "dispatch_corridor"),
    ],
)
def test_a_card_of_an_agent_lies_in_the_corridor_or_in_the_inbox(
    tmp_path, settings, folder, corridor
):
    (tmp_path / ".palace").mkdir()
    (tmp_path / ".palace" / "palace.yaml").write_text(settings)
    (tmp_path / folder).mkdir(exist_ok=True)
    said = tasks(Palace(tmp_path), "new", agent="Claude Code", **NEW)
    assert f"\n{corridor}/active/" in said
    assert notes_below(tmp_path) == {corridor}
    tasks(Palace(tmp_path), "new", agent="codex", **{**NEW, "title": "Paint"})
    assert notes_below(tmp_path) == {corridor}
    tasks(Palace(tmp_path), "tick", card="mend", number=1)
    assert f"{corridor}/completed/" in tasks(Palace(tmp_path), "complete", card="mend")
    assert "Paint" in tasks(Palace(tmp_path), "list")


def test_a_card_of_an_agent_lies_in_the_corridor_of_a_classic_palace(tmp_path):
    palace = Palace.init(tmp_path)
    assert "\npalace/dispatch_corridor/active/" in tasks(palace, "new", agent="wren", **NEW)


def test_a_person_is_told_which_folder_is_missing_and_finds_the_cards_of_agents(tmp_path):
    (tmp_path / ".palace").mkdir()
    given = {**NEW, "owner": "ilse"}
    with pytest.raises(UsageError, match="or --apply makes the folder dispatch_corridor"):
        Palace(tmp_path).tasks.new(**given)
    tasks(Palace(tmp_path), "new", agent="codex", **NEW)
    palace = Palace(tmp_path)
    change = palace.tasks.new(**{**given, "title": "Paint"}, apply=True)
    assert change.paths[0].startswith("Inbox/Tasks/active/")
    assert {card.document.title for card in palace.tasks.list()} == {"Mend", "Paint"}
