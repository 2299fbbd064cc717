"""``palace connect``, ``palace mcp`` and ``palace hook``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from memory_palace.cli.group import Apply, Group, find_palace
from memory_palace.cli.registry import read_registry
from memory_palace.errors import CheckFailedError, MissingPartError, UsageError
from memory_palace.features.agents.connect import HARNESSES, Connection, compare, write
from memory_palace.libraries import install_command
from memory_palace.palace import Palace
from memory_palace.shown import Shown, inner, say

verbs = Group()


@dataclass(frozen=True, slots=True)
class ConnectShown(Shown):
    """Harnesses, each compared with what connecting or removing it writes."""

    harnesses: tuple[Connection, ...]
    applied: bool
    mode: str = inner()
    """``list``, ``check``, ``show`` or ``remove``."""

    def lines(self) -> Iterable[str]:
        for one in self.harnesses:
            if self.mode in ("list", "check"):
                yield f"{one.name:<15} {one.state:<14} {one.config or one.folder or ''}".rstrip()
            elif one.diff and not self.applied:
                yield one.diff.removesuffix("\n")

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if self.mode == "list":
            yield "`palace connect NAME` shows what it writes for one of them"
        for one in self.harnesses if self.mode in ("show", "remove") else ():
            if one.diff and not self.applied:
                yield f"{one.name}: nothing was written; add --apply"
            elif not one.problem and (one.diff or not one.changed):
                steps, then = ((), "") if as_json else (one.next, "; then, once:")
                yield "\n  ".join([f"{one.name}: {one.state}{then}", *steps])
        is_bound = self.mode != "show" or all(one.record["palace"] for one in self.harnesses)
        if not is_bound and read_registry().default is None:
            yield "agents that work outside of a palace find none: add -C, or set a default palace"

    def failure(self) -> Exception | None:
        said = []
        for one in self.harnesses if self.mode != "list" else ():
            if one.problem:
                said.append(one.problem)
            elif one.changed:
                said.append(f"left alone, changed or not written here: {', '.join(one.changed)}")
            elif self.mode == "check" and one.state != "connected":
                said.append(f"{one.name} is {one.state}; type `palace connect {one.name} --apply`")
        return CheckFailedError("\n".join(said)) if said else None


@verbs.verb("connect")
def connect_harnesses(
    place: Path | None,
    names: Annotated[
        list[str] | None, Argument(metavar="NAME", help="Harnesses; without one all are listed.")
    ] = None,
    apply: Apply = False,
    check: Annotated[
        bool, Option("--check", help="Exit 8 unless all is there as this version writes it.")
    ] = False,
    remove: Annotated[
        bool, Option("--remove", help="Take out what was written, and nothing else.")
    ] = False,
) -> ConnectShown:
    """Connect Claude Code, Codex, Cursor and other harnesses; without --apply, show the change.

    With -C it asks that palace wherever the agent works, then and when it is written again; else
    the nearest to the agent's folder, or the default one. Example: palace connect claude --apply
    """
    if (apply or remove) and (check or not names):
        raise UsageError("name what is meant: `palace connect NAME --apply`, or with --remove")
    if unknown := [name for name in names or () if name not in HARNESSES]:
        raise UsageError(f"{unknown[0]!r} is no harness: there are {', '.join(HARNESSES)}")
    meant = str(find_palace(place).paths.root.resolve()) if place else None
    found = [compare(name, palace=meant, remove=remove) for name in names or HARNESSES]
    found = [one for one in found if names or not check or one.tree.record]
    found = [write(one) for one in found] if apply else found
    mode = "check" if check else "remove" if remove else "show" if names else "list"
    return ConnectShown(tuple(found), apply, mode)


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
