"""What a forked process finds imported: each verb, and what a first build and question import."""

import io
import tempfile
from contextlib import redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import forking  # noqa: F401 - a fork finds its function there

import memory_palace.cli as cli
from memory_palace.cli.app import main

LINES = (
    *(["init", "--here"], ["index", "--embedder", "hashing"], ["query", "rain gauge"]),
    *(["recall", "the rain gauge drifts"], ["status"], ["serve", "--status"]),
)
for module in iter_modules(cli.__path__):
    with suppress(ModuleNotFoundError):  # a verb may need an extra that is not installed
        import_module(f"memory_palace.cli.{module.name}")
with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
    (Path(folder) / "frost.md").write_text("# Frost\n\nThe rain gauge drifts.\n", "utf-8")
    for line in LINES:
        with suppress(SystemExit):
            main(["-C", folder, *line])
