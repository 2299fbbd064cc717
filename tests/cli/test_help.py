import os
import re
import subprocess
import sys
from functools import partial

import pytest
from command_reference import walk_verbs
from running import run_main

from memory_palace.table import VERBS

TREE = [(tuple(words.split()), command) for words, command in walk_verbs()]


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command line in this process; return its status and what it printed."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("PALACE_ROOT", raising=False)
    return partial(run_main, capsys)


@pytest.mark.parametrize("words", [words for words, _ in TREE], ids=" ".join)
def test_help_fits_eighty_columns_and_is_there_for_h(run, words):
    status, out, err = run(*words, "-h")
    assert (status, err) == (0, "")
    assert out == run(*words, "--help")[1]
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert out.lstrip().startswith("Usage: palace")


def test_every_parameter_has_a_sentence_of_help():
    named = [(words, parameter) for words, command in TREE for parameter in command.params]
    bare = [(*words, p.name) for words, p in named if not (p.help or "").endswith((".", ")"))]
    assert len(named) > 300
    assert bare == []


def test_all_verbs_stand_in_their_panels():
    command = [sys.executable, "-m", "memory_palace", "--help"]
    environ = {**os.environ, "COLUMNS": "80"}
    out = subprocess.run(command, capture_output=True, text=True, env=environ, check=True).stdout
    assert len(out.splitlines()) <= 60
    for panel, verbs in VERBS.items():
        first, below = next(iter(verbs)), out[out.index(f"─ {panel} ─") :]
        assert re.match(rf".*\n│ {first} +\w", below)
    verbs = [verb for panel in VERBS.values() for verb in panel]
    assert all(re.search(rf"^│ {verb} ", out, re.MULTILINE) for verb in verbs)


@pytest.mark.parametrize("words", [(), ("query",), ("task", "new"), ("graph",)], ids=" ".join)
def test_help_fits_a_narrow_terminal(run, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "52")
    narrow = run(*words, "-h")[1]
    assert [line for line in narrow.splitlines() if len(line) > 52] == []


def unboxed(out):
    """Return a help text without the lines of its boxes, words in order."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", out).split())


def test_defaults_values_and_examples_are_shown_and_options_of_one_purpose_together(run):
    out = run("query", "-h")[1]
    assert "[default: 5]" in out and "N [x>=1]" in out and "<text|json|" in out
    options, ranking, which = (
        out.index(f"─ {name} ─") for name in ("Options", "Ranking", "Which notes")
    )
    assert options < ranking < which < out.index("--tag")
    assert ranking < out.index("--profile", ranking) < which
    assert "Which notes" not in run("show", "-h")[1]
    assert "[[link]]" in run("task", "new", "-h")[1]
    assert re.search(r"\n\s+\n Example: palace doctor --fix\s+\n", run("doctor", "-h")[1])
    out = unboxed(run("list", "-h")[1])
    for named in ("--since DATE", "--in FOLDER", "--sort <path|date>"):
        assert named in out
    lookup = run("graph", "anchors", "lookup", "-h")[1]
    assert lookup.lstrip().startswith("Usage: palace graph anchors lookup [OPTIONS]")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["qury", "x"], "Did you mean 'query'?"),
        (["task", "lst"], "Did you mean 'list'?"),
        (["query", "--detials"], "--details"),
        (["query", "x", "-C"], "requires an argument"),
        (["query", "x", "--tag"], "`palace query --help`"),
        (["query", "x", "--format", "jsn"], "'markdown'"),
        (["query", "x", "-k", "x"], "'--top-k'"),
    ],
    ids=" ".join,
)
def test_what_is_mistyped_is_answered_with_what_is_near(run, typed, meant):
    status, out, err = run(*typed)
    assert (status, out) == (2, "")
    assert meant in err and "\n  `palace" in err
    assert len(err.splitlines()) == 2


def test_a_group_without_a_verb_shows_its_verbs(run):
    status, out, _ = run("graph")
    assert status == 2
    assert "neighbors" in out


def test_text_that_begins_with_a_dash_is_text(run, tmp_path):
    run("-C", str(tmp_path), "init", "--here")
    status, out, _ = run("-C", str(tmp_path), "new", "- an item", "--body", "-5 at night")
    assert status == 0
    assert "-5 at night" in (tmp_path / out.strip()).read_text("utf-8")


def test_the_value_of_an_option_may_begin_with_a_dash(run, tmp_path):
    folder = tmp_path / "- notes"
    folder.mkdir()
    assert run("init", "--here", str(folder))[0] == 0
    assert run(f"-C{folder}", "list", "--json")[0] == 4  # a blank in it makes no text of it
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert run("list", "-C", "- notes", "--json")[0] == 4  # found, and without an index
        assert "no note has prose" in run("redqueen", "run", "-C", "- notes", "--seed", "-1")[2]
        assert "'--top-k'" in run("query", "x", "-C", "- notes", "-k", "-1")[2]
