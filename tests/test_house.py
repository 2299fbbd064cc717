"""How the code of the package is kept: sizes, names, and imports that are given as strings."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from memory_palace.table import VERBS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "memory_palace"
FILES = sorted(PACKAGE.rglob("*.py"))
BUDGET = tomllib.loads((ROOT / "tests" / "budget.toml").read_text("utf-8"))
LONGEST_FILE, LONGEST_FUNCTION, MOST_FMT_SKIP = 600, 60, 10
"""Far limits, never targets: what is cut off to satisfy a counter is worse than a long piece."""
DATA: frozenset[str] = frozenset({"models.py"})
"""Files that are tables or values and little else: they may be longer."""


def count_lines(file: Path) -> int:
    return len(file.read_text("utf-8").splitlines())


def module_of(path: str) -> str:
    """``index/build.py`` -> ``memory_palace.index.build``."""
    parts = ["memory_palace", *path.removesuffix(".py").split("/")]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax trees of the files by path; whoever only collects tests parses none."""
    return {f.relative_to(PACKAGE).as_posix(): ast.parse(f.read_text("utf-8")) for f in FILES}


def count_folder(name: str) -> int:
    """Return the lines of the Python files below a folder, or of the pages of references."""
    suffix = "md" if name == "references" else "py"
    files = [file for file in (ROOT / name).rglob(f"*.{suffix}") if file.name != "cli.md"]
    return sum(map(count_lines, files))


@pytest.mark.parametrize("name", BUDGET["lines"])
def test_what_is_written_stays_within_its_budget(name: str) -> None:
    assert count_folder(name) <= BUDGET["lines"][name]


@pytest.mark.parametrize("name", BUDGET["together"])
def test_what_belongs_together_stays_within_its_budget(name: str) -> None:
    files = [
        file for file in FILES if {file.name, file.relative_to(PACKAGE).parts[0]} & {*name.split()}
    ]
    assert sum(map(count_lines, files)) <= BUDGET["together"][name]


def test_the_command_line_stays_within_its_budget() -> None:
    pages = re.split(r"^## ", (ROOT / "references/cli.md").read_text("utf-8"), flags=re.MULTILINE)
    verbs = sum(map(len, VERBS.values()))
    counted = {
        "verbs": verbs,
        "pages": len(pages) - 1,
        "rows": sum(len(re.findall(r"^\| `", page, re.MULTILINE)) for page in pages),
        "references": len(list((ROOT / "references").glob("*.md"))),
    }
    assert {name: n for name, n in counted.items() if n > BUDGET["command_line"][name]} == {}


def test_no_file_is_too_long() -> None:
    sizes = {path: count_lines(PACKAGE / path) for path in trees()}
    assert {path: n for path, n in sizes.items() if n > LONGEST_FILE and path not in DATA} == {}
    assert trees().keys() >= DATA


def size_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or 0) - function.lineno + 1


def test_no_function_is_too_long() -> None:
    long = {
        f"{path}:{node.lineno} {node.name}": size_of(node)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and size_of(node) > LONGEST_FUNCTION
    }
    assert long == {}


def test_formatting_is_left_to_the_formatter() -> None:
    skips = {path: (PACKAGE / path).read_text("utf-8").count("# fmt: skip") for path in trees()}
    assert sum(skips.values()) <= MOST_FMT_SKIP, {path: n for path, n in skips.items() if n}


def public_types(path: str, tree: ast.Module) -> Iterator[str]:
    """Yield the names of classes and type aliases; those of options on the command line are its."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif (
            isinstance(node, ast.AnnAssign)
            and ast.unparse(node.annotation) == "TypeAlias"
            and not path.startswith("cli/")
        ):
            yield ast.unparse(node.target)


def test_a_public_type_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for name in public_types(path, tree):
            homes[name].append(path)
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert {name: found for name, found in twice.items() if not name.startswith("_")} == {}


# --- Imports that are given as strings ------------------------------------------------------------


def read_layers() -> list[list[str]]:
    """Return the layers of the import contract, highest first, each with its siblings."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[module.strip() for module in layer.split("|")] for layer in layers]


def rank_of(module: str, layers: Sequence[Sequence[str]]) -> tuple[int, str] | None:
    """Return the layer a module stands in, counted from above, and the package of that layer."""
    for number, layer in enumerate(layers):
        for package in layer:
            if f"{module}.".startswith(f"{package}."):
                return number, package
    return None


def names_in(path: str, tree: ast.Module) -> Iterator[str]:
    """Yield every module that a string of a file names.

    Whole names (``"memory_palace.x.y"``), and what ``import_module(f"memory_palace.x.{name}")``
    may become: every string of the file that is a module below that prefix, a colon and what
    follows left out.
    """
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    modules = {*map(module_of, trees())}
    yield from texts & modules - {"memory_palace"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            package = module_of(path).rpartition(".")[0]
            asked = ast.unparse(node.args[0]).strip("f'\"").replace("{__package__}", package)
            prefix = asked.partition("{")[0]
            below = {prefix + text.partition(":")[0] for text in texts}
            yield from below & modules


def test_names_given_as_strings_point_down_like_imports() -> None:
    layers, upwards = read_layers(), []
    named_in = {module_of(path): {*names_in(path, tree)} for path, tree in trees().items()}
    strings = {(importer, name) for importer, names in named_in.items() for name in names}
    assert ("memory_palace.table", "memory_palace.features.asking.verbs") in strings
    assert any(importer == "memory_palace.embedding.registry" for importer, _ in strings)
    for importer, named in sorted(strings):
        if importer == "memory_palace.table":  # it is what names features
            continue
        here, there = rank_of(importer, layers), rank_of(named, layers)
        assert there is not None, f"{named} is in no layer of the import contract"
        if here is None:  # the package itself may name anything: it stands above all
            assert importer == "memory_palace"
        elif here[1] != there[1] and here[0] >= there[0]:
            upwards.append(f"{importer} reaches up to {named}")
    assert upwards == []


# --- Time ----------------------------------------------------------------------------------------


def calls(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


CLOCKS = ("time.monotonic", "time.perf_counter", "time.time", "time.sleep")


def test_no_test_waits_for_a_clock_or_measures_with_one() -> None:
    allowed = {
        "storage/test_lock.py",  # a process that holds a lock, until it is killed
        "index/test_watch.py",  # that a wait is no shorter than it was asked to be
        "serving_palaces.py",  # servers that are started, killed and waited for
        "agents/talking.py",  # the same
        "mutants/mutating.py",
    }
    tests = Path(__file__).parent
    found = {
        f"{name}:{line} {call}"
        for file in sorted(tests.rglob("*.py"))
        if (name := file.relative_to(tests).as_posix()) not in allowed
        for line, call in calls(ast.parse(file.read_text("utf-8")))
        if call in CLOCKS
    }
    assert found == set()


def test_the_package_looks_at_a_clock_only_where_it_waits_or_reports() -> None:
    """What an answer says does not depend on how busy the machine is."""
    allowed = {
        "storage.py",  # --wait SECONDS
        "index/watch.py",  # the pause after a burst of changes
        "features/anchors/anchors.py",  # how long a build took, as it reports it
        "index/build.py",  # the same, and when vectors are published
        "features/agents/mcp_server.py",  # when an update is tried again that left notes behind
        "server/listening.py",  # clients that are slow
        "server/loopback.py",  # the same
        "server/starting.py",  # how long a server may take to begin and to end
        "server/resident.py",  # a server that nobody asks
        "features/agents/hooks.py",  # how long an answer took, as the log has it
    }
    found = {
        path
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and ast.unparse(node) in ("time.monotonic", "time.perf_counter", "time.sleep")
    }
    assert found <= allowed
