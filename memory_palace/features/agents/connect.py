"""Connect the harnesses of a user's agents: an entry in the configuration of each, and its plug-in.

Of a configuration only the entry is written, and shown: other lines may hold keys.
"""

from __future__ import annotations

import os
import shlex
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from platformdirs import user_config_dir, user_data_dir

from memory_palace import __version__
from memory_palace.changes.changing import render_diff
from memory_palace.features.agents import plugin, splicing
from memory_palace.features.agents.splicing import BrokenTextError, Edit
from memory_palace.libraries import install_command
from memory_palace.shown import inner
from memory_palace.storage import write_atomic


@dataclass(frozen=True, slots=True)
class Harness:
    """A row of ``plugin_texts/harnesses.toml``, whose head says what each field is."""

    title: str
    folder: str = ""
    windows: str = ""
    variable: str = ""
    files: Sequence[str] = ()
    kind: str = "jsonc"
    path: Sequence[str] = ("mcpServers", "palace")
    entry: Mapping[str, object] | None = None
    steps: Sequence[str] = ("start {title} anew",)
    undo: Sequence[str] = ("start {title} anew",)

    def locate(self) -> Path:
        folder = (sys.platform == "win32" and self.windows) or self.folder
        apps, xdg = user_config_dir(roaming=True), os.environ.get("XDG_CONFIG_HOME") or "~/.config"
        return Path(os.environ.get(self.variable) or folder.format(apps=apps, xdg=xdg)).expanduser()


_ROWS = tomllib.loads((plugin.TEXTS / "harnesses.toml").read_text("utf-8"))
HARNESSES: Mapping[str, Harness] = {name: Harness(**row) for name, row in _ROWS.items()}


@dataclass(frozen=True, slots=True)
class Connection:
    """What is there for a harness, compared with what connecting or removing it would write."""

    name: str
    state: str
    """``connected``, ``not connected``, ``out of date``, ``edited``, ``broken``, ``not found``."""
    config: str | None
    """The configuration file that gets the entry of the server."""
    folder: str | None
    """The folder of the plug-in, with hooks and a skill."""
    changed: tuple[str, ...]
    """What is left alone: not written here, or changed since."""
    problem: str | None
    """Why nothing is written: the configuration cannot be read, or the harness is not there."""
    diff: str
    next: tuple[str, ...]
    """What is typed once after it is written."""
    tree: plugin.Tree = inner()
    record: Mapping[str, Any] = inner()
    """The record to write; empty where nothing of ours stays."""
    before: str | None = inner()
    edits: Sequence[Edit] = inner()
    """Of the configuration's text before, one after the other."""


def compare(name: str, *, palace: str | None, remove: bool) -> Connection:
    """Compare what is there for a harness with what connecting or removing it would write.

    ``palace`` is the root of the one that is asked wherever the agent works; ``None`` is the one of
    an earlier call, if any.
    """
    harness, home = HARNESSES[name], HARNESSES[name].locate()
    folder = Path(user_data_dir("memory-palace", appauthor=False), "plugins", name)
    palace = palace or plugin.read_record(folder).get("palace")
    program = [*plugin.find_program(), *(("-C", palace) if palace else ())]
    files = plugin.make_files(name, program)
    tree = plugin.compare_tree(folder, {} if remove else files)
    entry = None if remove else plugin.fill_record(harness.entry, program)
    record: dict[str, Any] = {**tree.record, "version": __version__, "palace": palace}
    kept = set(record.get("files", ())) - {step.path for step in tree.steps} if remove else ()
    changed = [str(folder / one) for one in (*tree.changed, *kept) if (folder / one).exists()]
    names = [home / one for one in harness.files]
    config = next((one for one in names if one.exists()), names[0] if names else None)
    is_here = home.is_dir() if harness.folder else find_spec(name) is not None
    is_there = bool(tree.record) or (is_here and not files and not names)
    before, problem, edits = None, "", list[Edit]()
    try:
        before = config.read_bytes().decode() if config and config.exists() else None
        found = splicing.find_entry(splicing.parse(before or "", harness.kind), harness.path)
        is_there |= found is not None
        edits += _plan_edits(before or "", harness, tree.record, found, entry)
    except (BrokenTextError, OSError) as error:
        problem = f"{config}:{getattr(error, 'line', 1)}: {error}; left alone. Mend it"
    except UnicodeDecodeError as error:
        line = error.object.count(10, 0, error.start) + 1
        problem = f"{config}:{line}: not UTF-8; left alone. Mend it"
    except LookupError:
        changed.append(f"{'.'.join(harness.path)} in {config}")
    if not is_here and not remove:
        problem = f"{harness.title} is not here ({home}). Start it once"
    if edits and edits[-1].after:
        made = before is None or bool(record.get("made"))
        record |= {"entry": entry, "text": edits[-1].after, "made": made}
    is_blocked = bool(problem or (changed and not remove))
    diff = "" if is_blocked else _render(config, before, edits) + render_diff(tree.steps)
    state = "out of date" if diff else "connected"
    state = "edited" if changed else state if is_there else "not connected"
    steps = [*harness.undo] if remove else [*harness.steps]
    if not remove and find_spec("mcp") is None:
        steps.insert(0, install_command("mcp"))
    return Connection(
        name,
        "not found" if not is_here else "broken" if problem else state,
        str(config) if config else None,
        str(folder) if files else None,
        tuple(changed),
        f"{problem}, then type `palace connect {name}`" if problem else None,
        diff,
        tuple(one.format(place=shlex.quote(str(folder)), title=harness.title) for one in steps),
        tree,
        {} if remove else record,
        before,
        edits,
    )


def write(one: Connection) -> Connection:
    """Write what was compared: the record before its entry, which otherwise would be nobody's."""
    if one.problem or (one.changed and one.record):
        return one
    text = one.before or ""
    for edit in one.edits:
        if edit.after:
            plugin.write_tree(one.tree, one.record)
        text = edit.apply(text)
        path = Path(one.config or "").resolve()
        if not text and not one.record and one.tree.record.get("made"):
            path.unlink()
        else:
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
            write_atomic(path, text.encode(), mode=mode)
    if not (one.edits and one.edits[-1].after):
        plugin.write_tree(one.tree, one.record)
    return replace(one, state="connected" if one.record else "not connected")


def _plan_edits(
    text: str, harness: Harness, record: Mapping[str, Any], found: object, wanted: Any
) -> Iterator[Edit]:
    """Yield the edits from the entry found to the one wanted; ``None`` stands for no entry.

    Raise ``LookupError`` for an entry that is not as the record has it.
    """
    if found is not None and found != wanted:
        added = record["text"] if found == record.get("entry") else ""
        edit = added and splicing.cut_entry(text, harness.kind, harness.path, added)
        if not edit:
            raise LookupError
        text = edit.apply(text)
        yield edit
    if wanted is not None and found != wanted:
        yield splicing.place_entry(text, harness.kind, harness.path, wanted)


def _render(config: Path | None, before: str | None, edits: Sequence[Edit]) -> str:
    """Return the edits as a diff of nothing but their own lines."""
    old, text = ("/dev/null", "") if before is None else (config, before)
    shown = [f"--- {old}", f"+++ {config}"]
    for edit in edits:
        lines = (edit.before or edit.after).strip("\r\n").splitlines()
        line = text.count("\n", 0, edit.at) + 1
        shown += [f"@@ line {line} @@", *(f"{'-' if edit.before else '+'}{one}" for one in lines)]
        text = edit.apply(text)
    return "\n".join([*shown, ""]) if edits else ""
