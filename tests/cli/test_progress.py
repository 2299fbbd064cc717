import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from running import read_screen
from writing_notes import write_notes

from memory_palace.palace import Palace

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
    Palace.init(tmp_path, here=True)
    notes = {f"{number}.md": f"# Note {number}\n\nWord{number} here.\n" for number in range(300)}
    return write_notes(tmp_path, notes)


def test_ctrl_c_says_how_many_passages_are_kept_and_they_are(root):
    """On a terminal of its own, as a person sees it."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-c", SLOW, "-C", str(root), "index", "--embedder", "hashing"]
    with subprocess.Popen(command, stderr=follower, stdout=follower, env=os.environ) as process:
        os.close(follower)
        screen = ""
        while not re.search(r"embedding passages .*[1-9]\d*/300", screen):
            screen += os.read(leader, 4096).decode()
        process.send_signal(signal.SIGINT)
        screen += read_screen(leader).decode()
    assert process.returncode == 130
    said = re.search(
        r"stopped; ([\d,]+) of 300 vectors are kept; run `palace index` to go on", screen
    )
    assert said and 0 < int(said[1]) < 300
    report = Palace(root).index(embedder="hashing")
    assert report.embedded == 300 - int(said[1])


EARLY = """
import signal, sys
from memory_palace.cli.app import main
signal.signal(signal.SIGINT, signal.default_int_handler)
class Hasty:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Hasty())
main(["status"])
"""


def test_ctrl_c_before_a_verb_begins_ends_it_as_silently_as_after():
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_off_a_terminal_nothing_is_said(root):
    command = [sys.executable, "-m", "memory_palace", "-C", str(root), "index"]
    done = subprocess.run([*command, "--embedder", "hashing"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
