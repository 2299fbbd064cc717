#!/usr/bin/env python3
"""Check what ``make dist`` built: install it as strangers do, ask notes, print times and bytes.

Each way starts with an empty home and a ``PATH`` without git and compiler. ``--quick``, for CI:
pip installs the wheel alone, and pipx is left out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
TOOLS = Path(sys.executable).parent
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
WHEEL = DIST / f"memory_palace-{VERSION}-py3-none-any.whl"
SOURCES = DIST / f"memory_palace-{VERSION}.tar.gz"
BUNDLE = DIST / f"memory-palace-{VERSION}.mcpb"
MOST_WHEEL_BYTES, MOST_INSTALLED_BYTES = 1_300_000, 60_000_000
SUFFIXES = {".css", ".html", ".js", ".json", ".md", ".py", ".sql", ".toml", ".txt", ".typed"}
"""Of the package's files: programs and short texts, no weights and no data."""
PACKER = "@anthropic-ai/mcpb@2"
PROJECT = f"""[project]
name = "memory-palace-bundle"
version = "{VERSION}"
requires-python = ">=3.11"
dependencies = ["memory-palace[mcp]"]

[tool.uv.sources]
memory-palace = {{ path = "{WHEEL.name}" }}
"""
SERVER = "from memory_palace.cli.app import main\n\nraise SystemExit(main(['mcp']))\n"
NOTES = {
    "Ferry.md": "# Ferry\n\nThe last boat back leaves the island at a quarter past six.\n",
    "Kitchen/Bread.md": "# Bread\n\nThe dough rests overnight, and is baked at 230 degrees.\n",
    "Tools.md": "# Tools\n\nThe long ladder is lent to the neighbours until May.\n",
}
QUESTION, ANSWER = "when does the last boat leave", "Ferry.md"
CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": CLIENT | {"clientInfo": {"name": "check_dist", "version": "1"}},
}


def size_of(folder: Path) -> int:
    """Return the bytes of the files of a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def weigh(environment: Path) -> int:
    """Return the bytes that an environment holds beyond numpy; stop where it is too heavy."""
    (packages,) = environment.rglob("lib/python*/site-packages")
    numpy = sum(map(size_of, packages.glob("numpy*")))
    held = size_of(packages) - numpy
    require(held <= MOST_INSTALLED_BYTES, f"{held:,} bytes beyond numpy in {environment}")
    return held


class Clock:
    """Counts the seconds of processes: how long they took, and of the processors."""

    def __init__(self) -> None:
        self._started = time.perf_counter(), self._used()

    @staticmethod
    def _used() -> float:
        times = os.times()
        return times.children_user + times.children_system

    def report(self, what: str, size: int) -> None:
        """Print a row of what was done since the last one."""
        wall, used = time.perf_counter() - self._started[0], self._used() - self._started[1]
        print(f"{what:<56}{wall:7.1f} s{used:7.1f} CPU s{size:>13,} bytes", flush=True)
        self._started = time.perf_counter(), self._used()


def require(holds: bool, what: object) -> None:
    """Stop with exit status 1 where something does not hold."""
    if not holds:
        raise SystemExit(f"check_dist: {what}")


class Stranger:
    """A person with an empty home, who has Python, a shell and the tools to install."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.bin = home / "bin"
        self.bin.mkdir(parents=True)
        python = Path(sys.base_prefix, "bin", "python3")
        for name in ("sh", "env", "dirname", "realpath"):  # scripts of uv begin with these
            (self.bin / name).symlink_to(shutil.which(name) or name)
        for program in (python, TOOLS / "uv", TOOLS / "uvx"):
            (self.bin / program.name).symlink_to(program)
        self.notes = home / "notes"
        for name, text in NOTES.items():
            (self.notes / name).parent.mkdir(parents=True, exist_ok=True)
            (self.notes / name).write_text(text, "utf-8")

    def run(self, *command: object, answer: str = "", given: str = "", **also: str) -> None:
        """Run a command; stop where it fails, or does not print an answer."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name.startswith(("PIP_", "UV_", "SSL_")) or name.lower().endswith("_proxy")
        }
        own = {"HOME": str(self.home), "PATH": f"{self.bin}:{self.home}/.local/bin"}
        done = subprocess.run(
            [str(part) for part in command],
            cwd=self.notes,
            env=kept | own | {"LANG": "C.UTF-8", "NO_COLOR": "1"} | also,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        require(done.returncode == 0, f"{command} failed: {done.stderr[-3000:]}")
        require(answer in done.stdout, f"{command} printed {done.stdout!r}, not {answer!r}")

    def initialize(self, *command: object, **also: str) -> None:
        """Run an MCP server, and say hello."""
        about = f'"serverInfo":{{"name":"memory-palace","version":"{VERSION}"'
        self.run(*command, answer=about, given=json.dumps(HELLO) + "\n", **also)


@contextmanager
def stranger() -> Iterator[Stranger]:
    """Give a person with an empty home; it is gone afterwards."""
    with TemporaryDirectory(prefix="stranger-") as folder:
        yield Stranger(Path(folder) / "home")


def check_contents() -> None:
    """Compare the files in both archives with those of the checkout, and their sizes."""
    files = [path for path in (ROOT / "memory_palace").rglob("*") if path.is_file()]
    package = {
        path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts
    }
    odd = {name for name in package if Path(name).suffix not in SUFFIXES}
    require(not odd, f"no part of the package: {odd}")
    info = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    added = {f"memory_palace-{VERSION}.dist-info/{name}" for name in info}
    with ZipFile(WHEEL) as wheel:
        there = set(wheel.namelist())
        points = wheel.read(f"memory_palace-{VERSION}.dist-info/entry_points.txt").decode()
    require(there == package | added, f"in the wheel or missing: {there ^ (package | added)}")
    for name in ("palace", "memory-palace"):
        require(f"\n{name} = memory_palace.cli.app:main\n" in points, f"no script {name}")
    root = {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "PKG-INFO", ".gitignore"}
    with tarfile.open(SOURCES) as sources:
        there = {name.partition("/")[2] for name in sources.getnames()}
    require(there == package | root, f"in the sdist or missing: {there ^ (package | root)}")
    require(WHEEL.stat().st_size <= MOST_WHEEL_BYTES, f"{WHEEL} is too large")


def make_bundle(person: Stranger, clock: Clock) -> None:
    """Pack the wheel for Claude Desktop with the official program, and start what was packed."""
    npx = shutil.which("npx")
    if npx is None:
        print("no bundle: npx is not here")
        return
    folder = person.home / "bundle"
    folder.mkdir()
    shutil.copy(ROOT / "packaging" / "manifest.json", folder)
    shutil.copy(WHEEL, folder)
    (folder / "pyproject.toml").write_text(PROJECT, "utf-8")
    (folder / "server.py").write_text(SERVER, "utf-8")
    command = [npx, "--yes", PACKER, "pack", str(folder), str(BUNDLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    require(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")
    clock.report("npx mcpb pack", BUNDLE.stat().st_size)
    unpacked = person.home / "unpacked"
    with ZipFile(BUNDLE) as bundle:
        bundle.extractall(unpacked)
    config = json.loads((unpacked / "manifest.json").read_text("utf-8"))["server"]["mcp_config"]
    values = {"${__dirname}": str(unpacked), "${user_config.notes}": str(person.notes)}
    words = [values.get(word, word) for word in (config["command"], *config["args"])]
    env = {name: values.get(value, value) for name, value in config["env"].items()}
    person.initialize(*words, **env)
    clock.report("the bundle answers initialize", size_of(unpacked))


def install_by_pip(person: Stranger, clock: Clock, *options: str) -> None:
    """Install the wheel by pip into an empty environment."""
    target = person.home / "venv"
    person.run("python3", "-m", "venv", "--without-pip", target)
    pip = [TOOLS / "python", "-m", "pip", "--python", target / "bin" / "python", "install"]
    person.run(*pip, *options, WHEEL)
    clock.report(" ".join(["pip install", *options, "WHEEL"]), weigh(target))
    for name in ("palace", "memory-palace"):
        person.run(target / "bin" / name, "--version", answer=VERSION)


def install_by_pipx(person: Stranger, clock: Clock) -> None:
    """Install the wheel by pipx."""
    person.run("uvx", "pipx", "install", "--backend", "pip", WHEEL)
    clock.report("pipx install WHEEL", weigh(person.home / ".local/share/pipx/venvs/memory-palace"))
    person.run("palace", "query", "--help", answer="palace query")


def answer_in_three_lines(person: Stranger, clock: Clock) -> None:
    """Install the wheel by uv and ask notes; then start the MCP server by uvx."""
    person.run("uv", "tool", "install", WHEEL)
    clock.report("uv tool install WHEEL", weigh(person.home / ".local/share/uv/tools"))
    script = "palace init --here && palace index"
    person.run("sh", "-c", script, answer="added      3")
    clock.report(script, size_of(person.notes / ".palace"))
    person.run("palace", "query", QUESTION, "--format", "paths", answer=ANSWER)
    clock.report(f"palace query '{QUESTION}'", 0)
    person.initialize("uvx", "--from", f"{WHEEL}[mcp]", "memory-palace", "mcp")
    clock.report("uvx --from 'WHEEL[mcp]' memory-palace mcp: initialize", 0)


def main() -> None:
    """Run every check; the first that fails ends it."""
    is_quick = "--quick" in sys.argv[1:]
    check_contents()
    clock = Clock()
    for built in (WHEEL, SOURCES):
        clock.report(built.name, built.stat().st_size)
    with stranger() as person:
        install_by_pip(person, clock, *(["--no-deps"] if is_quick else []))
    if not is_quick:
        with stranger() as person:
            install_by_pipx(person, clock)
    with stranger() as person:
        answer_in_three_lines(person, clock)
        make_bundle(person, clock)


if __name__ == "__main__":
    main()
