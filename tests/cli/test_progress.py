from __future__ import annotations

import io
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memory_palace.cli.progress import ProgressLine, Rate, fit, show_duration
from memory_palace.palace import Palace


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def follow(moves, **options):
    """Return what stands on the line after each move: seconds, phase, done, total."""
    clock, stream = Clock(), io.StringIO()
    line = ProgressLine(stream, monotonic=clock, **options)
    shown = []
    for clock.now, *move in moves:
        line.advance(*move)
        shown.append(stream.getvalue().rpartition("\x1b[K")[2])
    line.end()
    return shown, stream.getvalue()


def test_the_rate_and_the_time_left_are_known_from_the_first_batch_on():
    shown, _ = follow([(0, "embedding", 0, 5463), (1, "embedding", 32, 5463)])
    assert shown == ["embedding  0 of 5,463", "embedding  32 of 5,463  32/s  2 min 50 s left"]


def test_a_rate_that_changes_is_followed_within_a_few_batches():
    rate = Rate(0, 0.0)
    for second in range(1, 61):
        rate.tell(100 * second, float(second))
    assert rate.per_second == pytest.approx(100)
    for second in range(1, 21):
        rate.tell(6000 + 10 * second, 60.0 + second)
    assert 10 < rate.per_second < 20


def test_what_was_known_before_the_first_batch_is_not_in_the_rate():
    shown, _ = follow([(0, "embedding", 5000, 6000), (10, "embedding", 5100, 6000)])
    assert shown[-1].endswith("10/s  1 min 30 s left")


def test_a_clock_that_stands_still_or_work_that_does_shows_no_rate():
    shown, _ = follow([(0, "a", 0, 9), (0, "a", 3, 9), (5, "b", 0, 9), (9, "b", 0, 9)])
    assert shown[-1] == "b  0 of 9"


def test_off_a_terminal_each_phase_is_one_line():
    moves = [
        (0, "reading", 0, 2),
        (1, "reading", 2, 2),
        (2, "embedding", 0, 9),
        (9, "embedding", 9, 9),
    ]
    assert follow(moves, is_live=False)[1] == "reading: 2\nembedding: 9\n"


def test_bytes_are_shown_as_megabytes_and_a_label_stands_first():
    moves = [(0, "minilm", 0, 91_000_000), (2, "minilm", 9_000_000, 91_000_000)]
    shown, _ = follow(moves, in_bytes=True, label="models")
    assert shown[-1] == "models: minilm  9.0 MB of 91.0 MB  4.5 MB/s  18 s left"


@pytest.mark.parametrize("width", [200, 40, 30, 10])
def test_a_narrow_line_keeps_the_time_left_longest(width):
    line = fit(["embedding", "32 of 5,463", "32/s", "2 min 50 s left"], width)
    assert len(line) <= width
    assert ("left" in line) == (width >= 30)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.4, "0 s"), (59.4, "59 s"), (60, "1 min"), (3599.6, "1 h"), (7500, "2 h 5 min")],
)
def test_durations_are_written_as_people_say_them(seconds, shown):
    assert show_duration(seconds) == shown


SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background ignore it
from memory_palace.embedding.hashing import HashingEmbedder
embed = HashingEmbedder.embed_passages
def slow(self, texts):
    time.sleep(0.02 * len(texts))
    return embed(self, texts)
HashingEmbedder.embed_passages = slow
from memory_palace.cli.app import main
main(sys.argv[1:])
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    palace = Palace.init(tmp_path)
    for number in range(300):
        note = palace.paths.notes / "chambers" / f"{number}.md"
        note.write_text(f"# Note {number}\n\nWord{number} stands here.\n", "utf-8")
    return tmp_path


def test_ctrl_c_says_how_many_passages_are_kept_and_they_are(root):
    """On a terminal of its own, as a person sees it."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-c", SLOW, "-C", str(root), "index", "--embedder", "hashing"]
    with subprocess.Popen(command, stderr=follower, stdout=follower, env=os.environ) as process:
        os.close(follower)
        screen = ""
        while not re.search(r"embedding passages .* left", screen):
            screen += os.read(leader, 4096).decode()
        process.send_signal(signal.SIGINT)
        while True:
            try:
                screen += os.read(leader, 4096).decode()
            except OSError:
                break
    os.close(leader)
    assert process.returncode == 130
    said = re.search(
        r"stopped; ([\d,]+) of 300 vectors are kept; run `palace index` to go on", screen
    )
    assert said and 0 < int(said[1]) < 300
    report = Palace(root).index(embedder="hashing")
    assert report.embedded == 300 - int(said[1])


EARLY = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Hasty:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Hasty())
from memory_palace.cli.app import main
main(["status"])
"""


def test_ctrl_c_before_a_verb_begins_ends_it_as_silently_as_after():
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_off_a_terminal_nothing_is_said_unless_it_is_asked_for(root):
    def run(*options):
        command = [sys.executable, "-m", "memory_palace", "-C", str(root), "index", *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr

    assert run("--embedder", "hashing") == ""
    said = run("--force", "-v").splitlines()
    assert said == [
        "looking for notes: 300",
        "reading notes: 300",
        "embedding passages: 300",
        "writing the index",
    ]
