import pytest
from running import commit_all, git

from memory_palace.errors import UsageError
from memory_palace.palace import Palace

CARD = """---
status: active
last_updated: 2026-01-01
---
# Swap packs

- [ ] fresh packs

## Goal

- [ ] fresh packs

## Acceptance Checks

<!--
- [ ] fresh packs
-->
- [ ] fresh packs
* [X] all 3 logged
  + [ ] fresh packs

## Next Action

- [ ] fresh packs
"""
PLACE = "dispatch_corridor/active/2026-10-01_swap.md"


def ticks(palace):
    return [check.is_ticked for check in palace.tasks.show("swap").checks]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("number", "line"), [(1, 17), (3, 19)])
def test_the_check_of_a_number_is_ticked_and_nothing_else(palace, end, number, line):
    file = palace.paths.notes / PLACE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(CARD.replace("\n", end).encode())
    done = palace.tasks.tick("swap", number, apply=True)
    assert done.paths == (f"palace/{PLACE}",)
    before, after = CARD.split("\n"), file.read_bytes().decode().split(end)
    changed = [
        place for place, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1
    ]
    assert changed == [2, line]
    assert after[line] == before[line].replace("[ ]", "[x]")
    assert ticks(palace) == [number == 1, True, number == 3]
    palace.tasks.tick("swap", number, untick=True, apply=True)
    assert ticks(palace) == [False, True, False]


def test_a_check_is_named_by_a_text_that_it_alone_has(palace, write):
    write(PLACE, CARD)
    palace.tasks.tick("swap", "LOGGED", untick=True, apply=True)
    assert ticks(palace) == [False, False, False]
    for wanted in ("fresh packs", "a", "4", "0", "", "nothing like it", -1):
        with pytest.raises(UsageError, match="give a number:\n1 fresh packs\n2 all 3 logged\n3"):
            palace.tasks.tick("swap", wanted, apply=True)


def test_what_is_ticked_stays_as_it_is_and_without_apply_a_tick_is_only_shown(palace, write):
    write(PLACE, CARD)
    assert "+- [x] fresh packs" in palace.tasks.tick("swap", 1).diff
    assert palace.tasks.tick("swap", 2, apply=True).diff == ""
    assert (palace.paths.notes / PLACE).read_text() == CARD


def test_the_checks_of_a_completed_card_say_why_it_is(palace, write):
    write(PLACE.replace("active", "completed"), CARD)
    with pytest.raises(UsageError, match="reopen it first"):
        palace.tasks.tick("swap", 1)


@pytest.mark.parametrize("is_committed", [True, False])
def test_in_git_a_card_is_made_ticked_and_completed_without_a_commit(tmp_path, is_committed):
    palace = Palace.init(tmp_path)
    git(tmp_path, "init")
    palace.tasks.new(
        "Swap", owner="wren", project="frost", goal="Fresh.", checks=["a", "b"], apply=True
    )
    if is_committed:
        commit_all(tmp_path)
    for number in (1, 2):
        assert palace.tasks.tick("swap", number, apply=True).identity
    assert palace.tasks.move("complete", "swap", apply=True).identity
    assert palace.tasks.show("swap").state == "completed"
