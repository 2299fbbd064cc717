import re
from pathlib import Path

import pytest

from memory_palace.errors import PalaceError
from memory_palace.notes.note import decode_note
from memory_palace.notes.superseding import (
    Decision,
    blank_claims,
    find_claims,
    find_words,
    mark_claim,
)

DECISION = Decision("2026-03-04", "The lease says so", "Hanne Solberg", "Office move, rooms")
MARK = "**Superseded 2026-03-04:** "
TAIL = "The lease says so. Decided by Hanne Solberg; see [[Office move, rooms]]."

CASES = {
    name: (before, after.replace("MARK ", MARK).replace("TAIL", TAIL))
    for name, before, after in re.findall(
        r"^## (.*?)\n\n`````\n(.*?)`````\n\n`````\n(.*?)`````$",
        Path(__file__).with_name("superseding.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
}
CASES["last line without line feed"] = ("A\n{The room is here.}", f"A\n§\n{MARK}{TAIL}")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("frame", ["", "\ufeff---\ntitle: x\n---\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_claim_is_marked_below_it_and_found_again(name, frame, end):
    before, after = CASES[name]
    claim = before[before.index("{") + 1 : before.index("}")]
    text = frame + before.replace("{", "").replace("}", "")
    start = len(frame.lstrip("\ufeff")) + before.index("{")
    data = text.replace("\n", end).encode()
    marked = mark_claim("n.md", data, (start, start + len(claim)), DECISION)
    wanted = frame + after.replace("§", claim)
    assert marked.decode() == wanted.replace("\n", end)
    clean = decode_note(marked, "n.md")[0]
    (found,) = find_claims(clean)
    assert clean[found.start : found.end] == claim
    assert (found.day, found.heirs) == ("2026-03-04", ("Office move, rooms",))
    rest = blank_claims(clean, [found])
    assert "Superseded" not in rest and claim not in rest and len(rest) == len(clean)


def test_of_a_long_claim_both_ends_are_quoted():
    claim = " ".join(f"word{n}" for n in range(60)) + "."
    data = f"Before it. {claim} After.\n".encode()
    text = data.decode()
    marked = mark_claim("n.md", data, find_words(text, claim), DECISION).decode()
    assert len(marked) - len(text) < 300 and " … " in marked
    (found,) = find_claims(marked)
    assert marked[found.start : found.end] == claim


def test_a_mark_without_its_claim_marks_nothing():
    assert find_claims(f'The room is there.\n{MARK}"The room is here." {TAIL}\n') == []
    assert find_claims(f"```\nx y\n{MARK}{TAIL}\n```\n") == []
    assert find_claims("A.\n**Superseded 2026-13-45:** x. Decided by y; see [[z]].\n") == []


def test_a_decision_hides_nothing_that_follows():
    decision = DECISION._replace(words="see <!-- and %% here")
    marked = mark_claim("n.md", b"A.\nB.\n", (0, 2), decision).decode()
    assert "<!--" not in marked and "%%" not in marked


def test_what_is_no_utf8_is_not_marked():
    with pytest.raises(PalaceError, match="save it as UTF-8"):
        mark_claim("n.md", "Größe.".encode("latin-1"), (0, 6), DECISION)
    with pytest.raises(PalaceError, match="carriage returns"):
        mark_claim("n.md", b"A.\rB.", (0, 2), DECISION)


def test_what_another_mark_quotes_is_no_claim():
    text = f'x y.\n{MARK}"x y." {TAIL}\n\n{MARK}"x y. Gone." {TAIL}\n{MARK}"lease says" {TAIL}\n'
    assert len(find_claims(text)) == 1


def test_marks_by_the_thousand_are_read_in_one_pass():
    """A mark, a quotation or a claim each was looked for from the top of the note."""
    text = f'x y.\n{MARK}"x z" {TAIL}\n' * 3_000 + f"x y.\n{MARK}{TAIL}\n" * 3_000
    claims = find_claims(text)
    assert len(claims) == 3_000
    assert blank_claims(text, claims).count("The lease") == 3_000
