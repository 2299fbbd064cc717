"""Whatever is typed, and whatever the disk does: one line, an exit code, notes as they were."""

import shlex
import shutil
from pathlib import Path
from random import Random

import pytest
from command_lines import UNRUN, is_run, list_leaves, write_line
from faulty import FAULTS, failing

LEAVES = dict(list_leaves())
LINES = """
init other
new Another
index --force
query votes
verify --against 'Wet gong' --text 'We vote.'
verify --text 'We vote.'
task new Other --owner a --project frost --goal b --check c --apply
task start Packs --apply
task block Packs --reason x --apply
task complete Packs --apply
memory new Other --image a --content b --token 'red wet gong'
memory review 'Wet gong' --recalled
memory score 'Wet gong' --set 'humor: x'
conflict open Frost Packs --by x
redqueen add "x" Frost
metabolism archive Frost --apply
seek locus add Attic --at 1,1 --summary x --apply
seek locus list
seek start 'other thing' --loci
seek step --goal another
redqueen run --questions 1 --apply
metabolism apply --apply
"""
"""Lines for verbs that need more than the name of a note."""
CODES = {*range(10), 130}
NEVER_FAILS = ("hook",)
"""A harness calls it, and status 0 is all that it may say; tests/agents has its faults."""


def line_of(verb):
    for line in map(shlex.split, LINES.strip().splitlines()):
        if tuple(line[: len(verb)]) == verb:
            return line
    parameters = LEAVES[verb].params
    required = [p for p in parameters if p.param_type_name == "argument" and p.required]
    flags = ["--apply"] if any("--apply" in p.opts for p in parameters) else []
    return [*verb, *("Frost" for _ in required), *flags]


def notes_below(root):
    return {
        path.relative_to(root): path.read_bytes()
        for path in sorted(root.rglob("*.md"))
        if not any(part.startswith(".") for part in path.relative_to(root).parts)
    }


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    "verb", [verb for verb in LEAVES if is_run(verb) and verb != NEVER_FAILS], ids=" ".join
)
def test_a_verb_that_meets_a_fault_says_so_on_one_line(run, verb, fault):
    root, line = Path.cwd(), line_of(verb)
    before = notes_below(root)
    for first in (1, 3):
        with failing(FAULTS[fault], root, first=first) as failed:
            code, said = run(line)
        if not failed:
            return
        assert code in CODES and "Traceback" not in said, (line, said)
        is_read = verb in (("show",), ("verify",))  # they write a line of use at most
        assert is_read or code or fault == "EACCES", "unwritten must not pass for done"
        assert said or is_read, "nobody was told"
        if code:
            *named, last = said.splitlines()
            assert last.startswith("palace: "), said
            assert all(" cannot be read" in line for line in named) or first > 1, said
        if first == 1:
            assert notes_below(root) == before
        shutil.rmtree(root / "other", ignore_errors=True)


def test_500_command_lines_of_any_kind_end_with_a_code_and_no_traceback(run):
    random = Random(12)
    for _ in range(500):
        verb = random.choice(list(LEAVES))
        line = write_line(random, verb, LEAVES[verb])
        if not is_run(verb):
            line = [*verb, "--help"]
        code, said = run(line)
        assert code in CODES, line
        assert "Traceback" not in said, line


def test_every_verb_that_is_not_run_exists():
    names = {" ".join(verb[:size]) for verb in LEAVES for size in (1, 2, 3)}
    assert UNRUN.keys() <= names
