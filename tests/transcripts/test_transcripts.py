"""Run every shell session in the README and in this folder, and compare what it prints.

A session is a ``console`` block. ``$`` starts a command; ``…`` stands for anything on one line;
``[stderr] `` marks a line on stderr, ``[exit N]`` a status other than 0.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memory_palace.embedding.registry import is_available

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SESSIONS = [*sorted(HERE.glob("*.md")), ROOT / "README.md"]


def commands(path: Path) -> list[tuple[str, list[str]]]:
    blocks = re.findall(r"^```console\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S)
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def run(command: str, folder: Path) -> list[str]:
    if not command.startswith("palace "):
        subprocess.run(["bash", "-c", command], cwd=folder, check=True)
        return []
    arguments = [sys.executable, "-m", "memory_palace", *shlex.split(command)[1:]]
    clean = {k: v for k, v in os.environ.items() if k != "PALACE_ROOT"}
    env = {**clean, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, env=env)
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    lines += [f"[stderr] {line}".rstrip() for line in done.stderr.splitlines()]
    return lines + ([f"[exit {done.returncode}]"] if done.returncode else [])


def matches(expected: str, line: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, expected.rstrip().split("…"))), line) is not None


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)
def test_a_session_prints_what_it_shows(session, tmp_path):
    if session.name == "README.md":
        if not is_available("minilm"):
            pytest.skip("the README's session uses minilm; palace models fetch minilm")
        shutil.copytree(ROOT / "palace", tmp_path / "palace", ignore=shutil.ignore_patterns(".*"))
    found = commands(session)
    assert found
    for command, expected in found:
        printed = run(command, tmp_path)
        pairs = zip(expected, printed, strict=False)
        is_same = len(expected) == len(printed) and all(matches(e, p) for e, p in pairs)
        assert is_same, "\n".join([f"$ {command}", *printed])
