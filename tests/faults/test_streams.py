"""Standard output that is full, closed or gone: one line on stderr, and an exit code."""

import subprocess
import sys
from pathlib import Path

import pytest
from serving_palaces import warm

FULL = Path("/dev/full")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("streams")
    for line in ("init .", "new Frost", "index --embedder hashing -q"):
        assert warm(root, *line.split())[0] == 0
    return root


def run(root, line, end):
    command = f'"$0" -m memory_palace {line} {end}'
    return subprocess.run(
        ["sh", "-c", command, sys.executable], cwd=root, capture_output=True, text=True
    )


@pytest.mark.parametrize("line", ["list", "--version", "query frost --json", "graph --help"])
@pytest.mark.parametrize("end", [">/dev/full", ">&-", ">&- <&-"])
def test_output_that_cannot_be_written_is_one_line(root, line, end):
    if "full" in end and not FULL.exists():
        pytest.skip("this machine has no /dev/full")
    done = run(root, line, end)
    assert done.returncode == 1
    assert done.stderr.startswith("palace: standard output cannot be written: ")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_goes_away_is_no_failure(root):
    done = run(root, "list", "| true")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not FULL.exists(), reason="this machine has no /dev/full")
def test_a_full_stderr_hides_no_exit_code(root):
    assert run(root, "show nothing", "2>/dev/full").returncode == 2
