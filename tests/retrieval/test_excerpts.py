"""What is shown of a hit is the place that answers, whole, with its own lines."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.features.asking.screen import flow, shorten
from memory_palace.language.sentences import cut_text, find_units
from memory_palace.models import ELLIPSIS, Piece
from memory_palace.notes.note import read_body
from memory_palace.palace import Palace
from memory_palace.retrieval.excerpts import MOST_READ, is_sentence

FILLER = "The morning was spent on the usual round of the garden and the shed. " * 6
ANSWER = "The spare fuse hangs behind the pantry door."


def write(palace, name, text, *, index=True):
    file = palace.paths.root / "palace/project_rooms" / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    if index:
        palace.index(embedder="none")
    return file


def ask(palace, question, **options):
    return palace.query(question, neighbors=0, lexical=True, **options).hits


def lines_of(file, first, last):
    return re.split("\r\n?|\n", file.read_bytes().decode().removeprefix("\ufeff"))[first - 1 : last]


def assert_stands_there(hit, root):
    for piece in hit.pieces:
        there = "\n".join(lines_of(root / hit.path, piece.first_line, piece.last_line))
        assert all(part in there for part in piece.text.split(ELLIPSIS))


def test_the_sentence_that_answers_is_shown_though_its_passage_begins_elsewhere(palace):
    file = write(palace, "house.md", f"# House\n\n{FILLER}{ANSWER}\n")
    [hit] = ask(palace, "where is the spare fuse")
    assert ANSWER in hit.text and ANSWER in hit.snippet
    assert hit.lines == (3, 3)
    assert_stands_there(hit, palace.paths.root)
    assert file.read_text().startswith("# House")


@pytest.mark.parametrize(
    ("question", "first", "answers"),
    [
        ("why the mural", "Ben: Lovely, this mural.\n\nAda: Yes, all say so.", "Yes, all say no."),
        ("when was the mural done", "Ben: A mural?\n\nAda: Yes, all day long.", "Yes, yesterday."),
    ],
)
def test_of_two_replies_the_one_that_was_asked_for_is_shown(palace, question, first, answers):
    between = [f"{who}: it rained on us." for who in ("Ben", "Ada") * 9]
    turns = [first, *between, "Ben: Why a mural?", f"Ada: {answers}"]
    write(palace, "talk.md", "\n\n".join(turns))
    [hit] = ask(palace, question, budget_bytes=80)
    assert answers in hit.text and first.split(": ")[-1] not in hit.text


def test_five_hits_share_the_bytes_and_each_shows_something(palace):
    for number in range(5):
        text = "".join(f"The turbine of hall {number} hums at {n} hertz.\n\n" for n in range(40))
        write(palace, f"hall {number}.md", text, index=False)
    write(palace, "other.md", "Nothing.\n")
    hits = ask(palace, "turbine hum", limit=5)
    assert len(hits) == 5 and all("turbine" in hit.text for hit in hits)
    assert 1_000 < sum(len(hit.text.encode()) for hit in hits) <= 1_500
    assert len(hits[0].text) > len(hits[-1].text)


def test_what_is_left_out_is_marked_on_a_line_of_its_own(palace):
    text = f"The owl calls at dusk.\n\n{FILLER}\n\nAn owl was heard again near the owl box.\n"
    write(palace, "owl.md", text)
    [hit] = ask(palace, "owl", budget_bytes=100)
    assert (
        hit.text == f"The owl calls at dusk.\n{ELLIPSIS}\nAn owl was heard again near the owl box."
    )


def test_a_budget_ends_the_list_and_never_cuts_but_the_first(palace):
    write(palace, "a.md", "Heron heron on the weir.\n", index=False)
    write(palace, "b.md", f"{'A long report of the heron which came and went. '}{FILLER}\n")
    hits = ask(palace, "heron", budget_bytes=30)
    assert [hit.text for hit in hits] == ["Heron heron on the weir."]
    [cut] = ask(palace, "heron", budget_bytes=15)
    assert len(cut.text.encode()) <= 15 and cut.text.startswith("Heron")


def test_a_sentence_without_end_is_cut_between_words_around_the_match(palace):
    words = " ".join(f"word{n}" for n in range(10_000))
    write(palace, "long.md", f"{words} the kestrel nests here {words}\n")
    [hit] = ask(palace, "kestrel")
    assert "kestrel nests" in hit.text and len(hit.text.encode()) <= 600
    kept = hit.text.strip(ELLIPSIS).split()
    assert set(kept) <= set(words.split()) | set("the kestrel nests here".split())


@pytest.mark.parametrize(
    "before", ["\ufeff", "---\ntitle: x\n---\n", "one\r\ntwo\r\n\r\n"], ids=["bom", "yaml", "crlf"]
)
def test_lines_are_those_of_the_file(palace, before):
    end = "\r\n" if "\r" in before else "\n"
    text = f"{before}# House{end}{end}Some words.{end}{end}{ANSWER}{end}"
    write(palace, "house.md", text.encode())
    [hit] = ask(palace, "spare fuse")
    assert_stands_there(hit, palace.paths.root)
    assert ANSWER in hit.text


def test_nothing_that_is_withheld_is_shown(palace):
    lines = [
        "The gate code of the mill.",
        "<private>the gate code is 4711</private>",
        "gate code key AKIAIOSFODNN7EXAMPLX for aws",
        "<!-- the gate code comment -->",
        "%% the gate code remark %%",
        "[Verify: gate code phrase]",
        "The gate opens by code.",
    ]
    write(palace, "gate.md", "\n\n".join(lines))
    [hit] = ask(palace, "gate code")
    assert "The gate code of the mill." in hit.text and "The gate opens by code." in hit.text
    for hidden in ("4711", "AKIA", "comment", "remark", "phrase"):
        assert hidden not in hit.text + hit.snippet
    assert_stands_there(hit, palace.paths.root)


@pytest.mark.parametrize("change", ["edit", "delete", "unlist"])
def test_a_note_that_is_not_what_was_indexed_shows_its_preview_and_no_lines(palace, change):
    file = write(palace, "house.md", f"# House\n\n{FILLER}{ANSWER}\n")
    if change == "edit":
        file.write_text("A new first line.\n" + file.read_text())
    else:
        file.unlink()
    if change == "unlist":
        file.mkdir()
    [hit] = ask(palace, "spare fuse")
    assert hit.pieces == () and hit.lines == (hit.chunk.first_line, hit.chunk.last_line)
    assert hit.text == hit.snippet and hit.text.startswith("# House The morning")


def test_no_more_notes_are_read_than_are_looked_at(palace):
    for number in range(MOST_READ + 2):
        write(palace, f"{number:03}.md", f"The swift nests in eave {number}.\n", index=False)
    palace.index(embedder="none")
    hits = ask(palace, "swift nests", limit=MOST_READ + 2)
    assert [bool(hit.pieces) for hit in hits] == [True] * MOST_READ + [False] * 2
    assert all("swift" in hit.text for hit in hits)


def test_two_passages_of_a_note_do_not_say_the_same_but_for_their_best(palace):
    told = "\n\n".join(f"The island ferry leaves pier {n} for the island." for n in range(4))
    parts = ["# Ferry", "A ferry.", FILLER, FILLER, told, FILLER, "A ferry.", FILLER]
    write(palace, "ferry.md", "\n\n".join(parts))
    hits = ask(palace, "ferry island", limit=4, per_note=False)
    shown = [piece.text for hit in hits for piece in hit.pieces if "pier" in piece.text]
    assert len(hits) > 1 and set(shown) == set(told.split("\n\n"))
    assert len(shown) - len(set(shown)) < len(hits)


@pytest.mark.parametrize(
    "scrap",
    ["3 May 2026", "- walnut", "- [x] peel", "#loaf", "## Loaves of May", "See also: [[May 2026]]",
     "- [[May 2026]]", "[May 2026](https://example.org)", "`a/May 2026.md#L1-L2` sha256:45abf41b4"],
)  # fmt: skip
def test_what_is_no_sentence_is_not_told_for_words_beside_it(palace, scrap):
    told = "We baked a walnut loaf and it was gone by ten."
    text = f"# Events\n\nMay of 2026 was dry.\n\n{scrap}\n\n{told}\n\n{FILLER}\n"
    write(palace, "events.md", text)
    [hit] = ask(palace, "what was released in May 2026")
    assert not is_sentence(scrap) and is_sentence(told)
    assert told in hit.text and scrap not in hit.text


def test_a_tick_is_told_for_its_own_words(palace):
    write(palace, "oven.md", f"# Oven\n\n{FILLER}\n\n- [x] peel\n- [ ] door seal ordered\n")
    [hit] = ask(palace, "is the door seal ordered")
    assert hit.text.endswith("\n- [ ] door seal ordered") and "peel" not in hit.text


def test_the_sentence_that_answers_is_found_anywhere_in_the_note(palace):
    above = "".join(f"Hall {n} has a turbine that hums at {n} hertz.\n\n" for n in range(40))
    last = "The turbine of the mill was stopped for good in the cold of last winter."
    write(palace, "mill.md", f"{above}{last}\n")
    [hit] = ask(palace, "turbine mill turbine hertz hums hall")
    assert last in hit.text


def test_a_heading_lends_nothing_to_what_stands_above_it(palace):
    text = (
        "# Mill\n\nThe order is two days ahead.\n\n## Complaints\n\nOne sack had weevils in it.\n"
    )
    write(palace, "mill.md", text)
    [hit] = ask(palace, "complaints")
    assert hit.text == "One sack had weevils in it."


def test_rows_and_code_are_never_cut_inside(palace):
    rows = "\n".join(f"| part {n} | {n} euros for the winch |" for n in range(60))
    code = "\n".join(f"winch --turn {n} --slow" for n in range(60))
    text = f"| part | price |\n|---|---|\n{rows}\n\n```sh\n{code}\n```\n"
    file = write(palace, "winch.md", text)
    [hit] = ask(palace, "winch turn")
    shown = [line for line in hit.text.split("\n") if line != ELLIPSIS]
    assert shown and set(shown) <= set(file.read_text().split("\n"))


def test_a_screen_shows_the_best_pieces_whole_and_a_row_of_every_hit(palace):
    text = "\n".join(f"Eve: the boiler {'boiler ' * n}was cold on day {n}." for n in range(9))
    write(palace, "a.md", text, index=False)
    write(palace, "b.md", f"The boiler of the church, {'which is old, ' * 12}is cold too.\n")
    first, second = (hit.pieces for hit in ask(palace, "cold boiler"))
    shown = shorten(
        [first, second],
        "cold boiler",
        most_rows=3,
        count_rows=lambda text: len(text) // 60 + 1,
        width=60,
    )
    assert len(shown[1]) <= 60 and "boiler" in shown[1]
    assert 0 < sum(len(text) // 60 + 1 for text in shown) <= 3
    assert any(piece.text in shown[0] for piece in first)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("> [!note] Mind the weir\n> It is high.", "Mind the weir It is high."),
        ("> [!warning]- \n> It is high.", "It is high."),
        ('- <span class="icon"></span> OneNote', "- OneNote"),
        ("Write `<span>` or 3 <br/>", "Write `<span>` or 3"),
        ("If a <b and c> d", "If a <b and c> d"),
    ],
)
def test_marks_of_callouts_and_html_are_not_shown_on_a_screen(text, shown):
    assert flow([Piece(text, 1, 1, 0, "", 0.0, is_verbatim=False)]).strip() == shown


def test_flow_joins_wrapped_lines_and_marks_gaps(palace):
    write(palace, "a.md", f"The fox runs\nover the weir.\n\n{FILLER}\n\nThe fox is back.\n")
    [hit] = ask(palace, "fox", budget_bytes=60)
    assert flow(hit.pieces) == f"The fox runs over the weir. {ELLIPSIS}\nThe fox is back."


PARTS = "fox. weir Anna: - | ``` # > 1. … 水門。 fuse, <!-- --> %% \ufeff é ![x](y) [[z]]"


def test_a_screen_shows_links_as_words_and_code_as_it_stands(palace):
    text = "> The **fox** of [[x/den|the den]]\n> and [a page](b/c) runs `**fox**` [[home]].\n"
    write(palace, "a.md", text)
    [hit] = ask(palace, "fox")
    assert hit.text == text.strip()
    assert flow(hit.pieces) == "> The fox of the den and a page runs `**fox**` home."


WORDS = st.sampled_from([*PARTS.split(), "\n", "\n\n", "\t"])


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=60))
def test_every_unit_stands_in_the_text_and_only_space_between(parts):
    text = " ".join(parts)
    position = 0
    for unit in find_units(text):
        assert unit.start >= position and not text[position : unit.start].strip()
        assert text[unit.start : unit.end].strip() == text[unit.start : unit.end] != ""
        position = unit.end
    assert not text[position:].strip()


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS, max_size=80), st.binary(max_size=40))
def test_every_shown_piece_stands_in_its_note_at_its_lines(tmp_path_factory, parts, noise):
    palace = Palace.init(tmp_path_factory.mktemp("shown"))
    text = " ".join(parts).encode() + noise.replace(b"\0", b"") + b"\n\nThe fox at the weir.\n"
    write(palace, "a.md", text)
    for hit in ask(palace, "fox weir 水門"):
        lines = read_body("a.md", text).lines
        for piece in hit.pieces:
            there = "\n".join(lines[piece.first_line - 1 : piece.last_line])
            assert all(part in there for part in piece.text.split(ELLIPSIS))
        assert len(hit.text.encode()) <= 600


@given(st.text(alphabet="ab ,.水é\n", max_size=80), st.integers(4, 60))
def test_a_cut_text_keeps_its_measure_and_whole_words(text, most):
    cut = cut_text(text, {"ab": 1.0}, most)
    assert len(cut) <= max(most, 0) or cut == text
    assert cut.strip(ELLIPSIS) in text
    if ELLIPSIS in cut and max(map(len, re.findall(r"[^\s水]+", text)), default=0) <= most - 2:
        kept = re.findall(r"[^\s水]+", cut.strip(ELLIPSIS))
        assert set(kept) <= set(re.findall(r"[^\s水]+", text))


def test_the_number_of_a_long_item_is_no_sentence():
    told = "Renames: two of them diverge. " + "When both move on, they meet halfway. " * 6
    text = f"Before.\n\n  4. {told.strip()}"
    units = [text[unit.start : unit.end] for unit in find_units(text)]
    assert units[1] == "4. Renames: two of them diverge."
    assert units[2] == "When both move on, they meet halfway."
