"""How a server begins and ends, what it follows, and who may not have one."""

import json
import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from random import Random

import jsonschema
import pytest
from serving_palaces import (
    PALACE,
    ask,
    connect,
    is_alive,
    pause,
    request,
    resident_kib,
    start,
    stop,
    talk,
    text_of,
    wait_for_end,
    warm,
)
from writing_notes import write_notes

from memory_palace.palace import Palace
from memory_palace.places import socket_path
from memory_palace.server.client import VERSION, encode
from memory_palace.server.listening import MOST_CLIENTS

MESSAGES = Path(__file__).parents[2] / "references" / "schemas" / "messages"


@pytest.fixture
def served(root):
    """The process that serves the palace."""
    yield start(root)
    if (root / ".palace").exists():
        stop(root)


def log_of(root):
    return (root / ".palace" / ".index" / "serve.log").read_text("utf-8")


def files_of(runtime):
    return sorted(path.name for path in (runtime / "memory-palace").iterdir())


def fits(name, message):
    schema = json.loads((MESSAGES / f"{name}.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(message)))


def test_messages_are_as_their_schemas_say(root, served):
    fits("request", request(root, "query", "frost"))
    fits("reply", ask(root, "query", "frost"))
    fits("reply", ask(root, "status"))
    fits("reply", talk(root, b"{\n"))
    for what in ("status", "stop"):
        fits("control", {"v": VERSION, "do": what})
        fits("reply", talk(root, encode({"v": VERSION, "do": what})))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["status"], "verb"),
        (["index"], "verb"),
        (["--version"], "verb"),
        ([], "verb"),
        (["-C", "/", "serve", "--stop"], "verb"),
        (["-C", "elsewhere", "query", "frost"], "palace"),
        (["verify", "-", "--against", "Frost"], "stdin"),
    ],
    ids=" ".join,
)
def test_what_a_client_has_to_run_itself_is_refused(root, served, arguments, reason):
    (root / "elsewhere" / ".palace").mkdir(parents=True)
    assert ask(root, *arguments) == {"v": VERSION, "refused": reason}


def test_other_places_of_models_and_a_folder_that_is_gone_are_refused(root, served):
    message = request(root, "query", "frost")
    assert talk(root, encode(message | {"cwd": str(root / "gone")}))["refused"] == "folder"
    message["env"] |= {"PALACE_CACHE": "/elsewhere"}
    assert talk(root, encode(message))["refused"] == "environment"


def test_nothing_of_a_request_stays_for_the_next(root, served):
    (root / "below").mkdir()
    loud = request(root, "query", "frost") | {"cwd": str(root / "below"), "width": 60}
    loud["env"] |= {"NO_COLOR": "", "TERM": "xterm-256color", "COLUMNS": "60", "TZ": "Asia/Tokyo"}
    loud["tty"] = {"in": True, "out": True, "err": True}
    before = ask(root, "query", "frost")
    assert "\x1b[" in text_of(talk(root, encode(loud)))
    assert ask(root, "query", "frost") == before


def test_one_connection_asks_several_times(root, served):
    with connect(root) as client, client.makefile("rwb") as stream:
        for _ in range(3):
            stream.write(encode(request(root, "show", "Frost")))
            stream.flush()
            assert json.loads(stream.readline())["status"] == 0


def test_clients_that_send_half_and_never_read_delay_nobody(root, served):
    half, deaf = connect(root), connect(root)
    with half, deaf:
        half.sendall(b'{"v": ')
        deaf.sendall(encode(request(root, "show", "Wide")))
        assert ask(root, "show", "Frost")["status"] == 0


def test_more_clients_than_there_is_room_for_are_hung_up_on(root, served):
    clients = [socket.socket(socket.AF_UNIX) for _ in range(MOST_CLIENTS + 6)]
    for client in clients:  # without a time limit: with one, a full queue is an error
        client.connect(socket_path(str(root), os.environ))
    hung_up = 0
    for client in clients[MOST_CLIENTS - 4 :]:
        client.settimeout(0.5)
        with suppress(TimeoutError):
            hung_up += client.recv(1) == b""
    for client in clients:
        client.close()
    assert hung_up == 6
    assert ask(root, "show", "Frost")["status"] == 0


def test_a_second_server_names_the_first_and_ends(root, served):
    status, _, errors = warm(root, "serve")
    assert (status, errors) == (1, f"palace: process {served} serves this palace already\n")
    assert start(root) == served


def test_a_stopped_server_leaves_its_log_and_nothing_else(root, runtime):
    process = start(root)
    assert files_of(runtime) == sorted(
        Path(socket_path(str(root), os.environ)).with_suffix(end).name for end in (".lock", ".sock")
    )
    stop(root)
    wait_for_end(process)
    assert files_of(runtime) == []
    assert f"process {process} ends: stopped; 0 answers" in log_of(root)
    assert warm(root, "serve", "--status")[:2] == (1, "this palace is not served\n")
    assert warm(root, "serve", "--stop")[:2] == (0, "this palace was not served\n")


def test_an_end_by_signal_is_as_clean(root, runtime, served):
    os.kill(served, signal.SIGTERM)
    wait_for_end(served)
    assert files_of(runtime) == []
    assert "ends: a signal" in log_of(root)


def test_a_server_that_hangs_is_ended_all_the_same(root, runtime):
    process = start(root)
    os.kill(process, signal.SIGSTOP)
    child = subprocess.Popen([*PALACE, "serve", "--stop"], cwd=root, stdout=subprocess.PIPE)
    assert child.communicate(timeout=120)[0] == b"stopped\n"
    wait_for_end(process)


def test_another_version_ends_it(root, served):
    message = request(root, "query", "frost") | {"v": "1 0.0.1"}
    assert talk(root, encode(message)) == {"v": VERSION, "refused": "restart"}
    wait_for_end(served)


def test_it_ends_unused(root):
    status, _, errors = warm(root, "serve", "--no-watch", "--idle", "0.01")
    assert (status, errors) == (0, "ends: idle\n")


@pytest.mark.parametrize("what", ["palace", "its own folder", "socket"])
def test_it_ends_with_what_it_serves(what, root, runtime, served):
    path = Path(socket_path(str(root), os.environ))
    if what == "palace":
        root.rename(root.with_name("moved"))
    elif what == "its own folder":
        shutil.rmtree(root / ".palace")
    else:
        path.unlink()
    wait_for_end(served)
    assert files_of(runtime) == []


def test_a_palace_without_an_index_is_not_served_in_the_background(root):
    shutil.rmtree(root / ".palace" / ".index")
    status, _, errors = warm(root, "serve", "--background")
    assert status == 4
    assert "run `palace index`" in errors


@pytest.mark.parametrize("how", ["open", "link"])
def test_a_folder_that_is_not_the_users_alone_is_refused(how, root, runtime):
    folder = runtime / "memory-palace"
    if how == "open":
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
    else:
        (runtime / "other").mkdir(mode=0o700)
        folder.symlink_to(runtime / "other")
    status, _, errors = warm(root, "serve")
    assert status == 2
    assert "lets nobody else in" in errors


def test_descriptors_of_whoever_starts_it_are_let_go(root):
    reader, writer = os.pipe()
    command = [*PALACE, "serve", "--background", "--no-watch"]
    subprocess.run(command, cwd=root, pass_fds=[writer], check=True, capture_output=True)
    os.close(writer)
    assert os.read(reader, 1) == b""  # at its end: nobody else holds it
    os.close(reader)
    stop(root)


def test_notes_that_change_are_indexed(root):
    status, _, errors = warm(root, "serve", "--background")
    assert status == 0, errors
    (root / "New.md").write_text("# New\n\nMarmalade boils over at noon.\n", "utf-8")
    assert any("Marmalade" in text_of(ask(root, "query", "marmalade")) for _ in range(2000)), (
        log_of(root)
    )
    stop(root)


@pytest.mark.long
def test_a_month_of_edits_and_questions_takes_no_more_memory(root, served):
    rng, palace = Random(38), Palace(root)
    words = (MESSAGES.parents[1] / "guide.md").read_text("utf-8").split()

    def live(days):
        for _ in range(days):
            for number in rng.sample(range(300), 10):
                text = " ".join(rng.choices(words, k=80))
                (root / f"{number}.md").write_text(f"# Note {number}\n\n{text}\n", "utf-8")
            palace.index()
            for number in range(20):
                assert "parts" in ask(root, "query", "--", " ".join(words[number * 9 :][:9]))
            pause(1.5)  # a server lets go of what was replaced while nobody asks
        return resident_kib(served)

    write_notes(
        root,
        {f"{number}.md": f"# Note {number}\n\nIt is number {number}.\n" for number in range(300)},
    )
    warm_kib = live(10)
    assert live(30) <= 1.05 * warm_kib


def test_what_is_damaged_or_gone_is_told_as_without_a_server(root, served):
    assert ask(root, "query", "frost")["status"] == 0
    index = root / ".palace" / ".index"
    (segment,) = index.glob("seg-*.npz")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 255
    segment.write_bytes(data)
    for _ in range(2):
        reply = ask(root, "query", "frost")
        cold = warm(root, "--no-serve", "query", "frost")
        assert (reply["status"], text_of(reply), text_of(reply, 2)) == cold
        assert cold[0] == (6 if index.exists() else 4)
        shutil.rmtree(index, ignore_errors=True)
    assert is_alive(served)
