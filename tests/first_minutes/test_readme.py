"""What README tells a person to type works as it stands there, from an empty home."""

import re
import shutil
from pathlib import Path

import pytest
from first_minutes.conftest import PALACE, ROOT, Home

from memory_palace.embedding.registry import is_available

README = (ROOT / "README.md").read_text("utf-8")
INSTALLERS = {
    "pipx": """
        [ "$1 $2" = "install ." ] && [ -f pyproject.toml ] || exit 1
        mkdir -p "$HOME/.local/bin" && ln -sf PALACE "$HOME/.local/bin/palace"
    """,
    "python3": """
        [ "$1 $2" = "-m venv" ] || exec /usr/bin/env -u PATH PYTHON "$@"
        mkdir -p "$3/bin" && cp "$(dirname "$0")/pip" "$3/bin/pip"
    """,
    "pip": """
        [ "$1 $2" = "install ." ] && [ -f pyproject.toml ] || exit 1
        ln -sf PALACE "$(dirname "$0")/palace"
    """,
    "make": """
        for target in "$@"; do grep -q "^$target:" Makefile || exit 1; done
    """,
}
"""Stand-ins for what takes a package index: each checks how it is called, and does its part."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


@pytest.mark.skipif(not is_available("minilm"), reason="needs minilm")
def test_every_command_of_the_readme_runs_as_it_is_typed(home: Home, tmp_path: Path):
    shutil.copytree(ROOT / "palace", home.path / "notes", ignore=shutil.ignore_patterns(".*"))
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, script in INSTALLERS.items():
        (tools / name).write_text("#!/bin/sh\n" + script.replace("PALACE", str(PALACE)))
        (tools / name).chmod(0o755)
    found = blocks("sh")
    assert len(found) >= 5
    script = "".join(f"{'cd CHECKOUT' if 'make ' in block else ''}\n{block}" for block in found)
    environment = {"PATH": f"{tools}:/usr/bin:/bin"}
    done = home.run(
        "bash", "-euxc", script.replace("CHECKOUT", str(ROOT)), cwd=ROOT, environment=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert (home.path / ".local/bin/palace").resolve() == PALACE.resolve()
    assert "Rain gauge calibration" in done.stdout and "What I found out today.md" in done.stdout


@pytest.mark.skipif(not is_available("minilm"), reason="needs minilm")
def test_the_demo_ends_with_an_answer_and_with_the_score_of_one_hit(home: Home, tmp_path: Path):
    shutil.copytree(ROOT / "palace", tmp_path / "palace", ignore=shutil.ignore_patterns(".*"))
    installed = ("-o", ".venv/installed-run", f"BIN={PALACE.parent}")
    done = home.run("make", "-f", ROOT / "Makefile", *installed, "demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    *_, answer, details = re.split(r"^\S+palace -C \. query .*$", done.stdout, flags=re.M)
    assert re.match(r"\s+1  Why MQTT was dropped  ", answer) and "\n2  " in answer
    assert len(re.findall(r"^ +\w+ +\S+ x \S+ = \S+$", details, re.M)) >= 4
    assert "\n2  " not in details


def test_what_cron_runs_says_nothing_and_indexes(home: Home):
    """Cron mails what is printed; it has no terminal and PATH=/usr/bin:/bin."""
    notes = home.path / "notes"
    notes.mkdir()
    (notes / "Ferry.md").write_text("The last boat back leaves at a quarter past six.\n", "utf-8")
    (home.path / ".local/bin").mkdir(parents=True)
    (home.path / ".local/bin/palace").symlink_to(PALACE)
    home.palace("init", "--here", cwd=notes)
    (lines,) = blocks("cron")
    commands = [line.split(maxsplit=5)[5] for line in lines.splitlines()]
    assert len(commands) == 2
    for command in commands:
        given = f"HOME={home.path}", "PATH=/usr/bin:/bin", "SHELL=/bin/sh"
        done = home.run("env", "-i", *given, "/bin/sh", "-c", command, cwd=home.path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "Ferry.md" in home.palace("query", "last boat", "--format", "paths", cwd=notes)
