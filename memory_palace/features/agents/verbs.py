"""``palace plugin``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from enum import StrEnum
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option

from memory_palace import __version__
from memory_palace.cli.options import Json, open_palace
from memory_palace.cli.registry import read_registry
from memory_palace.errors import CheckFailedError, MissingPartError, UsageError
from memory_palace.features.agents.plugin import find_program, make_files
from memory_palace.features.agents.plugin_tree import (
    NAME,
    Tree,
    compare_tree,
    find_copies,
    find_palace,
    write_tree,
)
from memory_palace.libraries import install_command
from memory_palace.shown import plural, print_answer, say


class Harness(StrEnum):
    """What agents run in; ``llm`` loads the package itself, the others load files."""

    claude = "claude"
    codex = "codex"
    openclaw = "openclaw"
    llm = "llm"


def make_plugin(
    ctx: Context,
    harness: Annotated[Harness, Argument(help="What the agent runs in.")],
    into: Annotated[
        Path | None, Option("--into", help="Folder to write; one of the user's own by default.")
    ] = None,
    apply: Annotated[bool, Option("--apply", help="Write it; without this it is shown.")] = False,
    overwrite: Annotated[
        bool, Option("--overwrite", help="Replace files that somebody else wrote or changed.")
    ] = False,
    check: Annotated[
        bool, Option("--check", help="Exit 8 where what is there is not this version's.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the plug-in of an agent's harness; without --apply, show what would change.

    With -C it asks that palace wherever the agent works, then and when it is written again; else
    the nearest to the agent's folder, or the default one. Example: palace plugin claude --apply
    """
    if harness == Harness.llm:
        if into is not None:
            raise UsageError("llm loads the package itself: there is nothing to write")
        _check_llm(as_json=as_json)
        return
    folder = (into.expanduser() if into else _own_folder() / harness).absolute()
    palace = str(open_palace(ctx).paths.root.resolve()) if ctx.obj else find_palace(folder)
    files = make_files(harness, [*find_program(), *(("-C", palace) if palace else ())])
    tree = compare_tree(folder, files, palace=palace)
    if check:
        _check_tree(harness, tree)
    elif apply:
        write_tree(tree, overwrite=overwrite)
    _show(harness, tree, is_applied=apply and not check, as_json=as_json)
    if not as_json and not check and (apply or tree.is_current):
        say("\n".join(["then, once:", *(f"  {step}" for step in _next_steps(harness, folder))]))


def _show(harness: str, tree: Tree, *, is_applied: bool, as_json: bool) -> None:
    record = {
        "harness": harness,
        "version": __version__,
        "folder": str(tree.folder),
        "found": tree.version,
        "current": is_applied or tree.is_current,
        "applied": is_applied,
        "changed": list(tree.changed),
        "diff": tree.diff,
        "next": list(_next_steps(harness, tree.folder)),
    }
    print_answer(record, [tree.diff.removesuffix("\n")] if tree.diff else [], as_json=as_json)
    if tree.is_current:
        say(f"{tree.folder} is what version {__version__} writes")
    elif not is_applied:
        old = f", over version {tree.version}" if tree.version not in (None, __version__) else ""
        say(f"nothing was written; add --apply to write {tree.folder}{old}")
        if tree.changed:
            say(f"not written here, or changed since: {', '.join(tree.changed)}; see --overwrite")
    if tree.palace is None and read_registry().default is None:
        say("agents that work outside of a palace find none: add -C, or set a default palace")


def _check_tree(harness: str, tree: Tree) -> None:
    if not tree.is_current:
        count = plural(len(tree.steps), "file")
        raise CheckFailedError(
            f"{tree.folder}: {count} not as version {__version__} writes them; "
            f"run `palace plugin {harness}` to see them, with --apply to write them"
        )
    stale = [copy.folder for copy in find_copies(harness, tree.files, os.environ) if copy.steps]
    if stale:
        raise CheckFailedError(f"{harness} runs an older copy, {stale[0]}; run `{_AGAIN[harness]}`")


_AGAIN = {
    "claude": f"claude plugin update {NAME}@{NAME}",
    "codex": f"codex plugin add {NAME}@{NAME}",
}
"""What makes a harness take up a folder that has changed. OpenClaw reads the folder itself."""


def _next_steps(harness: str, folder: Path) -> Iterator[str]:
    """Yield what is typed to install a plug-in that is written."""
    place = shlex.quote(str(folder))
    if find_spec("mcp") is None:
        yield install_command("mcp")
    yield "palace config serve auto   # hooks answer in tenths of a second, from a server"
    if harness == "openclaw":
        yield f"openclaw plugins install --link --force --accept-capabilities {place}"
        setting = f"plugins.entries.{NAME}.hooks.allowConversationAccess"
        yield f"openclaw config set {setting} true"
        yield "openclaw gateway restart"
        return
    yield f"{harness} plugin marketplace add {place}"
    if harness == "claude":
        yield f"claude plugin install {NAME}@{NAME}"
    else:
        yield _AGAIN["codex"]
        yield f"cat {place}/AGENTS.md >> ~/.codex/AGENTS.md"
        yield "codex, and in it /hooks, to trust the hooks"


def _own_folder() -> Path:
    from platformdirs import user_data_dir  # delayed: a few verbs need it

    return Path(user_data_dir("memory-palace", appauthor=False), "plugins")


def _check_llm(*, as_json: bool) -> None:
    if find_spec("llm") is None:
        raise MissingPartError(
            f"the llm library is not in this environment; run `{install_command('llm')}`"
        )
    if NAME not in {entry.name for entry in entry_points(group="llm")}:
        raise CheckFailedError(
            "this package was installed before llm could load it; "
            f"run `{install_command('llm')}` again"
        )
    steps = [
        "llm -f 'palace:why did we stop using the message broker' 'What should we try next?'",
        "llm -T palace_search -T palace_read 'What do my notes say about the message broker?'",
    ]
    record = {
        "harness": "llm",
        "version": __version__,
        "folder": None,
        "found": __version__,
        "current": True,
        "applied": False,
        "changed": [],
        "diff": "",
        "next": steps,
    }
    print_answer(record, steps, as_json=as_json)
