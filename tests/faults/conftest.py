"""A palace with one thing of each kind, and the command line in this process."""

import io
import shlex
import shutil
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TypeAlias

import pytest
from command_lines import SETUP

from memory_palace.cli.app import main

Run: TypeAlias = Callable[[Sequence[str]], tuple[int, str]]


def run_line(line: Sequence[str]) -> tuple[int, str]:
    """Run a command line with nothing on stdin; return its status and what it said on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr("sys.stdin", io.StringIO(""))
        try:
            main(list(line))
        except SystemExit as ended:
            return int(ended.code or 0), err.getvalue()
    return 0, err.getvalue()


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A palace to copy."""
    root = tmp_path_factory.mktemp("furnished")
    with pytest.MonkeyPatch.context() as patch:
        _leave_home(patch, root)
        patch.chdir(root)
        for line in ("init .", "new Frost", *SETUP.strip().splitlines()):
            assert run_line(shlex.split(line))[0] == 0, line
    return root


@pytest.fixture
def run(furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run command lines in a copy of the palace, in the working folder, and in no home."""
    root = tmp_path / "root"
    shutil.copytree(furnished, root, symlinks=True)
    _leave_home(monkeypatch, tmp_path)
    monkeypatch.chdir(root)
    return run_line


def _leave_home(patch: pytest.MonkeyPatch, root: Path) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        patch.setenv(name, str(root / "home"))
    for name in ("EDITOR", "VISUAL", "PAGER"):
        patch.setenv(name, "true")
    patch.delenv("PALACE_ROOT", raising=False)
