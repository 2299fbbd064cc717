"""Features are deleted in a copy, with their lines of the table and tests: the rest goes on."""

import ast
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from memory_palace import table

ROOT = Path(__file__).parents[2]
FEATURES = sorted(
    path.name for path in (ROOT / "memory_palace" / "features").iterdir() if path.suffix == ""
)
TYPED = ("asking", "editing", "graph", "upkeep")
"""Features whose verbs the tests of the engine type: query, list, show, new, index, graph."""
FEATURES = [name for name in FEATURES if name not in ("__pycache__", *TYPED)]
ENGINE = ("facts", "graph", "notes", "storage", "index/test_build.py", "retrieval/test_search.py")
"""Tests of the engine: notes in, an index, links, and answers."""
A_FEW = 3


def chosen() -> list[str]:
    """Return a few features, by the digest of the package: other ones for another state of it."""
    files = sorted((ROOT / "memory_palace").rglob("*.py"))
    digest = sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    return sorted(FEATURES, key=lambda name: sha256((digest + name).encode()).digest())[:A_FEW]


def gone_with(*names: str) -> set[str]:
    """Return features, and those that need them."""
    gone = {*names}
    while more := {a for a, b in map(str.split, table.PAIRS) if b in gone} - gone:
        gone |= more
    return gone


def names_of(node: ast.AST, gone: set[str], attributes: set[str]) -> bool:
    """Whether a row of the table names something that is gone."""
    texts = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
    places = {text.partition(".")[0] for text in texts if isinstance(text, str) and ":" in text}
    return not gone.isdisjoint(places) or not attributes.isdisjoint(texts)


def drop_rows(source: str, gone: set[str]) -> str:
    """Return the table without the rows of some features; no other line is touched."""
    attributes = {name for name, place in table.FEATURES.items() if place.partition(".")[0] in gone}
    dropped: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key and not isinstance(value, ast.Dict) and names_of(value, gone, attributes):
                    dropped |= set(range(key.lineno, (value.end_lineno or 0) + 1))
        elif isinstance(node, ast.Set):
            for row in node.elts:
                if isinstance(row, ast.Constant) and not gone.isdisjoint(row.value.split()):
                    dropped.add(row.lineno)
    lines = source.splitlines(keepends=True)
    return "".join(line for number, line in enumerate(lines, 1) if number not in dropped)


def copy_without(folder: Path, *names: str) -> Path:
    """Make a copy of the repository without features and those that need them."""
    copy, gone = folder / "copy", gone_with(*names)
    hidden = shutil.ignore_patterns("__pycache__", ".*")
    for part in ("memory_palace", "tests", "palace", "benchmarks"):
        shutil.copytree(ROOT / part, copy / part, ignore=hidden)
    project = (ROOT / "pyproject.toml").read_text("utf-8").splitlines(keepends=True)
    kept = [row for row in project if not any(f"features.{each}." in row for each in gone)]
    (copy / "pyproject.toml").write_text("".join(kept), "utf-8")
    for each in gone:
        shutil.rmtree(copy / "memory_palace" / "features" / each)
        shutil.rmtree(copy / "tests" / each, ignore_errors=True)
    rows = copy / "memory_palace" / "table.py"
    rows.write_text(drop_rows(rows.read_text("utf-8"), gone), "utf-8")
    return copy


def check_copy(copy: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(copy)}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *command], cwd=copy, env=environ, capture_output=True, text=True
        )

    shown = run("memory_palace", "--help")
    assert shown.returncode == 0, shown.stderr
    folders = [f"tests/{name}" for name in ENGINE]
    how = "-q -x -p no:cacheprovider -p no:randomly --hypothesis-seed=0".split()
    tests = run("pytest", *folders, *how)
    assert tests.returncode == 0, tests.stdout[-4000:]
    if (Path(sys.executable).parent / "lint-imports").exists():
        code = "from importlinter.cli import lint_imports_command as run; run()"
        contracts = subprocess.run(
            [sys.executable, "-c", code], cwd=copy, env=environ, capture_output=True, text=True
        )
        assert contracts.returncode == 0, contracts.stdout[-4000:]


@pytest.mark.parametrize(
    "names",
    [chosen(), *(pytest.param([name], marks=pytest.mark.long) for name in FEATURES)],
    ids=" ".join,
)
def test_without_some_features_the_engine_goes_on(names: list[str], tmp_path: Path) -> None:
    check_copy(copy_without(tmp_path, *names))


def test_the_pairs_of_the_table_are_those_of_the_contract() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for pair in table.PAIRS:
        first, second = pair.split()
        row = f'"memory_palace.features.{first}.** -> memory_palace.features.{second}.**"'
        assert row in project
    assert len(table.PAIRS) <= 4
    assert project.count(".** -> memory_palace.features.") == len(table.PAIRS)
