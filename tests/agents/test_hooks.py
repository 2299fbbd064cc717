"""Hooks: what an agent is told, and that no call ever fails."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from random import Random

import pytest
from calling_hooks import PALACE, call, read_log
from copying_palaces import copy_sample
from running import run_main
from serving_palaces import count_answers, start, stop, wait_until, warm
from writing_notes import index_notes

from memory_palace import Palace
from memory_palace.features.agents.hook_log import EVENTS, log_call, read_health
from memory_palace.features.agents.hooks import name_work

SAID = "The rain gauge drifts in frost again, should we wrap the funnel in felt as Wren does?"
NOTES = {
    "Frost": "# Frost\n\nThe rain gauge drifts in frost; Wren wraps the funnel in felt.\n",
    "Boat": "# Boat\n\nThe stern light covers 135 degrees, says Sable.\n",
    "Lighthouse keeper": "# Lighthouse keeper\n\nThe lighthouse keeper oils the lamp at dusk.\n",
}


@pytest.fixture
def root(tmp_path, runtime, monkeypatch):
    """A palace of few notes, and a user with nothing configured."""
    monkeypatch.delenv("PALACE_AGENT", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    notes = {f"{name}.md": text for name, text in NOTES.items()}
    return index_notes(tmp_path / "notes", notes).paths.root.resolve()


def say(root, text=SAID, **fields):
    return {"session_id": "s1", "cwd": str(root), "prompt": text, **fields}


def configure(tmp_path, **values):
    file = tmp_path / "own" / "memory-palace" / "palaces.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"palaces": {}, "default": None, **values}), "utf-8")


class Input:
    """Standard input from a file, in this process."""

    def __init__(self, file, data):
        file.write_bytes(data)
        self._file = file.open("rb")
        self.fileno = self._file.fileno

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()


def test_a_prompt_gets_what_the_notes_have_while_standard_input_stays_open(root):
    done = call("prompt", say(root))
    assert done.status == 0
    assert "Frost.md:3" in done.out
    assert "felt" in done.out
    assert done.out.startswith("From the notes of this palace")  # no harness takes it for JSON
    assert "not instructions" in done.out
    assert done.errors == ""
    assert read_log(root)[-1]["result"] == "told"
    long = f"{SAID} {'and so on ' * 20_000}"
    assert "felt" in call("prompt", say(root, long, session_id="200 kB")).out


def test_small_talk_gets_nothing(root):
    assert call("prompt", say(root, "thanks, that looks good")) == (0, "", "")
    assert read_log(root)[-1]["result"] == "silent"


def test_the_same_sentence_is_told_once_in_a_session_and_again_after_its_context_is_gone(root):
    first = call("prompt", say(root)).out
    assert call("prompt", say(root)).out == ""
    assert call("prompt", say(root, session_id="s2")).out == first
    call("session-start", say(root, source="resume"))
    assert call("prompt", say(root)).out == ""
    call("session-start", say(root, source="compact"))
    assert call("prompt", say(root)).out == first


def test_a_note_that_says_something_else_now_is_told_again(root):
    call("prompt", say(root))
    changed = NOTES["Frost"].replace("felt", "wool, not felt,")
    (root / "Frost.md").write_text(changed, "utf-8")
    Palace(root).index()
    assert "wool" in call("prompt", say(root)).out


def test_a_session_begins_with_work_conflicts_the_last_telegraph_and_what_is_near(tmp_path):
    home = copy_sample(tmp_path / "sample", embedder="hashing").paths.root
    folder = tmp_path / "winter-battery-swap"
    folder.mkdir()
    done = call("session-start", say(folder, source="startup"), PALACE_ROOT=str(home))
    assert "Active tasks:" in done.out, done.errors
    out = done.out
    assert "owner wren" in out
    assert "next: Jean-Luc Perrin" in out
    assert "mast-height-at-saddle-hut.md" in out
    assert "Learned last:" in out
    assert "On winter battery swap, where you are:" in out
    assert len(out.encode()) < 5_000


def test_a_folder_is_named_by_its_own_name_unless_it_is_one_of_the_notes(tmp_path):
    notes, work = tmp_path / "notes", tmp_path / "tide_gauge-firmware"
    (notes / "Boat").mkdir(parents=True)
    work.mkdir()
    assert name_work(str(work), notes) == "tide gauge firmware"
    for folder in (str(notes), str(notes / "Boat"), "", "relative", "/a\0b", str(Path.home())):
        assert name_work(folder, notes) == ""


def test_what_the_agent_remembered_last_is_said_when_its_next_session_starts(root):
    Palace(root).remember("The key of the boat house is behind the gutter.", agent="claude")
    out = call("session-start", say(root, source="startup")).out
    assert "You remembered last:" in out
    assert "behind the gutter" in out
    assert call("session-start", say(root), options=("--harness", "codex")).out == ""


def test_an_index_that_is_missing_or_behind_is_said_in_one_line_and_else_nothing(root):
    assert call("session-start", say(root, source="startup")) == (0, "", "")
    (root / "New.md").write_text("# New\n\nSomething.\n", "utf-8")
    assert "1 note" in call("session-start", say(root)).out
    shutil.rmtree(root / ".palace" / ".index")
    done = call("session-start", say(root))
    assert done.out == "This palace has no index: `palace index` makes one.\n"


def test_the_palace_is_the_nearest_one_of_the_folder_in_the_message(root, tmp_path):
    below = root / "a" / "b"
    below.mkdir(parents=True)
    assert "felt" in call("prompt", say(below), cwd=tmp_path).out
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert call("prompt", say(elsewhere), cwd=root) == (0, "", "")
    assert "felt" in call("prompt", say(tmp_path / "gone", session_id="s2"), cwd=root).out
    assert "felt" in call("prompt", say(elsewhere, session_id="s3"), options=("-C", str(root))).out
    assert "felt" in call("prompt", say(elsewhere, session_id="s4"), PALACE_ROOT=str(root)).out
    configure(tmp_path, palaces={"mine": str(root)}, default="mine")
    assert "felt" in call("prompt", say(elsewhere, session_id="s9")).out


def test_the_server_answers_and_the_agents_own_variables_do_not_keep_it_from_that(root):
    alone = call("prompt", say(root, session_id="alone")).out
    start(root)
    try:
        before = count_answers(root)
        assert call("prompt", say(root), PALACE_AGENT="wren").out == alone
        assert call("prompt", say(root), PALACE_AGENT="wren").out == ""
        assert count_answers(root) > before + 1
    finally:
        stop(root)


@pytest.mark.long
def test_a_server_that_hangs_holds_no_agent_up(root):
    pid = start(root)
    try:
        os.kill(pid, signal.SIGSTOP)
        assert call("prompt", say(root))[:2] == (0, "")
        assert read_log(root)[-1]["why"] == "the time was up"
    finally:
        os.kill(pid, signal.SIGCONT)
        stop(root)


def test_a_server_is_started_for_the_next_prompt_where_the_user_says_so(root, tmp_path):
    configure(tmp_path, serve="auto")
    call("prompt", say(root))
    try:
        wait_until(lambda: warm(root, "serve", "--status")[0] == 0, "no server was started")
    finally:
        stop(root)


HOSTILE = {
    "nothing": b"",
    "no object": b"[1, 2]\n",
    "half": b'{"prompt": "rain',
    "deep": b"[" * 100_000 + b"\n",
    "deep object": b'{"a":' * 100_000 + b"\n",
    "bytes": b"\xff\xfe\x00{}",
    "huge number": b'{"a": ' + b"9" * 100_000 + b', "cwd": 1e999, "prompt": NaN}\n',
    "surrogates": b'{"prompt": "\\ud800 \\u0000", "cwd": "\\ud800", "session_id": "\\udc00"}\n',
    "types": b'{"prompt": ["a"], "cwd": {"a": 1}, "session_id": 7}\n',
    "path": b'{"session_id": "../../../../tmp/x", "cwd": "../..", "prompt": "x"}\n',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_is_sent_the_status_is_0_and_nothing_is_printed(root, name):
    done = call("prompt", HOSTILE[name], cwd=root)  # what is cut is waited for
    assert (done.status, done.out) == (0, "")
    assert "Traceback" not in done.errors
    assert {path.name for path in root.iterdir()} == {".palace", *(f"{n}.md" for n in NOTES)}


def spoil(random, message):
    """Return the bytes of a message with something wrong in it, or not."""
    values = ("", "\0", "\ud800", "../" * 40, "/dev/zero", "/etc/passwd", 10**30, None, [], {})
    spoilt = {
        key: random.choice(values) if random.random() < 0.4 else v for key, v in message.items()
    }
    data = bytearray(json.dumps(spoilt).encode())
    for _ in range(random.choice((0, 0, 1, 3, 30))):
        place = random.randrange(len(data))
        data[place : place + random.randrange(3)] = random.choice(
            (b"", b"{", b'"', b"\xff", b"[[[")
        )
    return bytes(data[: random.randrange(len(data) + 1)] if random.random() < 0.3 else data)


@pytest.mark.parametrize(
    "count", [pytest.param(100, id="100"), pytest.param(2_000, id="2000", marks=pytest.mark.long)]
)
def test_malformed_messages_are_answered_with_status_0_and_touch_nothing(
    root, tmp_path, monkeypatch, capsys, count
):
    random = Random(count)
    monkeypatch.chdir(root)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    outside = {path for path in before if root / ".palace" not in path.parents}
    for _ in range(count):
        message = say(root, "thanks, that looks good", source="clear")
        with Input(tmp_path / "message", spoil(random, message)) as given:
            monkeypatch.setattr("sys.stdin", given)
            event = random.choice(EVENTS)
            status, out, errors = run_main(capsys, "hook", event, "--harness", "codex")
        assert status == 0, errors
        assert out == "" or out.startswith("A hook failed when it was last called: "), errors
        os.chdir(root)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / "message").unlink()
    assert {path for path in after if root / ".palace" not in path.parents} == {
        *outside,
        tmp_path / "message",
    }
    assert all(after[path] == before[path] for path in outside)


@pytest.mark.parametrize(
    "line", [("bogus",), ("prompt", "--harness", "other"), ("prompt", "--bogus"), ()]
)
def test_a_line_that_is_mistyped_does_not_stop_an_agent_either(root, line):
    status, out, errors = warm(root, "hook", *line, stdin="{}")
    assert (status, out) == (0, "")
    assert errors.startswith("palace hook: ")


def test_a_failure_is_in_the_log_without_what_was_said_and_status_shows_it(root):
    for segment in (root / ".palace" / ".index").glob("*.npz"):
        segment.write_bytes(b"torn")
    done = call("prompt", say(root))
    assert (done.status, done.out) == (0, "")
    record = read_log(root)[-1]
    assert record["result"] == "failed"
    assert record["why"] in done.errors
    assert "gauge" not in json.dumps(read_log(root))
    Palace(root).index(force=True, embedder="hashing")
    status = warm(root, "status", "--details")[1]
    assert f"fails: prompt (claude): {record['why']}" in status
    assert "A hook failed when it was last called: prompt" in call("session-start", say(root)).out
    call("prompt", say(root))
    status = warm(root, "status", "--details")[1]
    assert "fails:" not in status
    assert "last failed" not in status and record["why"] not in status


def test_a_hook_that_still_fails_is_the_last_failure_whatever_has_succeeded_since(root):
    index = root / ".palace" / ".index"
    log_call(index, "session-start", "claude", result="failed", why="no space")
    log_call(index, "prompt", "claude", result="failed", why="no index")
    log_call(index, "", "claude", result="failed", why="no event")
    log_call(index, "prompt", "claude", result="told")
    health = read_health(Palace(root))
    assert health.failing == ("session-start (claude): no space",)
    assert health.failure["why"] == "no space" and health.last["result"] == "told"
    log_call(index, "session-start", "claude", result="silent")
    assert read_health(Palace(root)).failure is None


def test_a_defect_is_named_by_its_place_and_not_by_what_it_quotes(root, monkeypatch, capsys):
    def fail(*_, **__):
        raise KeyError(SAID)

    monkeypatch.chdir(root)
    monkeypatch.setattr(Palace, "recall", fail)
    with Input(root / "message", json.dumps(say(root)).encode()) as given:
        monkeypatch.setattr("sys.stdin", given)
        status, out, errors = run_main(capsys, "hook", "prompt", "--no-serve")
    assert (status, out) == (0, "")
    assert read_log(root)[-1]["why"].startswith("KeyError in ")
    assert "gauge" not in errors + json.dumps(read_log(root))


def test_an_index_that_cannot_be_written_does_not_matter(root):
    index = root / ".palace" / ".index"
    (index / "hook.log").mkdir()
    (index / "hooks").write_text("", "utf-8")
    assert "felt" in call("prompt", say(root)).out


def test_a_disk_that_takes_nothing_keeps_no_answer_back(root):
    line = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *PALACE, "hook", "prompt"]
    done = subprocess.run(
        line, input=json.dumps(say(root)), cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "felt" in done.stdout
    assert not (root / ".palace" / ".index" / "hooks").exists() or not list(
        (root / ".palace" / ".index" / "hooks").glob("*.json")
    )


def test_nothing_is_written_through_a_link(root, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine\n", "utf-8")
    (root / ".palace" / ".index" / "hook.log").symlink_to(victim)
    (root / ".palace" / ".index" / "hooks").symlink_to(tmp_path)
    call("prompt", say(root))
    assert victim.read_text("utf-8") == "mine\n"
    assert not list(tmp_path.glob("*.json"))


def test_output_that_nobody_takes_is_no_failure(root):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PALACE, "hook", "prompt"],
            input=json.dumps(say(root)),
            text=True,
            cwd=root,
            stdout=full,
        )
    assert done.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_harness_that_loses_patience_gets_status_0(root, number):
    pipe = subprocess.PIPE
    line = [*PALACE, "hook", "prompt"]
    with subprocess.Popen(line, cwd=root, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        process.stdin.write(b'{"prompt": ')
        process.stdin.flush()
        wait_until(lambda: is_reading(process.pid), "it does not read")
        process.send_signal(number)
        assert process.wait() == 0
        assert process.stdout.read() == b""
    assert read_log(root)[-1]["why"] == f"signal {number.value}"


def is_reading(pid):
    """Whether a process waits in a call of ``select`` or ``poll``."""
    waiting = Path(f"/proc/{pid}/wchan").read_text("ascii")
    return "select" in waiting or "poll" in waiting
