import json
from pathlib import Path

import jsonschema
import pytest
from copying_palaces import copy_sample
from importing_exports import claude_conversation, claude_message
from json_schemas import BY_HAND, FOLDER, file_of, schema_of, shown_values, write
from typer.testing import CliRunner

from memory_palace.cli.group import app

COMMAND_LINES = Path(__file__).with_name("json_lines.txt").read_text("utf-8").splitlines()
"""One line for each verb with ``--json`` and more where its shape varies; run in this order."""

UNTRIED = {"config store status", "config store grant", "config store drop"}
"""Verbs that need minutes, a model, a question set or a server."""


VALUES = dict(shown_values())
"""Every verb that has ``--json``, with what it may return."""


def verb_of(line):
    return max((verb for verb in VALUES if f"{line} ".startswith(f"{verb} ")), key=len)


@pytest.fixture(scope="module")
def palace_root(tmp_path_factory):
    root = tmp_path_factory.mktemp("schemas")
    copy_sample(root)
    talk = claude_conversation(1, [claude_message(2, "human", f"Warm. ghp_{'a1B2' * 9}")])
    (root / "talks.json").write_text(json.dumps([talk, "broken"]))
    (root / "vault").mkdir()
    (root / "vault" / "Thaw.md").write_text("Warm the cell first, and then charge it slowly.\n")
    card = (
        "---\nstatus: {}\nproject: {}\n---\n## Goal\n\nThaw, by [[warm]].\n\n"
        "## Acceptance Checks\n\n- [x] warm\n"
    )
    corridor = root / "palace" / "dispatch_corridor"
    (corridor / "active" / "2026-10-04_thaw.md").write_text(card.format("active", "rain-gauge"))
    for day, project in (("01", "winter-2026"), ("02", "radio-link")):
        path = corridor / "completed" / f"2026-10-{day}_warmed.md"
        path.write_text(card.format(f"completed\ncompleted: 2026-10-{day}", project))
    principle = "---\ndate: 2026-08-01\n---\n# Warm first\n\n## Principle\n\nWarm the cell first.\n"
    (root / "palace" / "project_rooms" / "winter-2026" / "warm.md").write_text(principle)
    spoken = (
        "# Cell thaw order\n\nWarm first. See the plan of the cell thaw order (CTO). A CTO holds.\n"
    )
    (root / "palace" / "project_rooms" / "winter-2026" / "thaw-order.md").write_text(spoken)
    old = "---\ndate: 2020-01-01\nsuperseded_by: warm\n---\n# Old\n\n## Principle\n\nPaint.\n"
    (root / "palace" / "reflection_wing" / "principles" / "old.md").write_text(old)
    return root


@pytest.fixture(scope="module")
def answers(palace_root):
    """Run all lines in order; return the standard output of each."""
    known = {
        "{root}": str(palace_root),
        "{cache}": str(palace_root / "cache"),
        "{talks}": str(palace_root / "talks.json"),
        "{vault}": str(palace_root / "vault"),
        "{completed}": first_of(palace_root, "dispatch_corridor/completed"),
        "{when}": "'When it applies, and when not=in frost'",
        "{conflict}": first_of(palace_root, "conflict_room"),
    }
    done = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(palace_root / "configuration"))
        for line in COMMAND_LINES:
            command = line
            for mark, value in known.items():
                command = command.replace(mark, value)
            arguments = f"-C {palace_root} {command} --json"
            done[line] = CliRunner().invoke(app, arguments)
    return done


def first_of(root, folder):
    return sorted((root / "palace" / folder).glob("*.md"))[0].stem


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_a_json_answer_has_the_shape_of_its_schema(line, answers):
    answer = answers[line]
    assert len(answer.stdout.splitlines()) == 1, answer.exception
    schema = json.loads(file_of(verb_of(line)).read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(answer.stdout))


def test_every_verb_with_json_is_tried():
    tried = {verb_of(line) for line in COMMAND_LINES}
    assert tried == VALUES.keys() - UNTRIED


def test_the_committed_schemas_are_made_of_the_values():
    made = {file_of(verb): write(schema_of(verb, kinds)) for verb, kinds in VALUES.items()}
    files = {path for path in FOLDER.glob("*.json") if path.stem not in BY_HAND}
    assert files == made.keys()
    assert [path.stem for path, text in made.items() if path.read_text("utf-8") != text] == []


def objects(schema):
    """Yield every schema of an object with keys of its own."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def test_the_schemas_are_schemas_and_strict():
    for path in FOLDER.glob("*.json"):
        schema = json.loads(path.read_text("utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        assert all(one["additionalProperties"] is False for one in objects(schema)), path.name
        number = {"query": 3, "verify": 3, "error": 1}.get(path.stem, 2)
        numbers = [
            one["properties"]["schema"] for one in objects(schema) if "schema" in one["properties"]
        ]
        assert {one["const"] for one in numbers} == {number}, path.name
