"""JSON for agents: what is needed, in few bytes, and everything with ``--details``."""

import json
from pathlib import Path

import pytest
from copying_palaces import copy_palace
from typer.testing import CliRunner

from benchmarks.golden import read_pairs
from memory_palace.cli.group import app
from memory_palace.language.visible import shown_text

ROOT = Path(__file__).parents[2]
FIELDS = ["path", "line", "last_line", "title", "date", "confidence", "text"]


@pytest.fixture(scope="module")
def query(tmp_path_factory):
    palace = copy_palace(ROOT, tmp_path_factory.mktemp("sample"))
    palace.index(embedder="hashing")

    def ask(*arguments):
        done = CliRunner().invoke(app, ["-C", str(palace.paths.root), "query", *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    return ask


def test_an_answer_takes_few_bytes_more_than_its_text(query):
    """Five hits were 14.4 kB for 2.4 kB of text, before: 6 bytes for each."""
    shares = []
    for pair in read_pairs(ROOT / "tests/golden/sample_palace.md"):
        printed = query(pair.question, "--json")
        text = "".join(hit["text"] for hit in json.loads(printed)["hits"])
        shares.append(len(printed.encode()) / len(text.encode()))
    assert sum(shares) / len(shares) < 1.75 and max(shares) < 2.1, shares


def test_a_hit_has_what_is_needed_and_the_lines_of_its_text(query):
    (line,) = query("rain gauge in a downpour", "--json").splitlines()
    answer = json.loads(line)
    assert list(answer) == ["schema", "answered", "hits"] and answer["schema"] == 3
    for hit in answer["hits"]:
        assert list(hit) in (FIELDS, [*FIELDS, "disputed_in"])
        assert hit["confidence"] == round(hit["confidence"], 2)
        lines = (ROOT / hit["path"]).read_text("utf-8").splitlines()
        shown = shown_text("\n".join(lines[hit["line"] - 1 : hit["last_line"]]))
        assert all(part.strip("…\n ") in shown for part in hit["text"].split("\n…\n"))


def test_what_is_not_as_it_should_be_is_said(query):
    answer = json.loads(query('"no such words at all" rain', "--mode", "lexical", "--json"))
    assert (answer["mode"], answer["unmatched_quotes"]) == ("lexical", ["no such words at all"])
    assert json.loads(query("--type", "project", "--json"))["mode"] == "listing"
    hits = json.loads(query("battery swap", "--neighbors", "1", "--json"))["hits"]
    linked = {hit["linked_from"] for hit in hits if "linked_from" in hit}
    assert linked and linked <= {hit["path"] for hit in hits if "linked_from" not in hit}


def test_details_have_everything(query):
    terse = json.loads(query("rain gauge in a downpour", "--json", "--neighbors", "2"))
    answer = json.loads(query("rain gauge in a downpour", "--json", "--details"))
    core = [hit for hit in answer["hits"] if hit["role"] == "core"]
    assert answer["mode"] == "vector" and answer["freshness"] == "current"
    short = [hit for hit in terse["hits"] if "linked_from" not in hit]
    assert [hit["path"] for hit in core] == [hit["path"] for hit in short]
    for hit, terse_hit in zip(core, short, strict=True):
        assert hit["score"] == pytest.approx(sum(p["contribution"] for p in hit["parts"]), abs=1e-5)
        assert (hit["line"], hit["text"]) == (terse_hit["line"], terse_hit["text"])
        assert hit["passage_line"] <= hit["passage_last_line"]
