"""Put known faults into a copy of the package, one at a time, and see whether a test notices."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).parent / "mutants.toml"
ROOT = Path(__file__).parents[2]
PACKAGE = "memory_palace"
LONGEST_SECONDS = 900
"""A run that takes longer is stopped; a fault that makes tests hang counts as noticed."""
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: what is replaced, what it means to a user, and which tests should notice."""

    name: str
    means: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one mutant."""

    mutant: Mutant
    word: str
    """``killed``, ``survived``, ``hangs`` (noticed too), or ``broken`` where no test ran."""
    by: str
    """The first test that failed, or what pytest said."""
    seconds: float


def read_mutants(path: Path = LIST) -> list[Mutant]:
    """Return the list as it stands in the file."""
    tables = tomllib.loads(path.read_text("utf-8"))["mutant"]
    return [Mutant(**{**table, "tests": tuple(table["tests"])}) for table in tables]


def find_places(mutant: Mutant, root: Path = ROOT) -> list[Path]:
    """Return the file of every occurrence of the old text; a sound mutant has exactly one."""
    files = sorted((root / PACKAGE).rglob("*.py"))
    return [file for file in files for _ in range(file.read_text("utf-8").count(mutant.old))]


def run_mutants(mutants: Sequence[Mutant]) -> Iterator[Verdict]:
    """Yield a verdict for each mutant. The work tree is only read."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=_LEFT_OUT)
        everything = dict.fromkeys(test for mutant in mutants for test in mutant.tests)
        untouched = _run_tests(copy, tuple(everything))
        if untouched.returncode != 0:
            raise SystemExit(f"the tests fail without any mutant:\n{untouched.stdout[-3000:]}")
        for number, mutant in enumerate(mutants, start=1):
            yield _judge(copy, mutant, number)


def _judge(copy: Path, mutant: Mutant, number: int) -> Verdict:
    started = time.monotonic()
    places = find_places(mutant, copy)
    if len(places) != 1:
        return Verdict(mutant, "broken", f"its old text stands {len(places)} times", 0.0)
    file = places[0]
    before, stat = file.read_bytes(), file.stat()
    file.write_text(before.decode().replace(mutant.old, mutant.new), "utf-8")
    # A time of its own, so that no byte code of another mutant is taken for this one's.
    os.utime(file, (number, number))
    try:
        done = _run_tests(copy, mutant.tests)
        word = {0: "survived", 1: "killed"}.get(done.returncode, "broken")
        failed = _FAILED.search(done.stdout)
        by = failed[1] if failed else "" if word == "survived" else done.stdout[-300:]
    except subprocess.TimeoutExpired:
        word, by = "hangs", ""
    finally:
        file.write_bytes(before)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return Verdict(mutant, word, by, time.monotonic() - started)


def _run_tests(copy: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "-m", "not slow",
               "-p", "no:randomly", "-p", "no:cacheprovider", *tests]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    return subprocess.run(
        command, cwd=copy, env=environment, text=True, timeout=LONGEST_SECONDS, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def main() -> int:
    """Run the mutants named on the command line, or all; return 1 where one survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these; all without any")
    names = parser.parse_args().names
    mutants = [mutant for mutant in read_mutants() if not names or mutant.name in names]
    if unknown := set(names) - {mutant.name for mutant in mutants}:
        parser.error(f"no mutant is called {', '.join(sorted(unknown))}")
    unnoticed = []
    print("| mutant | verdict | first test that failed | seconds |\n|---|---|---|---|")
    for verdict in run_mutants(mutants):
        name, by = verdict.mutant.name, " ".join(verdict.by.split())
        print(f"| {name} | {verdict.word} | {by} | {verdict.seconds:.0f} |", flush=True)
        if verdict.word not in ("killed", "hangs"):
            unnoticed.append(name)
    print(f"\n{len(mutants)} mutants, {len(unnoticed)} unnoticed: {', '.join(unnoticed) or 'none'}")
    return 1 if unnoticed else 0
