"""`serve: auto`: a question that finds no server starts one for the next, and waits for nothing."""

import json
import os
from pathlib import Path

import pytest
from running import run_main
from serving_palaces import start, stop, wait_for_end, wait_until, warm

from memory_palace.places import find_server
from memory_palace.server.starting import claim_socket

LINE = ("query", "rain", "gauge")


@pytest.fixture
def auto(tmp_path, monkeypatch):
    """The user's own configuration, which says that questions start servers."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    file = tmp_path / "own" / "memory-palace" / "palaces.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"palaces": {}, "default": None, "serve": "auto"}), "utf-8")
    return file


@pytest.fixture
def started(monkeypatch):
    """What is started; nothing is."""
    lines = []
    monkeypatch.setattr(os, "posix_spawn", lambda path, line, *_, **__: lines.append(line))
    return lines


def test_a_question_starts_the_server_of_the_next(root, auto):
    alone = warm(root, *LINE)
    assert "felt" in alone[1]
    try:
        wait_until(lambda: warm(root, "serve", "--status")[0] == 0, "no server was started")
        status = json.loads(warm(root, "serve", "--status", "--json")[1])
        assert status["served"]
        assert warm(root, *LINE) == alone
        after = json.loads(warm(root, "serve", "--status", "--json")[1])
        assert after["answered"] > status["answered"]
        assert after["pid"] == status["pid"]
    finally:
        stop(root)
    wait_for_end(status["pid"])


def test_the_answer_is_printed_before_anything_is_started(root, auto, monkeypatch, capsys):
    printed = []
    monkeypatch.setattr(os, "posix_spawn", lambda *_, **__: printed.append(capsys.readouterr()))
    assert run_main(capsys, *LINE)[0] == 0
    assert "felt" in printed[0].out


def test_the_server_is_told_which_palace_and_runs_our_code(root, auto, started, capsys):
    run_main(capsys, *LINE)
    (line,) = started
    assert line[1:] == ["-P", "-m", "memory_palace", "-C", str(root), "serve"]


@pytest.mark.parametrize("line", ["query rain --no-serve", "list"])
def test_a_line_that_is_not_for_a_server_starts_none(root, auto, started, capsys, line):
    assert run_main(capsys, *line.split())[0] == 0
    assert started == []


def test_nothing_is_started_unless_the_user_says_so(root, auto, started, capsys):
    for text in ("{}", '{"serve": "off"}', '{"serve": ["auto"]}', "no json", ""):
        auto.write_text(text, "utf-8")
        assert run_main(capsys, *LINE)[0] == 0
    assert started == []


def test_a_palace_cannot_say_that_servers_are_started(root, started, capsys):
    (root / ".palace" / "palace.yaml").write_text("serve: auto\n", "utf-8")
    assert run_main(capsys, *LINE)[0] == 2
    assert started == []


def test_a_palace_without_an_index_gets_no_server(tmp_path, runtime, auto, started, capsys):
    (tmp_path / ".palace").mkdir()
    assert run_main(capsys, "-C", str(tmp_path), *LINE)[0] == 4
    assert started == []


def test_nobody_starts_a_server_for_an_index_of_somebody_else(
    root, auto, started, capsys, monkeypatch
):
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    assert run_main(capsys, *LINE)[0] == 0
    assert started == []


def test_a_server_that_refuses_is_not_started_again(root, auto, started, capsys, monkeypatch):
    start(root)
    try:
        monkeypatch.setenv("PALACE_CACHE", "/nowhere")  # its models would be others
        assert "felt" in run_main(capsys, *LINE)[1]
    finally:
        monkeypatch.delenv("PALACE_CACHE")
        stop(root)
    assert started == []


def test_a_server_that_is_not_ready_keeps_nobody_waiting(root, auto, started, capsys):
    with claim_socket(str(root), os.environ) as bound:
        assert "felt" in run_main(capsys, *LINE)[1]
        assert Path(bound.getsockname()).exists()
    assert started == []


def test_a_folder_that_others_may_enter_starts_nothing(root, auto, started, capsys):
    folder = Path(find_server(LINE, os.environ).address).parent
    folder.mkdir(mode=0o755)
    assert "felt" in run_main(capsys, *LINE)[1]
    assert started == []
