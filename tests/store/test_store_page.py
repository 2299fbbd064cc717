"""What references/store.md tells a person to type works as it stands there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "references" / "store.md"


@pytest.fixture
def own_server():
    """A server of its own: the page makes roles and databases."""
    from store.serving import Server, find_wheel

    if find_wheel() is None:
        pytest.skip("needs the extra [postgres-test]")
    server = Server()
    yield server
    server.stop()


def test_every_command_of_the_page_runs_as_it_is_typed(own_server, tmp_path):
    server = own_server
    notes = tmp_path / "notes"
    shutil.copytree(ROOT / "palace", notes / "palace", ignore=shutil.ignore_patterns(".*"))
    commands = Path(sys.executable).parent
    environment = {
        "PATH": f"{server.programs}:{commands}:/usr/bin:/bin",
        "PGHOST": str(server.socket),
        "PGUSER": "postgres",
        "LANG": "C.UTF-8",
        "HF_HUB_OFFLINE": "1",
    }

    def run(script: str, home: str) -> str:
        (tmp_path / home).mkdir(exist_ok=True)
        given = script.replace("@db.example/palaces#", f"@/palaces?host={server.socket}#")
        done = subprocess.run(
            ["bash", "-euc", given],
            cwd=notes if home == "owner" else tmp_path / home,
            env={**environment, "HOME": str(tmp_path / home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stderr}"
        return done.stdout

    run("palace index --embedder hashing", "owner")
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 6
    said = [run(block, "anna" if "anna@" in block else "owner") for block in blocks]
    assert "team  54 notes" in said[1] and "  reads    anna\n  writes   palaces" in said[1]
    assert "Why MQTT was dropped" in said[2] and "robot" not in said[2]
    assert "anna may no longer read team" in said[3]
    assert "63 passages, 0 removed; generation 2" in said[4]
    asked = f"palace query 'why did we drop MQTT' --store 'postgresql://ROLE@/BASE?host={server.socket}#team'"
    for role, base in (("bob", "palaces"), ("bob", "copy"), ("palaces", "copy")):
        if base == "copy":
            run(f"psql -qd copy -c 'GRANT CONNECT ON DATABASE copy TO {role}'", "owner")
        answer = run(asked.replace("ROLE", role).replace("BASE", base), "bob")
        assert "Why MQTT was dropped" in answer, (role, base)
    with pytest.raises(AssertionError, match="palace config store grant anna"):
        run(asked.replace("ROLE", "anna").replace("BASE", "copy"), "anna")
    assert not [name for name in os.environ if name.startswith("PG")]


def test_lines_that_the_page_quotes_are_said_by_the_program():
    """Each part of a quoted line that is no figure stands in the code, or is PostgreSQL's."""
    code = "".join(
        file.read_text("utf-8")
        for file in sorted((ROOT / "memory_palace" / "features" / "store").rglob("*.py"))
    )
    code = re.sub(r'"\n\s+f?"', "", code)
    table = PAGE.read_text("utf-8").split("| line |")[1]
    quoted = re.findall(
        r"`([^`]+)`", "\n".join(row.split("|")[1] for row in table.splitlines()[2:])
    )
    assert len(quoted) >= 10
    for line in quoted:
        if line.startswith("permission denied"):
            continue
        for part in re.split(r"…| \d[\d.]*|(?<=role) palaces|(?<=schema) public", line):
            assert part.strip(" ;") in code, (line, part)
