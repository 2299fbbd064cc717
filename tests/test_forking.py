"""A forked process is what a cold one is, and has less to do."""

import os
import signal

from forking import Forked, run_code, run_line


def test_a_fork_has_its_folder_its_environment_and_its_input(tmp_path):
    code = "import os, sys; print(os.getcwd(), os.environ['X'], sys.stdin.read()); sys.exit(3)"
    ended = Forked(run_code, code, folder=tmp_path, environ={"X": "ä"}, stdin="ö").wait()
    assert ended == (3, f"{tmp_path.resolve()} ä ö\n", "")


def test_a_fork_finds_the_commands_imported_and_says_what_they_say(tmp_path):
    code = "import sys; print('memory_palace.features.asking.verbs' in sys.modules)"
    assert Forked(run_code, code).wait() == (0, "True\n", "")
    status, out, errors = Forked(run_line, "-C", str(tmp_path), "query", "rain").wait()
    assert (status, out) == (3, "") and "palace" in errors


def test_a_fork_that_kills_itself_or_is_killed_has_the_status_of_its_signal():
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert Forked(run_code, code).wait()[0] == -signal.SIGKILL
    waiting = Forked(run_code, "import time; time.sleep(600)")
    assert waiting.pid != os.getpid()
    waiting.kill()
    assert waiting.wait()[0] == -signal.SIGKILL
