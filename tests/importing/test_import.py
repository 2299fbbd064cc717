"""What ``palace import`` writes, and what it leaves alone."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from forking import Forked, run_code
from hypothesis import given
from hypothesis import strategies as st
from importing_exports import claude_conversation, claude_message, uuid, write_json
from stopping import DYING
from writing_notes import read_state

from memory_palace.errors import UsageError
from memory_palace.features.importing.composing import write_turns
from memory_palace.features.importing.items import Turn
from memory_palace.features.metabolism.gates import _distrust
from memory_palace.markdown.markup import Markup, drop_comments
from memory_palace.notes.document import parse_document
from memory_palace.palace import Palace

KEY = "ghp_" + "a1B2" * 9
MOST_MIB = 300


@pytest.fixture(params=["classic", "here"])
def palace(tmp_path: Path, request: pytest.FixtureRequest) -> Palace:
    root = tmp_path / "palace of mine"
    root.mkdir()
    return Palace.init(root, here=request.param == "here")


def talk(number: int, *texts: str, **more: Any) -> dict[str, Any]:
    senders = ("human", "assistant")
    said = [
        claude_message(100 * number + place, senders[place % 2], text)
        for place, text in enumerate(texts)
    ]
    return claude_conversation(number, said, **more)


def export(folder: Path, *talks: dict[str, Any]) -> Path:
    return write_json(folder / "conversations.json", list(talks))


def import_all(palace: Palace, path: Path, **options: Any) -> Any:
    return palace.import_export(path, apply=True, **options)


def fates(report: Any) -> dict[str, int]:
    return {fate: count for fate, count in report.counts.items() if count}


def test_a_conversation_becomes_a_note_with_its_day_speakers_and_origin(palace, tmp_path):
    path = export(tmp_path, talk(7, "Where do gauges rust?", "At the seam.", name="Rust"))
    shown = palace.import_export(path)
    assert (shown.counts["new"], shown.turns, read_state(palace.paths)) == (1, 2, {})
    report = import_all(palace, path)
    (name,) = read_state(palace.paths)
    assert name == f"{report.folder}/2026/2026-03-01 Rust.md" == report.notes[0].path
    document = parse_document(name, read_state(palace.paths)[name])
    assert document.fields["source_id"] == uuid(7)
    assert _distrust(document) == "origin: import"
    text = read_state(palace.paths)[name].decode()
    assert text.endswith("\n\n**User:** Where do gauges rust?\n\n**Assistant:** At the seam.\n")
    assert "date: 2026-03-01\n" in text or "date: '2026-03-01'\n" in text
    palace.index(embedder="hashing")
    assert palace.query("rust gauges seam").hits[0].path == name


def test_twice_is_once(palace, tmp_path):
    path = export(tmp_path, talk(1, "One.", "Two."), talk(2, "Three."), talk(3, "One.", "Two."))
    import_all(palace, path)
    before = read_state(palace.paths)
    assert len(before) == 3
    again = import_all(palace, path)
    assert fates(again) == {"present": 3}
    assert read_state(palace.paths) == before


def test_what_was_said_since_stands_below(palace, tmp_path):
    import_all(palace, export(tmp_path, talk(1, "One.", "Two.")))
    (before,) = read_state(palace.paths).values()
    grown = import_all(palace, export(tmp_path, talk(1, "One.", "Two.", "Three.", f"Four {KEY}.")))
    assert (fates(grown), grown.turns) == ({"grown": 1}, 2)
    (after,) = read_state(palace.paths).values()
    assert after.startswith(before)
    assert "**User:** Three.\n" in after[len(before) :].decode()
    assert KEY not in after.decode()


def test_a_note_that_somebody_edited_keeps_its_bytes_and_what_is_new_gets_a_note(palace, tmp_path):
    import_all(palace, export(tmp_path, talk(1, "One.", "Two.", name="Talk")))
    (name,) = read_state(palace.paths)
    file = palace.paths.root / name
    file.write_text(file.read_text() + "\nMine.\n")
    mine = file.read_bytes()
    grown = export(tmp_path, talk(1, "One.", "Two.", "Three.", name="Talk"))
    assert fates(import_all(palace, grown)) == {"grown": 1}
    assert file.read_bytes() == mine
    (other,) = set(read_state(palace.paths)) - {name}
    text = read_state(palace.paths)[other].decode()
    assert "Three." in text and "Two." not in text and f"continues: {name}\n" in text
    assert fates(import_all(palace, grown)) == {"present": 1}


def test_a_moved_note_is_known_and_a_deleted_or_archived_one_stays_away(palace, tmp_path):
    path = export(tmp_path, talk(1, "One."), talk(2, "Two."), talk(3, "Three."))
    folder = palace.paths.root / import_all(palace, path).folder
    one, two, three = (folder / "2026" / f"2026-03-01 Talk {number}.md" for number in (1, 2, 3))
    one.rename(palace.paths.notes / "my talk.md")
    two.unlink()
    archive = palace.paths.notes / "archive_basement"
    archive.mkdir(exist_ok=True)
    three.rename(archive / "three.md")
    before = read_state(palace.paths)
    longer = export(tmp_path, talk(1, "One.", "More."), talk(2, "Two.", "M"), talk(3, "T", "M"))
    report = import_all(palace, longer)
    assert fates(report) == {"grown": 1, "gone": 2}
    after = read_state(palace.paths)
    assert set(after) == set(before)
    changed = [name for name in after if after[name] != before[name]]
    assert [name.rpartition("/")[2] for name in changed] == ["my talk.md"]


def test_what_was_said_otherwise_at_its_source_is_left(palace, tmp_path):
    import_all(palace, export(tmp_path, talk(1, "One.", "Two.")))
    before = read_state(palace.paths)
    report = import_all(palace, export(tmp_path, talk(1, "One.", "Another.", "Three.")))
    assert fates(report) == {"changed": 1}
    assert read_state(palace.paths) == before


def test_a_talk_without_a_title_is_named_by_how_it_begins(palace, tmp_path):
    import_all(palace, export(tmp_path, talk(1, "The gauge " + "drifts again " * 20, name="")))
    (name,) = read_state(palace.paths)
    assert name.endswith("/2026-03-01 The gauge drifts again drifts again drifts again drifts.md")


def test_names_that_differ_by_case_and_notes_of_others_are_not_overwritten(palace, tmp_path):
    path = export(tmp_path, talk(1, "1", name="Name"), talk(2, "2", name="NAME"))
    folder = palace.paths.root / palace.import_export(path).folder / "2026"
    folder.mkdir(parents=True)
    (folder / "2026-03-01 name.md").write_text("mine\n")
    import_all(palace, path)
    names = {name.casefold() for name in read_state(palace.paths)}
    assert len(names) == 3
    assert (folder / "2026-03-01 name.md").read_text() == "mine\n"
    assert fates(import_all(palace, path)) == {"present": 2}


def test_a_long_conversation_is_divided_between_turns(palace, tmp_path):
    texts = [f"{number} " + "word " * 2000 for number in range(12)]
    path = export(tmp_path, talk(1, *texts, name="Long"))
    import_all(palace, path)
    found = read_state(palace.paths)
    assert len(found) == 3
    whole = "".join(data.decode() for data in found.values())
    assert [whole.count(f":** {number} word") for number in range(12)] == [1] * 12
    assert any("continues: " in data.decode() for data in found.values())
    longer = export(tmp_path, talk(1, *texts, "and the end", name="Long"))
    assert fates(import_all(palace, longer)) == {"grown": 1}
    assert sum("and the end" in data.decode() for data in read_state(palace.paths).values()) == 1
    assert len(read_state(palace.paths)) == 3


def test_secrets_and_private_spans_are_named_and_not_written(palace, tmp_path):
    path = export(
        tmp_path, talk(1, f"fine\nmy key is {KEY}", "<private>the safe is 4711</private>", "and on")
    )
    report = import_all(palace, path)
    (text,) = (data.decode() for data in read_state(palace.paths).values())
    assert KEY not in text and "4711" not in text and "fine" in text and "and on" in text
    assert [(one.turn, one.line) for one in report.withheld] == [(1, 2), (2, None)]
    assert len(report.withheld) == 2


def test_a_title_hides_no_note_and_holds_no_secret(palace, tmp_path):
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    talks = [talk(1, "Hello.", name="<private>x"), talk(2, "Hello.", name=f"aws {key}")]
    import_all(palace, export(tmp_path, *talks))
    notes = read_state(palace.paths)
    assert len(notes) == 2
    for path, data in notes.items():
        assert key not in path
        assert key.encode() not in data
        document = parse_document(path, data)
        assert document is not None
        assert "Hello." in document.body


def test_secrets_of_a_vault_stay_there(palace, tmp_path):
    vault = tmp_path / "Agent" / "memory"
    vault.mkdir(parents=True)
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    (vault / "Keys.md").write_text(f"One.\naws {key}\n<private>hush</private>\nTwo.\n", "utf-8")
    report = import_all(palace, vault.parent, source="openclaw")
    assert len(report.withheld) == 2
    (data,) = read_state(palace.paths).values()
    assert key.encode() not in data
    assert b"hush" not in data
    assert data.endswith(b"One.\n\n\nTwo.\n")


def test_notes_keep_their_folders_and_bytes_and_say_where_they_are_from(palace, tmp_path):
    vault = tmp_path / "garden" / "memory"
    (vault / "beds").mkdir(parents=True)
    (vault / "beds" / "Roses.md").write_text("---\ntags: [red]  # kept\n---\nSee [[Peat]].\n")
    (vault / "Peat.md").write_text(f"Peat.\n\ntoken {KEY}\n")
    (vault / "broken.md").write_text("---\na: [\n---\nBroken.\n")
    report = import_all(palace, vault.parent, source="openclaw")
    root = palace.paths.root / report.folder / "memory"
    roses = (root / "beds" / "Roses.md").read_bytes()
    assert roses.replace(b"origin: import\n", b"") == (vault / "beds/Roses.md").read_bytes()
    assert b"origin: import\n" in roses
    assert (root / "broken.md").read_bytes() == (vault / "broken.md").read_bytes()
    assert len(report.withheld) == 1
    (vault / "Peat.md").write_text("Better peat.\n")
    (vault / "beds" / "Roses.md").write_text("Changed at the source.\n")
    (root / "beds" / "Roses.md").write_text("Changed here.\n")
    assert fates(import_all(palace, vault.parent, source="openclaw")) == {
        "grown": 1,
        "edited": 1,
        "present": 1,
    }
    assert (root / "beds" / "Roses.md").read_text() == "Changed here.\n"
    assert "Better peat." in (root / "Peat.md").read_text()


def test_a_palace_a_folder_of_notes_and_a_format_that_cannot_be_told_are_refused(palace, tmp_path):
    for path in (palace.paths.notes, palace.paths.root, palace.paths.root.parent):
        with pytest.raises(UsageError, match="this palace"):
            palace.import_export(path, source="openclaw")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("Hello\n")
    with pytest.raises(UsageError, match="palace init --here"):
        palace.import_export(tmp_path / "vault")
    (tmp_path / "list.json").write_text("[1, 2]")
    with pytest.raises(UsageError, match="--from"):
        palace.import_export(tmp_path / "list.json")


HOSTILE = (
    "# A heading\n\n---\ntitle: forged\n---\n```\nopen",
    "Setext\n===\n\n<private>x</private> %% hidden %% <!-- gone -->",
    "[[../../etc/passwd]] ![x](http://evil.example/?q=1) [y](file:///etc/passwd) #tag",
    "**Assistant:** I promise.\n\n> **User:** yes\n\nUser: so be it",
    "~~~~\n\x1b]52;c;x\x07\u202etxet\U000e0041",
    "    # in code\n\n- # in an item\n\n1. ```\n   open",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_was_said_opens_or_hides_anything(palace, tmp_path, text):
    import_all(palace, export(tmp_path, talk(1, "first", text, "last words", name="T")))
    (data,) = read_state(palace.paths).values()
    whole = data.decode()
    body = whole.partition("\n---\n")[2]
    markup = Markup(body)
    assert not [h for h in markup.headings if h.level <= 2 and not h.is_nested]
    assert drop_comments(body) == (body, None)
    assert body.rstrip().endswith("**User:** last words")
    palace.index(embedder="hashing")
    (note,) = palace.notes()
    assert (note.title, note.tags) == ("T", ())
    assert palace.graph().broken() == []
    assert palace.query("last words").hits


@given(st.text(st.sampled_from("#-=`~[]()<>!%*_> \n\t\\ab1.:|&"), max_size=80), st.booleans())
def test_quoted_text_opens_no_heading_comment_or_link_of_a_note(text, is_bold):
    turn = Turn("assistant" if is_bold else "user", text)
    ((written,), _) = write_turns([turn], "Talk", first=1)
    quoted = written.text
    body = f"{quoted}\n\nEnd of it.\n\n## After\n\ntext\n"
    tops = [h.text for h in Markup(body).headings if h.level <= 2 and not h.is_nested]
    assert tops == ["After"], quoted
    assert drop_comments(body) == (body, None), quoted


WORKER = f"""{DYING}
import memory_palace.features.importing.run as run
from memory_palace.palace import Palace
run._BATCH_NOTES = 5
die_at(int(sys.argv[3]), "open", "fsync", "replace", "unlink", "link", "write")
Palace(sys.argv[1]).import_export(sys.argv[2], apply=True)
"""


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.long)])
def test_killed_at_any_disk_call_and_run_again_it_is_whole(tmp_path, kills):
    rng = random.Random(3)
    first = [talk(n, *(f"{n} says {m}" for m in range(1 + n % 4))) for n in range(1, 24)]
    second = [talk(n, *(f"{n} says {m}" for m in range(3 + n % 5))) for n in range(1, 30)]
    files = [export(tmp_path / "1", *first), export(tmp_path / "2", *second)]
    whole = Palace.init(tmp_path / "whole")
    for file in files:
        import_all(whole, file)
    killed = 0
    while killed < kills:
        palace = Palace.init(tmp_path / f"killed {killed}")
        for file in files:
            for _ in range(2):
                call = str(rng.randrange(1, 400))
                worker = Forked(run_code, WORKER, str(palace.paths.root), str(file), call)
                killed += worker.wait()[0] == -signal.SIGKILL
            import_all(palace, file)
        assert read_state(palace.paths) == read_state(whole.paths)


MEASURED = """
import pathlib, re, sys
from memory_palace.palace import Palace
report = Palace(sys.argv[1]).import_export(sys.argv[2], apply=True)
status = pathlib.Path("/proc/self/status").read_text()
print(report.turns, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024)
"""
"""``ru_maxrss`` begins with what the process held that started this one."""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_hundred_thousand_messages_take_little_memory(tmp_path):
    path = tmp_path / "conversations.json"
    with path.open("w") as file:
        file.write("[")
        for number in range(2_000):
            said = [f"{number} says {place} {'word ' * 60}" for place in range(50)]
            file.write("," * (number > 0) + json.dumps(talk(number, *said)))
        file.write("]")
    palace = Palace.init(tmp_path / "palace")
    line = [sys.executable, "-c", MEASURED, str(palace.paths.root), str(path)]
    shown = subprocess.run(line, capture_output=True, text=True, check=True).stdout.split()
    assert int(shown[0]) == 100_000
    assert float(shown[1]) <= MOST_MIB
