"""Cards as ten people write them by hand."""

import re
from pathlib import Path

import pytest
from running import commit_all

from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.tasks.cards import kind_of

ACTIVE = "dispatch_corridor/active"
CARDS = {
    name: (card, [check[2:] for check in checks.split("\n") if check])
    for name, card, checks in re.findall(
        r"^## (.*?)\n\n`````markdown\n(.*?)`````\n((?:\n|- [^\n]*\n)*)",
        Path(__file__).with_name("cards_as_written.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
}


@pytest.mark.parametrize(("card", "wanted"), CARDS.values(), ids=CARDS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_checks_are_found_and_ticked_as_people_write_them(palace, write, card, wanted, end):
    path = write(f"{ACTIVE}/card.md", "")
    (palace.paths.root / path).write_bytes(card.replace("\n", end).encode())
    shown = palace.tasks.show("card").checks
    assert [f"{'x ' * check.is_ticked}{check.text}" for check in shown] == wanted
    for number in range(1, len(wanted) + 1):
        palace.tasks.tick("card", number, apply=True)
        done = palace.tasks.show("card").checks
        assert [check.is_ticked for check in done[:number]] == [True] * number
        assert [check.text for check in done] == [check.text for check in shown]
    for number in range(1, len(wanted) + 1):
        palace.tasks.tick("card", number, untick=True, apply=True)
    left = palace.tasks.show("card").checks
    assert [check.is_ticked for check in left] == [False] * len(wanted)


def test_the_other_parts_are_found_by_the_names_that_people_give_them(palace, write):
    for name in ("labels", "german", "japanese"):
        write(f"{ACTIVE}/{name}.md", CARDS[name][0])
    labels, german, japanese = map(palace.tasks.show, ("labels", "german", "japanese"))
    assert labels.goal == "The heater starts below -10 °C."
    assert labels.outputs == ("reports/heater.pdf, reports/log.csv",)
    assert labels.next_action == "call Jean-Luc"
    assert german.goal == "Die Station läuft allein."
    assert german.outputs == ("`reports\\uebergabe.pdf` (unterschrieben)",)
    assert (japanese.goal, japanese.next_action) == ("冬の前に。", "山に登る。")


@pytest.mark.parametrize("name", ["But we know", "Done", "Notes", "Goalkeeper", "", "12", "Log"])
def test_other_headings_are_no_part_of_a_card(name):
    assert kind_of(name) is None


@pytest.mark.parametrize(
    ("item", "file"),
    [
        ("reports/w.pdf", "reports/w.pdf"),
        ("./reports/w.pdf", "reports/w.pdf"),
        ("reports\\w.pdf", "reports/w.pdf"),
        ("reports/w.pdf — the signed form", "reports/w.pdf"),
        ("the signed form in `reports/w.pdf`", "reports/w.pdf"),
        ("[form](reports/w%20x.pdf)", "reports/w x.pdf"),
        ('"reports/w x.pdf"', "reports/w x.pdf"),
        ("reports/w x.pdf: signed", "reports/w x.pdf"),
        ("reports/*.pdf", "reports/w.pdf"),
        ("reports/", "reports/w.pdf"),
        ("w.md", "palace/w.md"),
        ("[[w]] updated", "palace/chambers/w.md"),
        ("[[files/w.pdf|the form]]", "palace/files/w.pdf"),
        ("../../../reports/w.pdf", "reports/w.pdf"),
        ("plan.csv", "palace/project_rooms/winter/plan.csv"),
        ("`reports/w.pdf` and `reports/v.pdf`", "reports/v.pdf"),
        ("reports/w.pdf, reports/v.pdf", "reports/v.pdf"),
        ("palace/w.md#Winter", "palace/w.md"),
        ("{root}/reports/w.pdf", "reports/w.pdf"),
    ],
)
def test_an_output_counts_wherever_below_the_root_it_is_and_however_it_is_named(
    palace, write, item, file
):
    root = palace.paths.root
    item = item.replace("{root}", str(root))
    write(f"{ACTIVE}/card.md", f"---\nproject: winter\n---\n- [x] done\n\n## Outputs\n- {item}\n")
    (root / "reports").mkdir()
    if " and " in item or ", " in item:
        (root / "reports" / "w.pdf").touch()
    if item != "reports/":
        with pytest.raises(CheckFailedError, match="does not exist"):
            palace.tasks.move("complete", "card")
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).touch()
    assert palace.tasks.move("complete", "card").diff


@pytest.mark.parametrize("item", ["all stations agree", "None.", "https://example.org/x.pdf", "–"])
def test_an_output_that_names_no_file_does_not_keep_a_card_open(palace, write, item):
    write(f"{ACTIVE}/card.md", f"- [x] done\n\n## Outputs\n- {item}\n")
    assert palace.tasks.move("complete", "card").diff


@pytest.mark.parametrize("item", ["../secret.pdf", "../*.pdf", "`../secret.pdf`"])
def test_an_output_outside_of_the_root_is_not_looked_for(palace, write, item):
    (palace.paths.root.parent / "secret.pdf").touch()
    write(f"{ACTIVE}/card.md", f"- [x] done\n\n## Outputs\n- {item}\n")
    with pytest.raises(CheckFailedError, match="does not exist"):
        palace.tasks.move("complete", "card")


def test_a_card_in_a_folder_of_its_state_keeps_that_folder(palace, write):
    write(f"{ACTIVE}/winter/card.md", "- [x] done\n")
    palace.tasks.move("complete", "card", apply=True)
    assert palace.tasks.show("card").path == "palace/dispatch_corridor/completed/winter/card.md"


@pytest.mark.parametrize(
    ("verb", "state"),
    [("start", "blocked"), ("block", "active"), ("complete", "active"), ("reopen", "completed")],
)
def test_edits_of_the_card_in_an_editor_block_no_verb(palace, write, verb, state):
    path = write(f"dispatch_corridor/{state}/card.md", "- [ ] done\n")
    commit_all(palace.paths.root)
    (palace.paths.root / path).write_text("Other words.\n\n- [x] done\n")
    assert palace.tasks.move(verb, "card", reason="so", apply=True).identity


NAMES = (
    "2026-10-20_heated-hygrometer-trial",
    "2026-10-28_winter-battery-swap",
    "2026-11-05_swap-radio-at-saddle",
    "2026-11-06_Übergabe an Müller",
    "2026-11-07_電池交換",
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("trial of the heated hygrometer", 0),
        ("heated hygrometr trail", None),
        ("HeatedHygrometerTrial", 0),
        ("battery wsap", None),
        ("2026-10-28", 1),
        ("palace/dispatch_corridor/blocked/2026-10-28_winter-battery-swap.md", 1),
        ("saddle radio", 2),
        ("ubergabe muller", 3),
        ("uebergabe an mueller", None),
        ("電池", 4),
    ],
)
def test_a_card_is_found_by_what_is_remembered_of_its_name(palace, write, text, found):
    for name in NAMES:
        write(f"{ACTIVE}/{name}.md", "- [ ] done\n")
    if found is None:
        with pytest.raises(UsageError, match="did you mean"):
            palace.tasks.show(text)
        return
    assert palace.tasks.show(text).document.stem == NAMES[found]
    assert NAMES[found] in palace.tasks.move("block", text, reason="r").diff


def test_where_several_cards_could_be_meant_all_are_named_and_none_is_touched(palace, write):
    for name in NAMES:
        write(f"{ACTIVE}/{name}.md", "- [ ] done\n")
    with pytest.raises(UsageError, match=r"2 cards are called 'swap'.*\n.*battery.*\n.*radio"):
        palace.tasks.move("block", "swap", reason="r", apply=True)
    with pytest.raises(UsageError, match=r"did you mean .*\n?.*winter-battery-swap"):
        palace.tasks.move("block", "winter flattery snack", reason="r", apply=True)
    with pytest.raises(UsageError, match=r"no card is called '2026-10-29'"):
        palace.tasks.show("2026-10-29")
    assert all(card.state == "active" for card in palace.tasks.list())
