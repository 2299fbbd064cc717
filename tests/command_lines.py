"""The command tree as a test sees it, and random command lines for it."""

from collections.abc import Iterator
from random import Random
from typing import Any

from command_reference import walk_verbs

UNRUN = {
    "serve": "it waits for questions",
    "mcp": "it waits for a client",
    "view": "it writes to any file, and opens a browser",
    "connect": "it writes into the files of other programs",
    "models fetch": "it asks another machine",
    "config store": "it asks a server",
}
"""Verbs that are walked with ``--help`` alone."""
SETUP = """
index --embedder hashing --structure
memory new "Wet gong" --image "Kick it." --content "We vote." --token "wet gong slippers"
task new Packs --owner wren --project frost --goal Fresh --check swapped --apply
seek locus add Cellar --at 2.5,-1 --summary bottles --apply
conflict open Frost "Wet gong" --by sable
redqueen add "frost" Frost
seek start "a bottle of wine" --loci
graph anchors build
redqueen run --questions 1 --apply
index
"""
"""Lines that give a palace with a note called Frost one thing of each kind."""
NAMES = (
    *("Frost", "palace/project_rooms/Frost.md", "frost", "Wet gong", "Packs", "Cellar"),
    *("a-bottle-of-wine", "nothing of the kind"),
)
VALUES = (
    *("", " ", *"- -- . .. / ~ * a 0 1 -1 7 1.5 nan inf 1e308 -1e308".split()),
    *("9" * 30, "9" * 5000, *"0x10 1,2 1,,2 1,3,7 true null {} 2026-03-01 2026-13-45".split()),
    *"0000-00-00 9999-12-31 0001-01-01 30d 99999y -3d yesterday a=b =".split(),
    *("a: b", "[", "]", "[[", "(", "\\", "%s", "%", "'", '"', "`", "#", "!", "../../etc/passwd"),
    *("/dev/null", "/dev/zero/x", "/nowhere/at/all", "x" * 300, "字" * 200, "é", "🏔", "\u202e"),
    *("\u200b", "\x1b[31m", "\x9b31m", "\x01\x02", "\udcff\udcfe", "a\nb", "\t"),
    *"lexical hybrid high low project palace archive_basement project_rooms".split(),
    *("humor: a", "1:2", "Frost:1-2", "Frost:0-0", f"Frost:{'9' * 5000}", "[1, 2]", '{"a": 1}'),
)


def list_leaves() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every verb with its command."""
    for words, command in walk_verbs():
        if words and not hasattr(command, "commands"):
            yield tuple(words.split()), command


def is_run(verb: tuple[str, ...]) -> bool:
    """Whether a verb is run, and not asked for its help alone."""
    return not {" ".join(verb), " ".join(verb[:2]), verb[0]} & UNRUN.keys()


def write_line(random: Random, verb: tuple[str, ...], command: Any) -> list[str]:
    """Return one command line: some of the verb's arguments and options, and some that are not."""
    line = list(verb)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            least = 1 if parameter.required else 0
            count = random.choice((least, least, 1, 1, 2)) if random.random() < 0.95 else 0
            line += (_value(random) for _ in range(count))
        elif not {"--help", "--watch"}.intersection(parameter.opts) and random.random() < 0.25:
            names = [*parameter.opts, *parameter.secondary_opts]
            line.append(random.choice(names))
            if not getattr(parameter, "is_flag", False):
                line.append(_value(random))
    if random.random() < 0.05:
        line.append(random.choice(("--bogus", "-Z", "--js", "---", "-")))
    if random.random() < 0.1:
        random.shuffle(line)
    return line if is_run(verb) or random.random() < 0.5 else [*verb, "--help"]


def _value(random: Random) -> str:
    return random.choice(NAMES if random.random() < 0.4 else VALUES)
