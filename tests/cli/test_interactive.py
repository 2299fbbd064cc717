"""The screen of ``palace query -i``, driven through a pipe of keys."""

from __future__ import annotations

import importlib.util
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from memory_palace.cli.answers import Entry
from memory_palace.errors import PalaceError
from memory_palace.palace import Palace

if importlib.util.find_spec("prompt_toolkit"):
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    from memory_palace.cli.interactive import InteractiveSearch, Tools, take_tools

needs_extra = [
    pytest.mark.interactive,
    pytest.mark.skipif("InteractiveSearch" not in globals(), reason="needs [interactive]"),
]
LEAVE, ENTER, DOWN, UP = "\x03", "\r", "\x1b[B", "\x1b[A"


def entry(number, title):
    file = Path(f"/notes/{title}.md")
    place = f"{title}.md:3"
    return Entry(str(number), title, "", file, place, 3, "1 May 2026", "0.91", title)


def drive(*keys, search=None, open_entry=None, text=""):
    """Run the screen on a pipe of keys; return what was searched, opened and left shown.

    The next keys are typed, and at the end the screen is left, when what the last ones asked for
    has been opened, or a remark stands below.
    """
    searched, opened, steps = [], [], iter((*keys, LEAVE))

    def find(question):
        searched.append(question)
        return search(question) if search else [entry(1, "Roof"), entry(2, "Ridge")]

    def show(found):
        opened.append(found.title)
        if open_entry:
            open_entry(found)

    screen = InteractiveSearch(Tools(find, lambda found: f"About {found.title}.", show), text)
    typed = 0
    with create_pipe_input() as pipe:

        def go_on(_):
            nonlocal typed
            if len(opened) == typed or screen.status:
                typed += 1
                pipe.send_text(next(steps, ""))

        screen.run(input=pipe, output=DummyOutput(), after_render=go_on)
    return searched, opened, screen


def drawn(fragments):
    return "".join(text for _, text in fragments)


class TestScreen:
    pytestmark = needs_extra

    def test_enter_opens_what_is_found_by_the_words_that_are_typed_by_then(self):
        searched, opened, _ = drive(f"roof{ENTER}")
        assert searched[-1] == "roof" and opened == ["Roof"]

    def test_arrows_choose_and_stop_at_the_ends(self):
        _, opened, _ = drive(
            f"roof{ENTER}", f"{DOWN}{ENTER}", f"{DOWN}{DOWN}{ENTER}", f"{UP}{UP}{UP}{ENTER}"
        )
        assert opened == ["Roof", "Ridge", "Ridge", "Roof"]

    def test_a_question_that_is_given_is_asked_at_once(self):
        searched, _, screen = drive(f"{ENTER}", text="ridge")
        assert searched == ["ridge"] and screen.input.text == "ridge"

    def test_a_result_shows_its_title_and_place_and_the_note_below(self):
        _, _, screen = drive(f"roof{ENTER}")
        assert "0.91  Roof  Roof.md:3" in drawn(screen._draw_results())
        preview = screen._draw_preview()
        assert drawn(preview) == "About Roof."
        assert ("class:match", "Roof") in preview

    def test_a_search_that_fails_and_an_editor_that_fails_are_said_below(self):
        def fail(_):
            raise PalaceError("no index")

        _, opened, screen = drive(f"roof{ENTER}", search=fail)
        assert opened == [] and "no index" in drawn(screen._draw_status())
        _, opened, screen = drive(f"roof{ENTER}", open_entry=fail)
        assert opened == ["Roof"] and "no index" in drawn(screen._draw_status())

    def test_an_error_that_nobody_expected_leaves_the_screen(self):
        with pytest.raises(ZeroDivisionError):
            drive("roof", search=lambda _: [1 / 0])

    def test_nothing_found_is_said(self):
        _, _, screen = drive(f"roof{ENTER}", search=lambda _: [])
        assert "nothing found" in drawn(screen._draw_status())

    def test_only_a_note_that_is_opened_is_in_the_usage_log(self, tmp_path):
        note = tmp_path / "palace" / "chambers" / "Roof.md"
        note.parent.mkdir(parents=True)
        note.write_text("# Roof\n\nIt leaks.\n")
        (tmp_path / "palace" / "palace.yaml").write_text("usage_log: on\n")
        here = Palace(tmp_path)
        here.index(embedder="hashing")
        editor = tmp_path / "editor"
        editor.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$0.called"\n')
        editor.chmod(0o755)
        tools = take_tools(here, {"limit": 5}, {"EDITOR": str(editor)})
        (found,) = tools.search("leaks")
        assert tools.read(found) == "It leaks."
        assert not list(here.paths.logs.glob("*usage*"))
        tools.open(found)
        called = Path(f"{editor}.called").read_text().splitlines()
        assert called == ["+3", str(note.resolve())]
        (line,) = here.paths.logs.joinpath("usage.jsonl").read_text().splitlines()
        assert '"act": "opened", "paths": ["palace/chambers/Roof.md"]' in line
        note.unlink()
        assert "No such file" in tools.read(found)


def run_query(cwd, *, stdout, stdin, code="", **environ):
    lines = f"{code}\nfrom memory_palace.cli.app import main\nmain(['query', '-i', 'roof'])"
    return subprocess.run(
        [sys.executable, "-c", lines],
        cwd=cwd,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    )


def test_without_a_terminal_or_the_extra_one_line_says_what_is_needed(tmp_path):
    (tmp_path / "palace").mkdir()
    done = run_query(tmp_path, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and "-i needs a terminal" in done.stderr
    ours, theirs = pty.openpty()
    hidden = "import sys; sys.modules['prompt_toolkit'] = None"
    done = run_query(tmp_path, stdout=theirs, stdin=theirs, code=hidden)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 9 and "[interactive]" in done.stderr
    assert len(done.stderr.splitlines()) == 1
