"""``palace plugin``, ``palace mcp`` and ``palace hook``."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from memory_palace import __version__
from memory_palace.cli.group import Group, find_palace
from memory_palace.cli.registry import read_registry
from memory_palace.errors import MissingPartError
from memory_palace.features.agents import plugin
from memory_palace.libraries import install_command
from memory_palace.palace import Palace
from memory_palace.shown import Shown, inner, say

verbs = Group()
Harness = Literal["claude", "codex", "openclaw"]
"""Programs that run agents and load plug-in files. The llm library loads this package itself."""


@dataclass(frozen=True, slots=True)
class PluginShown(Shown):
    """A plug-in compared with the files in its folder."""

    harness: Harness
    version: str
    """Of the plug-in that this program writes."""
    folder: str
    found: str | None
    """The version that is there."""
    current: bool
    applied: bool
    changed: tuple[str, ...]
    """Files in the way that were not written here, or changed since."""
    diff: str
    next: tuple[str, ...]
    """What is typed to install it."""
    tree: plugin.Tree = inner()

    def lines(self) -> Iterable[str]:
        return [self.diff.removesuffix("\n")] if self.diff else []

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        tree = self.tree
        if tree.is_current:
            yield f"{self.folder} is what version {__version__} writes"
        elif not self.applied:
            old = f", over version {self.found}" if self.found not in (None, __version__) else ""
            yield f"nothing was written; add --apply to write {self.folder}{old}"
            if self.changed:
                names = ", ".join(self.changed)
                yield f"not written here, or changed since: {names}; see --overwrite"
        if tree.palace is None and read_registry().default is None:
            yield "agents that work outside of a palace find none: add -C, or set a default palace"
        if not as_json and self.current:
            yield "\n".join(["then, once:", *(f"  {step}" for step in self.next)])


@verbs.verb("plugin")
def make_plugin(
    place: Path | None,
    harness: Annotated[Harness, Argument(help="What the agent runs in.")],
    into: Annotated[
        Path | None, Option("--into", help="Folder to write; one of the user's own by default.")
    ] = None,
    apply: Annotated[bool, Option("--apply", help="Write it; without this it is shown.")] = False,
    overwrite: Annotated[
        bool, Option("--overwrite", help="Replace files that somebody else wrote or changed.")
    ] = False,
) -> PluginShown:
    """Write the plug-in of an agent's harness; without --apply, show what would change.

    With -C it asks that palace wherever the agent works, then and when it is written again; else
    the nearest to the agent's folder, or the default one. Example: palace plugin claude --apply
    """
    folder = (into.expanduser() if into else _own_folder() / harness).absolute()
    meant = find_palace(place).paths.root.resolve() if place else None
    palace = str(meant) if meant else plugin.find_palace(folder)
    files = plugin.make_files(
        harness, [*plugin.find_program(), *(("-C", palace) if palace else ())]
    )
    tree = plugin.compare_tree(folder, files, palace=palace)
    if apply:
        plugin.write_tree(tree, overwrite=overwrite)
    return PluginShown(
        harness,
        __version__,
        str(folder),
        found=tree.version,
        current=apply or tree.is_current,
        applied=apply,
        changed=tree.changed,
        diff=tree.diff,
        next=tuple(_next_steps(harness, folder)),
        tree=tree,
    )


def _next_steps(harness: str, folder: Path) -> Iterator[str]:
    """Yield the commands that install a written plug-in."""
    place = shlex.quote(str(folder))
    if find_spec("mcp") is None:
        yield install_command("mcp")
    yield "palace config serve auto   # hooks answer in tenths of a second, from a server"
    if harness == "openclaw":
        yield f"openclaw plugins install --link --force --accept-capabilities {place}"
        setting = f"plugins.entries.{plugin.NAME}.hooks.allowConversationAccess"
        yield f"openclaw config set {setting} true"
        yield "openclaw gateway restart"
        return
    yield f"{harness} plugin marketplace add {place}"
    if harness == "claude":
        yield f"claude plugin install {plugin.NAME}@{plugin.NAME}"
    else:
        yield f"codex plugin add {plugin.NAME}@{plugin.NAME}"
        yield f"cat {place}/AGENTS.md >> ~/.codex/AGENTS.md"
        yield "codex, and in it /hooks, to trust the hooks"


def _own_folder() -> Path:
    from platformdirs import user_data_dir  # delayed: a few verbs need it

    return Path(user_data_dir("memory-palace", appauthor=False), "plugins")


@verbs.verb("mcp")
def serve_agents(place: Path | None) -> None:
    """Let an agent search, read and write notes: an MCP server on stdin and stdout.

    An agent's program starts it and ends it. Needs the extra [mcp].

    Example: palace -C ~/notes mcp
    """
    if sys.stdin.isatty():
        say("waiting for an MCP client on standard input; references/agents.md says how to add one")
    try:
        from memory_palace.features.agents import mcp_server  # delayed: an extra, and 0.6 s
    except ModuleNotFoundError as error:
        raise MissingPartError(
            f"palace mcp needs the library of the protocol; run `{install_command('mcp')}`"
        ) from error
    mcp_server.run_server(mcp_server.HeldPalace(lambda: find_palace(place)))


@dataclass(frozen=True, slots=True)
class HookText(Shown):
    """The text of a hook, often empty."""

    text: str

    def lines(self) -> Iterable[str]:
        return [self.text] if self.text else []


@verbs.verb("hook", json=False)
def run_hook(
    palace: Palace,
    event: Annotated[Literal["session-start", "prompt"], Argument(help="session-start or prompt.")],
    harness: Annotated[
        Literal["claude", "codex", "openclaw"],
        Option("--harness", help="Who calls: claude, codex or openclaw."),
    ] = "claude",
) -> HookText:
    """Tell an agent what the notes have for it; its harness calls this, with JSON on stdin.

    What is printed goes into the agent's context; mostly it is nothing. Whatever happens the exit
    status is 0: the reason is in hook.log beside the index, and on stderr.

    Example: palace hook prompt --harness claude
    """
    from memory_palace.features.agents.hooks import HookMessage, answer_hook  # delayed: slow

    said = HookMessage(**json.loads(sys.stdin.read()))  # checked by ``calling.run_hook``
    return HookText(answer_hook(palace, event, said, harness=harness))
