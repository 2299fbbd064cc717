import json
import os
import subprocess
import sys

import pytest
from running import run_main

from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.palace import Palace

SECRET = "AKIA" + "IOSFODNN7EXAMPLE"
NEW = [sys.executable, "-m", "memory_palace", "new", "Rain", "--room", "chambers"]


@pytest.fixture
def palace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Palace.init(tmp_path)


def read(palace, path="palace/chambers/Rain.md"):
    return (palace.paths.root / path).read_text("utf-8")


def make(palace, body, **given):
    return read(palace, palace.new("Rain", room="chambers", body=body, **given))


def test_a_body_follows_the_heading_or_has_its_own_and_front_matter_is_refused(palace):
    text = read(palace, palace.new("Frost", body="\nIt drifts.\r\nIn frost.\n\n"))
    assert text.endswith("---\n# Frost\n\nIt drifts.\nIn frost.\n")
    assert make(palace, "# Own\n\ntext").endswith("---\n# Own\n\ntext\n")
    with pytest.raises(UsageError, match="front matter"):
        palace.new("Other", body="---\na: 1\n---\ntext")


def test_secrets_of_a_body_are_not_written(palace):
    text = make(palace, f"one\n{SECRET}\nthree")
    assert SECRET not in text and "one" in text and "three" in text
    with pytest.raises(CheckFailedError, match="line 1"):
        palace.new("Other", body=SECRET)


def test_an_index_that_exists_follows_a_new_note(palace):
    palace.index(embedder="hashing")
    palace.new("Rain", body="It drifts in frost.")
    assert palace.query("drifts in frost", lexical=True)[0].title == "Rain"


def test_the_answer_in_json_says_where_it_is_and_what_was_left_out(palace, capsys):
    body = f"x\n{SECRET}"
    _, out, _ = run_main(capsys, "new", "Rain", "--room", "chambers", "--body", body, "--json")
    record = json.loads(out)
    assert (record["path"], record["indexed"]) == ("palace/chambers/Rain.md", False)
    assert record["last_line"] == read(palace).count("\n")
    assert [one["line"] for one in record["withheld"]] == [2]


def test_what_is_piped_or_redirected_is_the_body(palace, tmp_path):
    subprocess.run(NEW, input=b"It drifts.", check=True)
    assert read(palace).endswith("# Rain\n\nIt drifts.\n")
    (tmp_path / "body.md").write_text("It freezes.\n")
    with (tmp_path / "body.md").open("rb") as body:
        subprocess.run([*NEW[:-3], "Frost"], stdin=body, check=True)
    assert read(palace, "palace/project_rooms/Frost.md").endswith("# Frost\n\nIt freezes.\n")


def test_a_pipe_that_nobody_writes_to_is_left_alone(palace):
    reading, writing = os.pipe()
    try:
        done = subprocess.run(NEW, stdin=reading, capture_output=True, text=True, check=True)
    finally:
        os.close(reading)
        os.close(writing)
    assert read(palace).endswith("# Rain\n")
    assert "--body -" in done.stderr


def test_a_file_that_somebody_else_is_reading_is_left_alone(palace, tmp_path):
    (tmp_path / "titles").write_text("Frost\nThaw\n")
    loop = f'while read -r t; do {sys.executable} -m memory_palace new "$t"; done < titles'
    subprocess.run(["bash", "-c", loop], check=True, cwd=tmp_path)
    for title in ("Frost", "Thaw"):
        assert read(palace, f"palace/project_rooms/{title}.md").endswith(f"# {title}\n")


def test_bytes_that_are_no_text_are_refused(palace):
    done = subprocess.run(NEW, input=b"x\n\xff", capture_output=True, check=False)
    assert done.returncode == 2 and b"not UTF-8 at byte 3" in done.stderr
    assert not list(palace.paths.notes.glob("chambers/*"))
