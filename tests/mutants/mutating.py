"""Put known faults into a copy of the package, one at a time, and see whether a test notices."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

LIST = Path(__file__).parent / "mutants.toml"
ROOT = Path(__file__).parents[2]
PACKAGE = "memory_palace"
LONGEST_SECONDS = 900
"""A run that takes longer is stopped; a fault that makes tests hang counts as noticed."""
_LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info")
_FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+)", re.MULTILINE)
"""Which test failed first, its parameters left out."""


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


def run_mutants(mutants: Sequence[Mutant], *, jobs: int) -> Iterator[Verdict]:
    """Yield a verdict for each mutant, as many at a time as there are jobs; read the work tree."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            copy = Path(folder) / f"{job}" / "copy"
            shutil.copytree(ROOT, copy, ignore=_LEFT_OUT)
            copies.put(copy)

        def judge_somewhere(mutant: Mutant) -> Verdict:
            copy = copies.get()
            try:
                return _judge(copy, mutant)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(judge_somewhere, mutants)


def _judge(copy: Path, mutant: Mutant) -> Verdict:
    """Run a mutant's tests, and the one that failed once more without the mutant."""
    started = time.monotonic()
    word, by = _try(copy, mutant)
    if word == "killed" and _run_tests(copy, [by]).returncode != 0:
        word, by = "broken", f"{by} fails without the mutant"
    return Verdict(mutant, word, by, time.monotonic() - started)


def _try(copy: Path, mutant: Mutant) -> tuple[str, str]:
    places = find_places(mutant, copy)
    if len(places) != 1:
        return "broken", f"its old text stands {len(places)} times"
    file = places[0]
    before, stat = file.read_bytes(), file.stat()
    file.write_text(before.decode().replace(mutant.old, mutant.new), "utf-8")
    # A time of its own, so that no byte code of another mutant is taken for this one's.
    second = zlib.crc32(mutant.name.encode()) % 10**9
    os.utime(file, (second, second))
    try:
        done = _run_tests(copy, mutant.tests)
    except subprocess.TimeoutExpired:
        return "hangs", ""
    finally:
        file.write_bytes(before)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    failed = _FAILED.search(done.stdout)
    if done.returncode == 1 and failed:
        return "killed", failed[1]
    return ("survived", "") if done.returncode == 0 else ("broken", done.stdout[-300:])


def _run_tests(copy: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-x", "--no-header"),
        *("-p", "no:randomly", "-p", "no:cacheprovider", "-m", "not long", *tests),
    ]
    return subprocess.run(
        command,
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def main() -> int:
    """Run the mutants named on the command line, or all; return 1 where one survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these; all without any")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time; 2 without it")
    asked = parser.parse_args()
    names = asked.names
    mutants = [mutant for mutant in read_mutants() if not names or mutant.name in names]
    if unknown := set(names) - {mutant.name for mutant in mutants}:
        parser.error(f"no mutant is called {', '.join(sorted(unknown))}")
    unnoticed = []
    print("| mutant | verdict | first test that failed | seconds |\n|---|---|---|---|")
    for verdict in run_mutants(mutants, jobs=asked.jobs):
        name, by = verdict.mutant.name, " ".join(verdict.by.split())
        print(f"| {name} | {verdict.word} | {by} | {verdict.seconds:.0f} |", flush=True)
        if verdict.word not in ("killed", "hangs"):
            unnoticed.append(name)
    print(f"\n{len(mutants)} mutants, {len(unnoticed)} unnoticed: {', '.join(unnoticed) or 'none'}")
    return 1 if unnoticed else 0
