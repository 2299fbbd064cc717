"""Run every shell session in this folder and in three pages, and compare what it prints.

A session is a ``console`` block. ``$`` starts a command; ``…`` stands for anything on one line;
``[stderr] `` marks a line on stderr, ``[exit N]`` a status other than 0.

The layout is the classic one, but for the page on layouts; ``tests/layouts`` compares the others.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from forking import Forked, run_with_minilm_alone

from memory_palace.embedding.registry import MINILM, is_available

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
IN_SAMPLE = [ROOT / "references" / name for name in ("agents.md", "guide.md")]
SESSIONS = [*sorted(HERE.glob("*.md")), *IN_SAMPLE, ROOT / "references" / "layouts.md"]


def commands(path: Path) -> list[tuple[str, list[str]]]:
    blocks = re.findall(r"^```console\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S)
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def pretend_to_have_minilm(cache: Path) -> Path:
    """Make files of the right length, so that nothing is said of a missing model."""
    folder = MINILM.folder(cache)
    folder.mkdir(parents=True)
    for file in MINILM.files:
        with (folder / file.name).open("wb") as sparse:
            sparse.truncate(file.size_bytes)
    return cache


@pytest.fixture(scope="module")
def palace(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Sequence[str], Path], tuple[int, str, str]]:
    """Run a command in a folder; return its exit status, stdout and stderr."""
    clean = {k: v for k, v in os.environ.items() if k != "PALACE_ROOT"}
    if not is_available("minilm"):
        clean["PALACE_CACHE"] = str(pretend_to_have_minilm(tmp_path_factory.mktemp("cache")))
    clean |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}

    def run_palace(arguments: Sequence[str], folder: Path) -> tuple[int, str, str]:
        return Forked(run_with_minilm_alone, *arguments, folder=folder, environ=clean).wait()

    return run_palace


def run(palace, command: str, folder: Path) -> list[str]:
    if not command.startswith("palace "):
        subprocess.run(["bash", "-c", command], cwd=folder, check=True)
        return []
    status, out, err = palace(shlex.split(command)[1:], folder)
    lines = [line.rstrip() for line in out.splitlines()]
    lines += [f"[stderr] {line}".rstrip() for line in err.splitlines()]
    return lines + ([f"[exit {status}]"] if status else [])


def matches(expected: str, line: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, expected.rstrip().split("…"))), line) is not None


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)
def test_a_session_prints_what_it_shows(session, palace, tmp_path):
    if session in IN_SAMPLE:
        if not is_available("minilm"):
            pytest.skip("sessions in the sample palace use minilm; palace models fetch minilm")
        shutil.copytree(ROOT / "palace", tmp_path / "palace", ignore=shutil.ignore_patterns(".*"))
    found = commands(session)
    assert found
    for command, expected in found:
        printed = run(palace, command, tmp_path)
        pairs = zip(expected, printed, strict=False)
        is_same = len(expected) == len(printed) and all(matches(e, p) for e, p in pairs)
        assert is_same, "\n".join([f"$ {command}", *printed])
