"""How much of the code a command runs: files whose functions are called, modules imported."""

from __future__ import annotations

import json
from pathlib import Path

from memory_palace.bench.timing import measure_commands, python

_WATCH = """
import json, sys, threading
from importlib.util import find_spec
from pathlib import Path
home, target = str(Path(find_spec("memory_palace").origin).parent), Path(sys.argv.pop(1))
ran, importing = set(), 0
def watch(frame, event, _):
    global importing
    code = frame.f_code
    if not code.co_filename.startswith(home):
        return
    if code.co_name == "<module>":
        importing += {"call": 1, "return": -1}.get(event, 0)
    elif event == "call" and not importing:
        ran.add(code.co_filename[len(home) + 1:])
threading.setprofile(watch)
sys.setprofile(watch)
from memory_palace.cli.app import main
try:
    main(sys.argv[1:])
finally:
    sys.setprofile(None)
    modules = [name for name in sys.modules if name.split(".")[0] == "memory_palace"]
    target.write_text(json.dumps([len(ran), len(modules)]))
"""


def watch_command(root: Path, *arguments: str) -> tuple[int, int]:
    """Run a verb of ``palace`` in a fresh process; return how many files ran and were imported.

    A file runs where one of its functions is called, what runs while it is imported left out.
    """
    target = root / "watched.json"
    measure_commands(python(_WATCH, str(target), "-C", str(root), *arguments), runs=1, warmup=0)
    ran, imported = json.loads(target.read_bytes())
    return ran, imported
