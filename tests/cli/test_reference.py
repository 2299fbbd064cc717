import subprocess
import sys
from pathlib import Path

import pytest
from command_reference import write_reference
from serving_palaces import warm

ROOT = Path(__file__).parent.parent.parent
FEATURES = "memory_palace.features."
ASKING = "from memory_palace import Palace; Palace('.').query('bread')"


def palace(*arguments, cwd):
    return subprocess.CompletedProcess(arguments, *warm(cwd, *map(str, arguments)))


def test_the_committed_reference_is_the_programs_own_help():
    committed = (ROOT / "references" / "cli.md").read_text("utf-8")
    assert committed == "\n".join(write_reference()).rstrip() + "\n", "run `make docs`"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("json")
    (root / "palace" / "chambers").mkdir(parents=True)
    (root / "palace" / "chambers" / "a.md").write_text("# A\n\nBread and [[b]].\n")
    (root / "palace" / "chambers" / "b.md").write_text("---\nbad: [\n---\nButter \x1b[31mred\n")
    assert palace("index", "--embedder", "hashing", cwd=root).returncode == 0
    return root


@pytest.mark.parametrize(
    ("code", "unneeded"),
    [
        ("import memory_palace", ("typer", "rich", "torch", "Flag", "numpy", "memory_palace.")),
        ("from memory_palace.cli.app import main; main(['--version'])", ("typer",)),
        ("from memory_palace.cli.group import run; run(['--help'])", ("numpy", FEATURES)),
        (ASKING, ("watchdog", "pathspec", "yaml")),
    ],
)
def test_what_is_not_needed_is_not_loaded(folder, code, unneeded):
    code = f"import sys; {code}; print([n for n in sys.modules if n.startswith({unneeded})])"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr


@pytest.mark.parametrize(
    ("script", "arguments", "words"),
    [
        ("build_index_bge.py", ["--embedder", "hashing", "--force"], "unchanged  2"),
        ("query_bge.py", ["--type", "palace", "--details", "bread"], "importance"),
        ("graph_router.py", ["neighbors", "a"], "-> palace/chambers/b.md"),
        ("graph_router.py", [], '"targets":["palace/chambers/b.md"]'),
        ("cold_zone_blinding_patch.py", ["--fix"], "no cold path"),
    ],
)
def test_a_script_is_its_command_from_any_folder(folder, script, arguments, words):
    command = [sys.executable, str(ROOT / "scripts" / script), *arguments]
    done = subprocess.run(command, cwd=folder / "palace", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout
