"""The client in front of the command: what it sends, what it prints, and when it steps aside."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import run_main

from memory_palace.places import find_server
from memory_palace.server import client
from memory_palace.server.client import VERSION, encode

LINE = ["query", "rain", "gauge"]
LIGHT = """
import sys
from memory_palace.cli.app import main
try:
    main(sys.argv[1:])
finally:
    heavy = "numpy typer rich yaml platformdirs json socket dataclasses pathlib typing inspect"
    print(sorted(set(heavy.split()) & set(sys.modules)))
"""


def reply(*parts, status=0, **more):
    return encode({"v": VERSION, "status": status, "parts": [list(part) for part in parts], **more})


def test_an_answer_is_printed_as_it_is_sent_with_its_status(pretend, capsys):
    asked = pretend(reply((2, "palace: Größe\n"), (1, "one\n"), (2, "more\n"), status=8))
    assert run_main(capsys, *LINE) == (8, "one\n", "palace: Größe\nmore\n")
    assert asked[0]["args"] == LINE


def test_a_request_says_where_and_how_it_was_typed(pretend, root, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "33")
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    asked = pretend(reply())
    assert run_main(capsys, *LINE) == (0, "", "")
    (record,) = asked
    assert record["cwd"] == str(root)
    assert record["env"]["COLUMNS"] == "33"
    assert "SECRET_TOKEN" not in record["env"]
    assert record["stdin"] is None
    assert record["tty"] == {"in": False, "out": False, "err": False}
    assert record["v"] == VERSION


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        b"{",
        b"nonsense\n",
        b"[]\n",
        b"[" * 100_000 + b"\n",
        b"\xff\xfe\n",
        encode({"v": VERSION, "refused": "restart"}),
        encode({"v": "0 none", "status": 0, "parts": [[1, "old"]]}),
        encode({"v": VERSION, "status": 0}),
        encode({"v": VERSION, "status": "x", "parts": []}),
        encode({"v": VERSION, "status": 0, "parts": [[1, "half"], [7, "?"]]}),
        reply((1, "an answer that breaks off"))[:-9],
    ],
)
def test_whatever_is_odd_is_answered_here(pretend, root, capsys, odd):
    alone = run_main(capsys, *LINE, "--no-serve")
    pretend(odd)
    assert run_main(capsys, *LINE) == alone
    assert "felt" in alone[1]


def test_a_server_that_does_not_answer_in_time_is_passed_by(
    root, pretend, runtime, capsys, monkeypatch
):
    monkeypatch.setattr(client, "WAIT_SECONDS", 0.05)
    asked = pretend()  # it listens and never accepts
    assert "felt" in run_main(capsys, *LINE)[1]
    assert not asked


def test_a_socket_that_nobody_listens_on_is_no_obstacle(root, runtime, capsys):
    address = Path(find_server(LINE, os.environ).address)
    address.parent.mkdir(mode=0o700)
    address.touch()
    assert "felt" in run_main(capsys, *LINE)[1]


def test_a_folder_that_others_may_enter_is_not_trusted(pretend, root, capsys):
    folder = Path(find_server(LINE, os.environ).address).parent
    asked = pretend(reply((1, "theirs\n")))
    folder.chmod(0o755)
    assert "felt" in run_main(capsys, *LINE)[1]
    assert not asked
    folder.chmod(0o700)
    assert run_main(capsys, *LINE) == (0, "theirs\n", "")


@pytest.mark.parametrize(
    "line",
    [
        "query rain --no-serve",
        "--no-serve query rain",
        "verify --text rain --model talker",
        "query -h",
        "list",
        "",
    ],
)
def test_lines_that_are_for_this_process(root, line):
    assert find_server(line.split(), os.environ) is None
    assert find_server(LINE, {**os.environ, "PALACE_NO_SERVE": "1"}) is None


@pytest.mark.parametrize(
    "line",
    [
        "-C {} query rain",
        "query rain -C {}",
        "query -C{} rain",
        "query --root={} -k2 rain",
        "query -C {}/below -- -i --no-serve",
        "-C name query rain",
        "-C /nowhere query rain -C {}",
    ],
)
def test_the_palace_is_found_wherever_it_is_named(root, tmp_path, monkeypatch, capsys, line):
    (root / "below").mkdir()
    assert run_main(capsys, "config", "register", "name", str(root))[0] == 0
    try:
        monkeypatch.chdir(tmp_path)
        found = find_server(line.format(*[root] * line.count("{}")).split(), os.environ)
        assert found.root == str(root)
        assert find_server(["query", "rain"], {"PALACE_ROOT": str(root)}).root == str(root)
        assert find_server(["query", "rain"], {}) is None
        run_main(capsys, "config", "register", "name", "--default")
        assert find_server(["query", "rain"], {}).root == str(root)
    finally:
        run_main(capsys, "config", "register", "name", "--remove")


def test_standard_input_is_read_where_the_command_would_read_it(pretend, root, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("felt"))
    line = ["verify", "--against", "Frost"]
    asked = pretend(encode({"v": VERSION, "refused": "stdin"}), reply((1, "quoted\n")))
    assert run_main(capsys, *line) == (0, "quoted\n", "")
    assert [record["stdin"] for record in asked] == [None, "felt"]


def test_what_was_read_is_there_for_the_command_itself(pretend, root, capsys, monkeypatch):
    line = ["recall", "--json"]
    monkeypatch.setattr(sys, "stdin", io.StringIO("the rain gauge drifts again"))
    alone = run_main(capsys, *line, "--no-serve")
    monkeypatch.setattr(sys, "stdin", io.StringIO("the rain gauge drifts again"))
    pretend(encode({"v": VERSION, "refused": "stdin"}), b"")
    assert run_main(capsys, *line) == alone
    assert alone[1]


def test_an_open_input_that_nobody_reads_is_left_alone(pretend, root):
    pretend(reply((1, "one\n")))
    command = [sys.executable, "-m", "memory_palace", *LINE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.read() == b"one\n"  # while its standard input is open
        process.stdin.close()


def test_a_served_line_imports_next_to_nothing(pretend, root):
    pretend(reply((1, "one\n")))
    done = subprocess.run([sys.executable, "-c", LIGHT, *LINE], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("one\n[]\n", "")


@pytest.mark.parametrize(("end", "status"), [("| true", 0), (">/dev/full", 1), (">&-", 1)])
def test_output_that_fails_is_told_as_without_a_server(pretend, root, end, status):
    pretend(reply((1, "one\n" * 9000)))
    line = f'"$0" -m memory_palace query rain {end}'
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line, sys.executable], capture_output=True
    )
    assert done.returncode == status
    assert done.stderr.count(b"\n") == status
