"""How much of the code a command runs through: files, modules, and hand-overs between files.

A command runs in a fresh process, without a resident server, under ``sys.setprofile``. Counted are

- files of ``memory_palace`` in which a function executes. A comprehension, a generator expression
  and a lambda are part of the function they are written in; the bodies of modules and classes, and
  functions that run because a module is being imported, do not count (modules are counted for
  that), nor do the methods that ``dataclass`` generates.
- modules of ``memory_palace`` that are imported when the command ends, packages included.
- hand-overs: distinct tuples of caller's file, caller's function, callee's file and callee's
  function, where a function of one file calls a function of another one, or resumes its generator,
  directly or through a function written in C. Generator expressions that another file consumes are
  no hand-overs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import memory_palace
from benchmarks.generate import generated_palace, scratch_folder
from benchmarks.timing import Measured
from memory_palace.embedding.registry import is_available
from memory_palace.errors import PalaceError, UsageError
from memory_palace.palace import Palace

PACKAGE = f"{Path(memory_palace.__file__).parent}/"
NOTES = 40
QUESTION = "how was the river station repaired after the frost"
LIMITS = {
    "query": {"files": 30, "modules": 45, "hand-overs": 150},
    "index": {"files": 45},
    "remember": {"files": 50},
    "verify": {"files": 50},
}
"""Of issue 34: what a reader has to follow of each command at most."""
_IS_FUNCTION = 1
"""``CO_OPTIMIZED``: bodies of modules and classes are without it."""
_INSIDE = re.compile(r"\.<locals>\.<(?:listcomp|setcomp|dictcomp|genexpr|lambda)>.*$")


def measure_reach() -> Iterator[Measured]:
    """Yield the figures of a question, an edited note, ``remember`` and ``verify``."""
    embedder = "minilm" if is_available("minilm") else "hashing"
    with generated_palace(NOTES) as root, scratch_folder() as folder:
        Palace(root).index(embedder=embedder)
        note = next(iter(sorted(root.rglob("note 00007.md"))))
        commands = {
            "query": ["query", "--no-serve", QUESTION],
            "index": ["index", "--quiet"],
            "remember": ["remember", "The frost broke the river station."],
            "verify": ["verify", "--text", "The frost broke the river station."],
        }
        for name, arguments in commands.items():
            if name == "index":
                note.write_text(note.read_text("utf-8") + "\nOne more line of text.\n", "utf-8")
            found = count_reach(root, arguments, folder / "counts.json")
            for unit, limit in LIMITS[name].items():
                what = "index of an edited note" if name == "index" else f"palace {name}"
                yield Measured(f"{what} ({embedder})", len(found[unit]), unit, limit=limit)


def count_reach(root: Path, arguments: list[str], file: Path) -> dict[str, list[str]]:
    """Return the files, modules and hand-overs of a command in a palace, by their names."""
    command = [sys.executable, "-m", "benchmarks.reach", str(file), "-C", str(root), *arguments]
    file.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not file.exists():
        raise PalaceError(f"{' '.join(arguments)} was not counted: {done.stderr[-500:]}")
    counted: dict[str, list[str]] = json.loads(file.read_text("utf-8"))
    return counted


class Tracer:
    """Counts the calls of one process; ``profile`` is what ``sys.setprofile`` takes."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.handed: set[tuple[str, str, str, str]] = set()

    def profile(self, frame: FrameType, event: str, given: object) -> None:
        """Count a call of a function of ours."""
        code = frame.f_code
        if event != "call" or not _is_ours(code) or _is_importing(frame.f_back):
            return
        file, before = code.co_filename.removeprefix(PACKAGE), frame.f_back
        self.files.add(file)
        if before is None or not _is_ours(before.f_code) or code.co_name == "<genexpr>":
            return
        caller = before.f_code.co_filename.removeprefix(PACKAGE)
        if caller != file:
            by, to = (_INSIDE.sub("", each.co_qualname) for each in (before.f_code, code))
            self.handed.add((caller, by, file, to))


def _is_ours(code: CodeType) -> bool:
    return bool(code.co_flags & _IS_FUNCTION) and code.co_filename.startswith(PACKAGE)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(PACKAGE):
            return True
        frame = frame.f_back
    return False


def _run(file: Path, arguments: list[str]) -> None:
    """Run a command of ``palace`` in this process, and write the counts to ``file``."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "memory_palace"]:
        del sys.modules[name]
    tracer = Tracer()
    threading.setprofile(tracer.profile)
    sys.setprofile(tracer.profile)
    try:
        from memory_palace.cli.app import main

        main(arguments)
    except SystemExit as ended:
        if ended.code == UsageError.exit_code:
            raise
    finally:
        sys.setprofile(None)
    counted = {
        "files": sorted(tracer.files),
        "modules": sorted(m for m in sys.modules if m.partition(".")[0] == "memory_palace"),
        "hand-overs": sorted(" ".join(pair) for pair in tracer.handed),
    }
    file.write_text(json.dumps(counted, indent=1), "utf-8")


if __name__ == "__main__":
    _run(Path(sys.argv[1]), sys.argv[2:])
