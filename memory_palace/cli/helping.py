"""What help and mistyped command lines show. Imported when one of them is asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import typer

_LONGEST_CHOICES = 24
_TWO_COLUMNS = 78
"""Width from which the panels stand beside their verbs; they stand above them on less."""

OTHER_WORDS = {
    "query": "search find ask grep",
    "show": "cat open read print edit",
    "list": "ls notes tags",
    "new": "add create note",
    "undo": "revert rollback",
    "index": "build update reindex sync",
    "doctor": "check repair",
    "models": "model download",
    "config": "settings configure",
    "register": "palaces name names",
    "--help": "help man",
    "--version": "version",
    "memory": "remember review",
    "metabolism": "archive restore",
}
"""What people type who have another tool's verbs in their fingers."""


_PANELS = {
    "Which notes": {
        *("--type", "--priority", "--room", "--in", "--tag", "--since", "--until", "--as-of"),
        *("--linked-by", "--links-to", "--include-cold"),
    },
    "Ranking": {
        *("--top-k", "--profile", "--mode", "--raw", "--details"),
        *("--neighbors", "--min-confidence"),
    },
}
"""Options of one purpose, which stand together in the help of a verb that has several of them."""


def embolden(text: str) -> str:
    """Return text that is bold on a terminal; plain where ``NO_COLOR`` is set."""
    return text if os.environ.get("NO_COLOR") else typer.style(text, bold=True)


def write_panels(
    root: Any, ctx: Any, formatter: Any, panels: Mapping[str, Mapping[str, tuple[str, str]]]
) -> None:
    """Write all verbs, a line each with the panel before the first, and the options."""
    for panel, verbs in panels.items():
        if formatter.width < _TWO_COLUMNS:
            with formatter.section(panel):
                formatter.write_dl([(verb, summary) for verb, (_, summary) in verbs.items()])
            continue
        formatter.write_paragraph()
        for place, (verb, (_, summary)) in enumerate(verbs.items()):
            title = embolden(f"{'' if place else panel:<11}")
            formatter.write(f"{title}{verb:<11} {summary}\n")
    formatter.write_paragraph()
    records = [parameter.get_help_record(ctx) for parameter in root.get_params(ctx)]
    # Whoever reads this has typed it, and the screen has 50 lines.
    formatter.write_dl([record for record in records if record and "--help" not in record[0]])


def write_verbs(group: Any, ctx: Any, formatter: Any) -> None:
    """Write the verbs of a group, with the first sentence of their help, and its options."""
    with formatter.section("Verbs"):
        below = group.commands.items()
        formatter.write_dl([(name, _first_sentence(verb.help)) for name, verb in below])
    write_parameters(group, ctx, formatter)


def _shorten(names: str, text: str) -> tuple[str, str]:
    """Move a long list of choices to the end of the help."""
    name, _, choices = names.partition(" <")
    if len(choices) < _LONGEST_CHOICES or "|" not in choices:
        return names, text
    listed = choices.rstrip(">").replace("|", ", ")
    return f"{name} {name.rpartition('--')[2].upper()}", f"{text}  [{listed}]"


def _first_sentence(text: str | None) -> str:
    first = " ".join((text or "").split("\n\n")[0].split())
    return first if ". " not in first else first[: first.index(". ") + 1]


def write_parameters(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the arguments and the options of a verb, those of one purpose together."""
    arguments: list[tuple[str, str]] = []
    panels: dict[str, list[tuple[str, str]]] = {panel: [] for panel in (*_PANELS, "Options")}
    for parameter in command.get_params(ctx):
        if parameter.param_type_name == "argument":
            more = "..." if parameter.nargs == -1 else ""
            arguments.append((f"{parameter.metavar}{more}", parameter.help or ""))
        elif record := parameter.get_help_record(ctx):
            panels[_panel_of(parameter, command)].append(_shorten(*record))
    for title, found in (("Arguments", arguments), *panels.items()):
        if found:
            with formatter.section(title):
                formatter.write_dl(found)


def _panel_of(parameter: Any, command: Any) -> str:
    """Return the panel of an option: one of its own only where the verb has several such."""
    for panel, options in _PANELS.items():
        if {*parameter.opts} & options:
            several = sum(bool({*other.opts} & options) for other in command.params) > 2
            return panel if several else "Options"
    return "Options"


def explain(error: Any, given: Sequence[str], verbs: Collection[str]) -> str:
    """Say what is wrong with a command line, what is near, and where its help is."""
    if hasattr(error, "possibilities"):
        near = sorted(error.possibilities or ())
        text = f"there is no option {error.option_name}{_did_you_mean(near)}"
    else:
        text = _name_value(error)
    # What the parser itself refuses, such as an option without its value, has no context.
    verb = next((word for word in given if word in verbs), None)
    path = error.ctx.command_path if error.ctx else f"palace {verb}" if verb else "palace"
    return f"{text[:1].lower()}{text[1:].rstrip('.')}\n`{path} --help` shows how it is used"


_REWORDED = {
    "Value error, ": "",
    "Input should be": "it must be",
    ", unable to parse string as an integer": "",
    ", unable to parse string as a number": "",
    "'-k' / ": "",
}


def _name_value(error: Any) -> str:
    """Return the message of an error, in words for a person; a value that is near is named."""
    text = str(error.format_message()).rstrip(".")
    for words, better in _REWORDED.items():
        text = text.replace(words, better)
    choice = re.search(r"'([^']*)' is not one of (.*)", text)
    if choice is None:
        return text
    near = get_close_matches(choice[1], re.findall(r"'([^']*)'", choice[2]))
    return text + _did_you_mean([repr(name) for name in near])


def _did_you_mean(names: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(names)}?" if names else ""


def explain_verb(typed: str, known: Sequence[str], path: str) -> str:
    """Say that there is no such verb, and which may have been meant."""
    meant = {name: name for name in known}
    if path == "palace":
        meant |= {word: verb for verb, words in OTHER_WORDS.items() for word in words.split()}
    words = [typed] if typed in meant else get_close_matches(typed, meant)
    near = dict.fromkeys(meant[word] for word in words)
    hint = _did_you_mean([repr(name) for name in near])
    hint = "; type `palace undo`" if typed == "undo" else hint
    return f"there is no verb {typed!r}{hint}\n`{path} --help` lists the verbs"
