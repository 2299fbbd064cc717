"""Lose power during each verb, and see that the next commands find every note and no wrong answer.

A killed process loses nothing that it wrote; a machine loses what was not synced. A recorder notes
what a verb does to its files. From the record states are built under three models of a file system,
as ALICE (Pillai et al., OSDI 2014) and CrashMonkey (Mohan et al., OSDI 2018) do.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, Literal, TypeAlias
from unittest.mock import patch

from memory_palace.errors import PalaceError
from memory_palace.models import FileStat
from memory_palace.palace import Palace

Model: TypeAlias = Literal["synced", "ordered", "writeback"]
"""What an un-synced write may leave. ``synced``: POSIX promises no more than was synced, file by
file and folder by folder; names may be lost or kept in any order. ``ordered`` (ext4): names are
lost from some step on, un-synced bytes are old, new or cut. ``writeback`` (ext4): the same, and
any sector of them may be new, old or zero."""
MODELS: tuple[Model, ...] = ("synced", "ordered", "writeback")
SECTOR = 512
FOLDER = -1
_NAMING = frozenset({"make", "link", "rename", "remove", "mkdir", "rmdir"})


@dataclass(frozen=True, slots=True)
class Step:
    """One change below the recorded folder; paths are relative to it."""

    kind: str
    path: str = ""
    new: str = ""
    """The other name of a link or a rename."""
    node: int = FOLDER
    data: bytes = b""
    mtime_ns: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """Files and folders by path, and the bytes and time of the files by node."""

    names: dict[str, int] = field(default_factory=dict)
    nodes: dict[int, tuple[bytes, int]] = field(default_factory=dict)

    def copy(self) -> Tree:
        """Return a tree that may be changed."""
        return Tree(dict(self.names), dict(self.nodes))

    def digest(self) -> str:
        """Return a digest of all names and bytes."""
        found = sha256()
        for path, node in sorted(self.reached()):
            data = b"/" if node == FOLDER else sha256(self.nodes[node][0]).digest()
            found.update(path.encode("utf-8", "surrogateescape") + b"\0" + data)
        return found.hexdigest()

    def write(self, root: Path) -> None:
        """Write the tree into an empty folder, with the times of its files."""
        first: dict[int, Path] = {}
        for path, node in sorted(self.reached()):
            file = root / path
            if node == FOLDER:
                file.mkdir()
            elif node in first:
                file.hardlink_to(first[node])
            else:
                data, mtime_ns = self.nodes[node]
                file.write_bytes(data)
                os.utime(file, ns=(mtime_ns, mtime_ns))
                first[node] = file

    def apply(self, step: Step) -> None:
        """Take in one step; a name that was lost may be kept under another."""
        if step.kind in ("make", "mkdir", "link", "rename"):
            self.names[step.new or step.path] = step.node
            self.nodes.setdefault(step.node, (b"", 0))
        if step.kind in ("rename", "remove", "rmdir"):
            self.names.pop(step.path, None)
        if step.kind == "write":
            self.nodes[step.node] = step.data, step.mtime_ns

    def reached(self) -> list[tuple[str, int]]:
        """Return every path whose folders are all named, with its node."""
        folders = {path for path, node in self.names.items() if node == FOLDER} | {"."}
        return [
            (path, node)
            for path, node in self.names.items()
            if all(parent.as_posix() in folders for parent in Path(path).parents)
        ]


def read_tree(root: Path) -> Tree:
    """Return the files below a folder; each is a node of its own."""
    tree = Tree()
    for number, path in enumerate(sorted(root.rglob("*"))):
        name = path.relative_to(root).as_posix()
        tree.names[name] = FOLDER if path.is_dir() else number
        if not path.is_dir():
            tree.nodes[number] = path.read_bytes(), path.stat().st_mtime_ns
    return tree


@dataclass(frozen=True, slots=True)
class Record:
    """The tree before a verb, and its steps."""

    before: Tree
    steps: tuple[Step, ...]

    def replay(self, upto: int | None = None) -> Tree:
        """Return the tree after the first steps, all of them applied."""
        tree = self.before.copy()
        for step in self.steps[:upto]:
            tree.apply(step)
        return tree


def record(root: Path, run: Callable[[], object]) -> Record:
    """Run, and record every change of a file below a folder; raise if one was missed."""
    recorder = _Recorder(root, read_tree(root))
    before = recorder.tree.copy()
    with recorder.patched():
        run()
        recorder.poll()
    found = Record(before, tuple(recorder.steps))
    if found.replay().digest() != read_tree(root).digest():
        raise RuntimeError("the record lacks a change of some file")
    return found


class _Recorder:
    """Stands before the calls of ``os`` and ``open`` that change files.

    Bytes are compared whenever a call comes that could make them last, or name them: what was
    written through a buffer is seen there, at the latest.
    """

    def __init__(self, root: Path, tree: Tree) -> None:
        self.root, self.tree, self.steps = str(root.resolve()), tree, list[Step]()
        self._written: set[int] = set()
        self._read = io.open

    def relative(self, path: Any) -> str | None:
        """Return a path relative to the recorded folder, ``None`` if it lies elsewhere."""
        is_open = isinstance(path, int)
        at = os.readlink(f"/proc/self/fd/{path}") if is_open else os.fsdecode(path)  # noqa: PTH115
        full = os.path.abspath(at)  # noqa: PTH100
        if full == self.root:
            return "."
        return full[len(self.root) + 1 :] if full.startswith(f"{self.root}/") else None

    def note(self, step: Step) -> None:
        self.steps.append(step)
        self.tree.apply(step)

    def poll(self) -> None:
        """Note what was written into the files that are, or were, open."""
        for path, node in list(self.tree.names.items()):
            if node in self._written:
                with self._read(f"{self.root}/{path}", "rb") as file:
                    data, mtime_ns = file.read(), os.fstat(file.fileno()).st_mtime_ns
                if data != self.tree.nodes[node][0]:
                    self.note(Step("write", path, node=node, data=data, mtime_ns=mtime_ns))

    def opened(self, path: Any, call: Callable[[], Any]) -> Any:
        """Open for writing: what is not there is made."""
        self.poll()
        result, name = call(), None if isinstance(path, int) else self.relative(path)
        if name is not None:
            if name not in self.tree.names:
                node = 1 + max(self.tree.nodes, default=0)
                self.note(Step("make", name, node=node))
            self._written.add(self.tree.names[name])
        return result

    @contextmanager
    def patched(self) -> Iterator[None]:
        """Put the recorder before the calls."""
        with ExitStack() as stack:
            for name, kind in _CALLS.items():
                call = getattr(os, name)
                made = self._naming(kind, call) if kind else self._descriptor(name, call)
                stack.enter_context(patch.object(os, name, made))
            stack.enter_context(patch.object(io, "open", self._open_file))
            stack.enter_context(patch("builtins.open", self._open_file))
            yield

    def _naming(self, kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def named(path: Any, *rest: Any, **more: Any) -> Any:
            self.poll()
            name = self.relative(path)
            new = self.relative(rest[0]) if kind in ("link", "rename") else ""
            result = call(path, *rest, **more)
            if new != "" and (name is None) != (new is None):
                raise RuntimeError(f"{path} is renamed into, or out of, the recorded folder")
            if name is not None:
                node = FOLDER if kind == "mkdir" else self.tree.names[name]
                self.note(Step(kind, name, new or "", node))
            return result

        return named

    def _descriptor(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def opened(path: Any, flags: int, *rest: Any, **more: Any) -> Any:
            if not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return call(path, flags, *rest, **more)
            return self.opened(path, lambda: call(path, flags, *rest, **more))

        def synced(descriptor: int) -> Any:
            self.poll()
            result, path = call(descriptor), self.relative(descriptor)
            if path is not None and (path == "." or path in self.tree.names):
                self.note(Step("sync", path, node=self.tree.names.get(path, FOLDER)))
            return result

        return opened if name == "open" else synced

    def _open_file(self, path: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        def call() -> Any:
            return self._read(path, mode, *rest, **more)

        return self.opened(path, call) if set(mode) & set("wax+") else call()


_CALLS = {"open": "", "fsync": "", "replace": "rename", "rename": "rename", "link": "link"}
_CALLS |= {"unlink": "remove", "remove": "remove", "mkdir": "mkdir", "rmdir": "rmdir"}


def leave_states(found: Record, model: Model, most: int, *, seed: int = 0) -> Iterator[Tree]:
    """Yield different trees that a crash may leave: at most half of them are plain prefixes."""
    ends, random = range(len(found.steps) + 1), Random(f"{model} {seed}")
    some = [random.sample(ends, min(len(ends), 1 + most // 4)) for _ in range(2)]
    prefixes = {found.replay(end).digest() for end in ends}
    named = [_leave(found, end, model, None, loses_names=False) for end in ends]
    seen: set[str] = set()
    trees = chain(
        (tree for tree in named if tree.digest() not in prefixes),  # named before it is synced
        (_leave(found, end, model, None) for end in some[0]),
        (found.replay(end) for end in some[1]),
        (_leave(found, random.choice(ends), model, random) for _ in range(40 * most)),
    )
    for tree in trees:
        digest = tree.digest()
        is_plain = digest in prefixes
        if digest not in seen and not (is_plain and len(seen & prefixes) >= most // 2):
            seen.add(digest)
            yield tree
        if len(seen) >= most:
            return


def _leave(
    found: Record, end: int, model: Model, random: Random | None, *, loses_names: bool = True
) -> Tree:
    """Return what is left of the first steps: without ``random``, only what must be."""
    steps = found.steps[:end]
    tree = found.before.copy()
    named = [step for step in steps if step.kind in _NAMING]
    for step in _keep_names(steps, model, random) if loses_names else named:
        tree.apply(step)
    written: dict[int, tuple[bytes, int]] = {}
    for step in steps:
        if step.kind == "write":
            written[step.node] = step.data, step.mtime_ns
        elif step.kind == "sync" and step.node in written:
            tree.nodes[step.node] = written.pop(step.node)
    for node, (data, mtime_ns) in written.items():
        old = tree.nodes.get(node, (b"", 0))[0]
        tree.nodes[node] = (_tear(old, data, model, random) if random else old), mtime_ns
    return tree


def _keep_names(steps: tuple[Step, ...], model: Model, random: Random | None) -> list[Step]:
    """Return the steps that name files, those which may be lost drawn by ``random``."""
    naming = [(place, step) for place, step in enumerate(steps) if step.kind in _NAMING]
    syncs = [(place, step) for place, step in enumerate(steps) if step.kind == "sync"]
    if model != "synced":  # a sync of anything writes the journal of names
        last = max((place for place, _ in syncs), default=-1)
        sure = sum(place < last for place, _ in naming)
        return [step for _, step in naming[: random.randint(sure, len(naming)) if random else sure]]
    kept = []
    for place, step in naming:
        named = (step.new,) if step.kind == "link" else filter(None, (step.path, step.new))
        folders = {os.path.dirname(name) or "." for name in named}  # noqa: PTH120
        later = {sync.path for when, sync in syncs if when > place and sync.node == FOLDER}
        if folders <= later or (random and random.random() < 0.5):
            kept.append(step)
        elif step.kind == "rename" and (halves := folders & later):
            is_named = (os.path.dirname(step.new) or ".") in halves  # noqa: PTH120
            kept.append(replace(step, kind="link" if is_named else "remove"))
    return kept


def _tear(old: bytes, new: bytes, model: Model, random: Random) -> bytes:
    """Return what may be on the disk of un-synced bytes."""
    size, grown = len(new), len(old) if new.startswith(old) else 0
    if model != "ordered" and random.random() < 0.4:
        parts = (new, old.ljust(size, b"\0")[:size], bytes(size))
        places = range(0, size, SECTOR)
        return b"".join(random.choice(parts)[at : at + SECTOR] for at in places)
    cut = max(random.randrange(0, size + SECTOR, SECTOR), grown)  # what was there is not cut
    return random.choice((old, new, new[:cut]))


QUESTIONS = ("how tall is the mast", "when was the gauge emptied", "who has the spare key")
NOTES = {
    "mast.md": "# Mast\n\nThe mast is 3.2 metres tall. See [the gauge](gauges/rain.md).\n",
    "draft.md": "---\nsuperseded_by: mast\n---\n# Draft\n\nThe mast has 2 metres. [[mast]]\n",
    "gauges/rain.md": "# Rain gauge\n\nThe gauge was emptied on Monday. Back to [[mast]].\n",
    "gauges/wind.md": "# Wind\n\nThe cups turn freely after the oil.\n",
    "keys.md": "# Keys\n\nIlse has the spare key, says [the gauge](gauges/rain.md).\n",
    "log/hut.md": "# Hut\n\n" + "The hut has a stove, says [the draft](../draft.md).\n\n" * 30,
}


@dataclass(frozen=True, slots=True)
class Losable:
    """A verb to lose power in."""

    run: Callable[[Palace], object]
    prepare: Callable[[Palace], object] = lambda palace: None
    """What happens to an indexed palace before."""
    is_indexed: bool = True
    is_undone: bool = False


def _edit(palace: Palace, *, times: int) -> None:
    root = palace.paths.root
    for number in range(times):
        (root / "gauges/wind.md").write_text(f"# Wind\n\nThe cups turned {number} times.\n")
        (root / f"new-{number}.md").write_text(f"# New {number}\n\nA key of number {number}.\n")
        if number + 1 < times:
            palace.index()
    (root / "log/hut.md").unlink()


def _import(palace: Palace) -> None:
    said = {"sender": "human", "text": "The key is here", "created_at": "2026-03-01T10:00:00Z"}
    day = {"created_at": "2026-03-01T09:59:00Z", "updated_at": "2026-03-01T10:30:00Z"}
    talk = {"uuid": "1", "name": "Talk", **day, "chat_messages": [{"uuid": "2", **said}]}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "conversations.json"
        file.write_text(json.dumps([talk]), "utf-8")
        palace.import_export(file, source="claude", apply=True)


_ARCHIVE = Losable(lambda palace: palace.cold_zone.archive("rain", apply=True), is_undone=True)
VERBS = {
    "index, the first": Losable(lambda palace: palace.index(embedder="hashing"), is_indexed=False),
    "index, after edits": Losable(Palace.index, lambda palace: _edit(palace, times=1)),
    "index, merging": Losable(Palace.index, lambda palace: _edit(palace, times=8)),
    "index --force": Losable(lambda palace: palace.index(force=True)),
    "remember": Losable(lambda palace: palace.remember("The key lies in the hut."), is_undone=True),
    "append": Losable(lambda palace: palace.append("keys", "Ole has one."), is_undone=True),
    "new": Losable(lambda palace: palace.new("Stove", body="Wood is dry."), is_undone=True),
    "archive, with a room made": _ARCHIVE,
    "conflict resolve": Losable(
        lambda palace: palace.conflicts.resolve(
            "mast", winner="mast", decision="Snow decides.", by="Ilse", apply=True
        ),
        lambda palace: palace.conflicts.open(
            "mast", "draft", title="Mast", raised_by="sable", apply=True
        ),
        is_undone=True,
    ),
    "metabolism apply": Losable(
        lambda palace: palace.metabolism.eliminate(apply=True), is_undone=True
    ),
    "undo": Losable(lambda palace: palace.changes.undo(apply=True), _ARCHIVE.run),
    "import": Losable(_import),
}


@contextmanager
def steady_stat() -> Iterator[None]:
    """Let size and time alone tell a note from its former self: a copy has other inodes."""

    def stat(size: int, mtime_ns: int, ctime_ns: int, inode: int) -> FileStat:
        return FileStat(size, mtime_ns, mtime_ns, 1)

    with (
        patch("memory_palace.notes.discovery.FileStat", stat),
        patch("memory_palace.notes.note.FileStat", stat),
    ):
        yield


class Crashed:
    """A verb that was recorded once, in a folder of its own."""

    def __init__(self, verb: Losable, folder: Path) -> None:
        self.verb, self._folder = verb, folder
        root = folder / "recorded"
        for path, text in NOTES.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
        palace = Palace.init(root, here=True)
        if verb.is_indexed:
            palace.index(embedder="hashing")
        verb.prepare(palace)
        self.record = record(root, lambda: verb.run(Palace(root)))
        self.before, self.after = map(notes_of, (self.record.before, self.record.replay()))
        self._fresh: dict[str, object] = {}
        self._findings = {finding.message for finding in Palace(root).doctor().findings}

    def states(self, most: int, *, seed: int = 0) -> Iterator[tuple[Model, Tree]]:
        """Yield what a crash may leave, an equal share of each model."""
        seen: set[str] = set()
        for model in MODELS:
            for tree in leave_states(self.record, model, most // len(MODELS), seed=seed):
                if (digest := tree.digest()) not in seen:
                    seen.add(digest)
                    yield model, tree

    def check(self, tree: Tree) -> list[str]:
        """Return what does not hold in a state, before and after the next commands."""
        root = self._folder / "lost"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        tree.write(root)
        faults: list[str] = []

        def attempt(doing: str, act: Callable[[], Any]) -> Any:
            try:
                return act()
            except Exception as error:
                is_told = isinstance(error, PalaceError) and "palace " in str(error)
                if not (is_told and doing in ("query", "doctor")):
                    faults.append(f"{doing}: {type(error).__name__}: {error}")
                return None

        found = attempt("query", lambda: self._ask(root))
        if found and found[0] and found[1] != self._answers(root):
            faults.append("query: a wrong answer, silently")
        attempt("doctor", Palace(root).doctor)
        has_index = Palace(root).paths.commit.exists()
        attempt("index", lambda: Palace(root).index(embedder=None if has_index else "hashing"))
        notes = notes_of(read_tree(root))
        if notes not in (self.before, self.after):
            paths = {*self.before, *notes}
            odd = sorted(path for path in paths if notes.get(path) != self.before.get(path))
            faults.append(f"half of the change: {odd}")
        found = attempt("query after index", lambda: self._ask(root))
        if found and found != (True, self._answers(root)):
            faults.append("query after index: not the answers of a fresh index")
        examined = attempt("doctor after index", Palace(root).doctor)
        told = {finding.message for finding in examined.findings} if examined else set()
        faults += [f"doctor after index: {one}" for one in sorted(told - self._findings)]
        if self.verb.is_undone and notes == self.after != self.before:
            attempt("undo", lambda: Palace(root).changes.undo(apply=True))
            if notes_of(read_tree(root)) != self.before:
                faults.append("undo: not the notes of before")
        return faults

    def _ask(self, root: Path) -> tuple[bool, object]:
        """Return whether answers are told to be whole and current, and the answers."""
        palace = Palace(root)
        results = [palace.query(question, limit=4) for question in QUESTIONS]
        is_whole = all(r.freshness == "current" and not r.awaiting for r in results)
        hits = [[(hit.path, hit.chunk.first_line, hit.snippet) for hit in r.hits] for r in results]
        return is_whole, hits

    def _answers(self, root: Path) -> object:
        """Return what a fresh index of these notes answers."""
        tree = read_tree(root)
        kept = {path: node for path, node in tree.names.items() if _is_note(path)}
        key = (fresh := Tree(kept, tree.nodes)).digest()
        if key not in self._fresh:
            with tempfile.TemporaryDirectory() as folder:
                fresh.write(Path(folder))
                Palace.init(folder, here=True).index(embedder="hashing")
                self._fresh[key] = self._ask(Path(folder))[1]
        return self._fresh[key]


def notes_of(tree: Tree) -> dict[str, bytes]:
    """Return notes and settings by path, without what is derived, logged or temporary."""
    found = [(path, node) for path, node in tree.reached() if node != FOLDER and _is_note(path)]
    return {path: tree.nodes[node][0] for path, node in found}


def _is_note(path: str) -> bool:
    name = path.rpartition("/")[2]
    is_settings = path in (".palace", ".palace/palace.yaml")
    return is_settings or (not path.startswith(".") and not name.startswith("."))
