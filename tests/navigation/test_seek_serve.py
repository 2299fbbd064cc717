"""`palace seek serve`: a robot asks in JSON lines, and nothing it sends breaks anything."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource
from typer.testing import CliRunner

from memory_palace.agents.line_input import MOST_LINE_BYTES
from memory_palace.cli.commands import app
from memory_palace.cli.search_requests import Requests
from memory_palace.navigation.searches import load_search
from memory_palace.notes import document
from memory_palace.palace import Palace

ROOT = Path(__file__).parent.parent.parent
SCHEMAS = ROOT / "references" / "schemas"
CELLAR, ATTIC, GARAGE = 0, 1, 2


def read_json(path):
    return json.loads(path.read_text("utf-8"))


def check_answer(answer):
    """Check one answer against its strict schema."""
    names = ("definitions.json", "error.json")
    resources = [(name, Resource.from_contents(read_json(SCHEMAS / name))) for name in names]
    schema = read_json(SCHEMAS / "messages" / "seek-answer.json")
    jsonschema.Draft202012Validator(schema, registry=Registry().with_resources(resources)).validate(
        answer
    )
    assert answer["ok"] is ("error" not in answer)


class Robot:
    """A process of `palace seek serve`, and what it says."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "memory_palace", "-C", str(root), "seek", "serve"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)

    def send(self, line: bytes) -> dict:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        check_answer(answer)
        return answer

    def ask(self, **request) -> dict:
        return self.send(json.dumps(request).encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def robot(house):
    with Robot(house.paths.root) as found:
        yield found


@pytest.fixture
def ask(house):
    requests = Requests(house)

    def ask_for(**request):
        answer = json.loads(requests.answer(json.dumps(request).encode()))
        check_answer(answer)
        return answer

    ask_for.line = requests.answer
    return ask_for


def test_the_session_of_the_reference_runs(robot):
    text = (ROOT / "references" / "guided_search.md").read_text("utf-8")
    block = re.search(r"^```jsonl\n(.*?)^```$", text, re.M | re.S)
    lines = block[1].splitlines()
    assert len(lines) >= 12
    for sent, expected in zip(lines[::2], lines[1::2], strict=True):
        robot.process.stdin.write(sent.encode() + b"\n")
        robot.process.stdin.flush()
        told = robot.process.stdout.readline().decode().rstrip("\n")
        check_answer(json.loads(told))
        pattern = ".*".join(map(re.escape, expected.split("…")))
        assert re.fullmatch(pattern, told), (sent, told)
    assert robot.process.wait(30) == 0


def test_a_robot_finds_what_it_looks_for(ask):
    start = ask(id=1, do="start", goal="wine", loci=True, at={"x": 6, "y": 3})
    assert (start["id"], start["target_status"]) == (1, "searching")
    assert start["position"] == {"x": 6.0, "y": 3.0, "yaw": 0.0}
    step = ask(id="b", do="step")["step"]
    assert step["next"]["pose"] == {"x": 2.5, "y": -1.0, "yaw": 0.0}
    assert step["next"]["path"] == "palace/chambers/places/Cellar.md"
    assert step["candidates"][0]["node_id"] == CELLAR
    ask(do="at", at={"x": 2.0, "y": -1.0, "yaw": 1.5})
    seen = ask(do="observe", seen=True)
    assert seen["position"] == {"x": 2.0, "y": -1.0, "yaw": 1.5}
    assert ask(do="observe", seen=True)["target_status"] == "visible"
    assert ask(do="step")["step"]["next_action"] == "approach"
    assert ask(do="observe", seen=True, metres=0.4)["target_status"] == "done"
    assert ask(do="step")["error"]["message"].endswith("start over with `palace seek goal`")
    assert ask(do="goal", goal="tools")["target_status"] == "searching"
    assert ask(do="list")["searches"][0]["search"] == "wine"


def test_a_moving_robot_explores_what_is_near(ask):
    ask(do="start", goal="wine", loci=True, constraints=["within 4"], at={"x": 0, "y": 9})
    assert ask(do="step")["step"]["next_node_id"] == ATTIC
    assert ask(do="step", at={"x": 7, "y": 3})["step"]["next_node_id"] == GARAGE


def test_several_searches_go_on_by_their_names(ask):
    ask(do="start", goal="wine", loci=True)
    ask(do="start", goal="tools of a car", loci=True)
    assert ask(do="step")["search"] == "tools-of-a-car"
    assert ask(do="step", search="wine")["search"] == "wine"
    assert ask(do="step")["search"] == "wine"
    assert "no search starts with" in ask(do="step", search="../x")["error"]["message"]


def test_a_map_that_grows_is_searched_at_once(ask, house):
    ask(do="start", goal="purple umbrella", loci=True)
    node = {"node_id": 9, "pose": {"x": 1, "y": 1}, "summary": "a purple umbrella"}
    assert ask(do="nodes", nodes=[node])["changed"] == ["palace/chambers/places/Locus 9.md"]
    assert ask(do="step")["step"]["next_node_id"] == 9
    node["pose"] = {"x": 4, "y": 4}
    ask(do="nodes", nodes=[node])
    assert ask(do="step")["step"]["next"]["pose"] == {"x": 4.0, "y": 4.0, "yaw": 0.0}
    twice = ask(do="nodes", nodes=[node, node])
    assert twice["error"]["message"] == "nodes: two nodes have id 9"


def test_notes_are_read_and_confirmed(notes):
    requests = Requests(notes)

    def ask(**request):
        answer = json.loads(requests.answer(json.dumps(request).encode()))
        check_answer(answer)
        return answer

    ask(do="start", goal="where is the pump")
    place = ask(do="step")["step"]["next"]
    assert (place["path"], place["lines"]) == ("palace/chambers/pump.md", [3, 3])
    reading = ask(do="observe", budget=200)["reading"]
    assert "moved to the shed" in reading["passages"][0]["text"]
    refused = ask(do="observe", found="moved to the roof")["error"]
    assert (refused["code"], refused["kind"]) == (8, "CheckFailedError")
    assert ask(do="observe", found="moved to the shed")["target_status"] == "done"


def test_a_newer_index_is_picked_up_between_requests(notes):
    requests = Requests(notes)
    requests.answer(b'{"do": "start", "goal": "the valve of the boiler"}')
    before = json.loads(requests.answer(b'{"do": "step"}'))["step"]
    (notes.paths.notes / "chambers" / "boiler.md").write_text("# Boiler\n\nIts valve is new.\n")
    Palace(notes.paths.root).index()
    after = json.loads(requests.answer(b'{"do": "step"}'))["step"]
    assert before["next"]["title"] != "Boiler"
    assert after["next"]["title"] == "Boiler"


def test_loci_are_read_again_only_where_their_notes_have_changed(house, monkeypatch):
    folder = house.paths.notes / "chambers" / "places"
    for path in house.paths.notes.rglob("*.md"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    read, real = [], document.read_note
    monkeypatch.setattr(
        document,
        "read_note",
        lambda paths, file, **m: read.append(file.path) or real(paths, file, **m),
    )
    requests = Requests(house)
    requests.answer(b'{"do": "start", "goal": "wine", "loci": true}')
    read.clear()
    for _ in range(3):
        requests.answer(b'{"do": "step"}')
    assert read == []
    cellar = folder / "Cellar.md"
    cellar.write_text(cellar.read_text("utf-8").replace("x: 2.5", "x: 3.5"), "utf-8")
    step = json.loads(requests.answer(b'{"do": "step"}'))["step"]
    assert step["next"]["pose"]["x"] == 3.5
    assert read == ["palace/chambers/places/Cellar.md"]


ODD = (
    *(None, True, False, 0, -1, 1.5, 10**400, "", " ", "\x00", "\ud800", "é" * 3_000, [], {}),
    *({"x": 1}, {"x": 1, "y": "2"}, {"x": 10**30, "y": 0}, [[[]]], "../../etc", "wine"),
    *([{"node_id": 10**30, "pose": {"x": 0, "y": 0}}], [{"node_id": 1}], ["avoid 0"]),
)
LINES = (
    *(b"", b"\x00", b"\xff\xfe", b"null", b"[]", b"1", b'"x"', b"{", b"}", b"{}", b'{"do":'),
    *(b'{"do": "fly"}', b'{"do": ["step"]}', b'{"do": "step", "id": NaN}', b'{"id": Infinity}'),
    *(b'{"do": "step", "id": {"a": 1}}', b'{"do": "step", "id": true}', b'{"do": "at"}'),
    *(b'{"do": "start", "goal": "x", "within": 1e999}', b'{"do": "start"}', b"[" * 100_000),
    *(b'{"do": "start", "goal": "?!"}', b'{"do": "start", "goal": "\\ud800 wine"}'),
    *(b'{"do": "start", "goal": "' + b"wine " * 200 + b'"}', b"9" * 5_000),
    *(b'{"do": "observe", "seen": true, "found": "x"}', b'{"do": "observe", "metres": 1}'),
    *(b'{"do": "nodes", "nodes": [], "room": "../out"}', b'{"do": "step", "goal": "wine"}'),
)


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_what_is_malformed_is_refused_in_one_line(house, line):
    requests = Requests(house)
    told = requests.answer(line)
    assert "\n" not in told
    answer = json.loads(told)
    check_answer(answer)
    assert answer["ok"] is False
    assert set(answer["error"]) == {"code", "kind", "message"}


def test_who_does_not_know_what_may_be_asked_is_told(house):
    answer = json.loads(Requests(house).answer(b'{"op": "start", "goal": "red backpack"}'))
    told = answer["error"]["message"]
    assert told.startswith('a request says what to "do": start, step, observe')


def test_whatever_is_sent_is_answered_and_changes_nothing_it_should_not(house):
    requests, source = Requests(house), random.Random(7)
    requests.answer(b'{"do": "start", "goal": "wine", "loci": true}')
    outside = set(house.paths.root.parent.iterdir())
    fields = list(read_json(ROOT / "memory_palace/navigation/schemas/request.json")["properties"])
    verbs = ("start", "step", "observe", "at", "status", "list", "goal", "nodes")
    for _ in range(150):
        names = source.sample(fields, source.randrange(4))
        request = {name: source.choice(ODD) for name in names} | {"do": source.choice(verbs)}
        answer = json.loads(requests.answer(json.dumps(request).encode()))
        check_answer(answer)
    assert set(house.paths.root.parent.iterdir()) == outside
    assert json.loads(requests.answer(b'{"do": "status", "search": "wine"}'))["ok"]


def test_a_line_without_end_is_refused_and_the_next_one_answered(robot):
    assert robot.send(b"x" * (MOST_LINE_BYTES + 70_000))["ok"] is False
    assert robot.ask(id=2, do="list") == {"id": 2, "ok": True, "searches": []}
    robot.process.stdin.write(b'{"id": 3, "do": "list"}')  # the last line lacks its end
    robot.process.stdin.close()
    assert json.loads(robot.process.stdout.readline())["id"] == 3
    assert robot.process.stdout.read() == b""
    assert robot.process.wait(30) == 0
    robot.process.stdin = None


def test_a_reader_that_has_gone_ends_it_quietly(robot):
    robot.ask(do="list")
    robot.process.stdout.close()
    robot.process.stdin.write(b'{"do": "list"}\n' * 3)
    robot.process.stdin.close()
    assert robot.process.wait(30) == 0
    assert robot.process.stderr.read() == b""
    robot.process.stdin = robot.process.stdout = None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(robot, number):
    robot.ask(do="list")
    robot.process.send_signal(number)
    assert robot.process.wait(30) == 0
    assert robot.process.stderr.read() == b""


def test_a_killed_one_loses_no_step_and_the_command_line_goes_on(robot, house):
    robot.ask(do="start", goal="wine", loci=True)
    robot.ask(do="step")
    root = str(house.paths.root)
    assert CliRunner().invoke(app, ["seek", "step", "-C", root]).exit_code == 0
    assert robot.ask(do="step")["step"]["step"] == 2
    robot.process.kill()
    robot.process.wait(30)
    assert load_search(Palace(house.paths.root)).step == 3
    assert CliRunner().invoke(app, ["seek", "observe", "--not-seen", "-C", root]).exit_code == 0
