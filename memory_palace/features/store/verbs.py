"""``palace config store``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, Context, Option, Typer

from memory_palace.cli.options import SHORT_WAIT_SECONDS, Apply, Json, Wait, check_cold, open_palace
from memory_palace.cli.progress import progress_line
from memory_palace.cli.registry import read_registry
from memory_palace.config import SEVEN
from memory_palace.errors import CheckFailedError, NotAPalaceError, UsageError
from memory_palace.features.store.address import Address
from memory_palace.libraries import check_postgres
from memory_palace.models import QueryResult
from memory_palace.retrieval.search import RankingOptions
from memory_palace.shown import plural, print_answer, say, to_record

if TYPE_CHECKING:
    from memory_palace.features.store.exporting import StoredIndex
    from memory_palace.palace import Palace

app = Typer(no_args_is_help=True, help="Keep palaces in PostgreSQL, and say who may read them.")
Store = Annotated[
    str | None,
    Option(
        "--store",
        metavar="NAME|ADDRESS",
        help="The store; where one alone is registered, that one.",
        show_default=False,
    ),
]


@app.command("status")
def show_status(store: Store = None, as_json: Json = False) -> None:
    """Show the palaces of a store that you may read, and who else may.

    Example: palace config store status --store team
    """
    address = find_store(store)
    from memory_palace.features.store.access import Stored, list_palaces
    from memory_palace.features.store.schema import open_store

    with open_store(address, purpose="store status") as connection:
        palaces = list_palaces(connection, address)

    def describe(palace: Stored) -> Iterator[str]:
        counts = f"{plural(palace.notes, 'note')}, {plural(palace.passages, 'passage')}"
        size = f"{palace.size_bytes / 1e6:.1f} MB"
        yield f"{palace.name}  {counts}, {size}, generation {palace.generation}"
        if palace.built_at is not None:
            yield f"  built    {palace.built_at:%Y-%m-%d %H:%M} by {palace.built_by}"
        for member in palace.members:
            yield f"  {'writes' if member.may_write else 'reads '}   {member.role}"

    record = {"store": address.shown, "palaces": to_record(palaces)}
    lines = [line for palace in palaces for line in describe(palace)]
    print_answer(record, lines, as_json=as_json)
    if not palaces and not as_json:
        say(f"no palace at {address.shown} was granted to this role")


@app.command("grant")
def grant_palace(
    role: Annotated[str, Argument(help="A role of the server.")],
    store: Store = None,
    write: Annotated[bool, Option("--write", help="Let it index too.")] = False,
    revoked: Annotated[bool, Option("--revoke", help="Take the palace from the role.")] = False,
    as_json: Json = False,
) -> None:
    """Let a role read a palace of a store, or no longer; its owner alone may.

    Example: palace config store grant anna --store team
    """
    address = find_store(store)
    if write and revoked:
        raise UsageError("--write contradicts --revoke; give one of them")
    from memory_palace.features.store.access import grant, revoke
    from memory_palace.features.store.schema import open_store

    with open_store(address, purpose="store grant") as connection:
        if revoked:
            palace = revoke(connection, address, role)
        else:
            palace = grant(connection, address, role, may_write=write)
    record = {"palace": palace, "role": role, "read": not revoked, "write": write}
    may = "write" if write else "no longer read" if revoked else "read"
    print_answer(record, [f"{role} may {may} {palace}"], as_json=as_json)


@app.command("drop")
def drop_palace(
    store: Store = None,
    apply: Apply = False,
    wait: Wait = SHORT_WAIT_SECONDS,
    as_json: Json = False,
) -> None:
    """Remove a palace from a store, with its grants; the owner of the store alone may.

    The notes, and their index in files, stay as they are.

    Example: palace config store drop --store team --apply
    """
    address = find_store(store)
    from memory_palace.features.store.access import drop, find_palace, list_palaces
    from memory_palace.features.store.schema import open_store

    with open_store(address, purpose="store drop") as connection:
        find_palace(connection, address)
        palaces = list_palaces(connection, address)
        palace = next(one for one in palaces if address.palace in ("", one.name))
        if apply:
            drop(connection, address, wait_seconds=wait)
    counts = f"{plural(palace.notes, 'note')}, {plural(palace.passages, 'passage')}"
    record = {"palace": palace.name, "notes": palace.notes, "passages": palace.passages}
    verb = ", gone" if apply else " would go"
    print_answer(record | {"applied": apply}, [f"{palace.name}  {counts}{verb}"], as_json=as_json)
    if not apply and not as_json:
        say("nothing was changed; add --apply")


@app.command("verify")
def verify_palace(ctx: Context, store: Store = None, as_json: Json = False) -> None:
    """Prove that a store holds what the notes' index says, and agrees with itself.

    Outside of a palace only the second. Nothing is changed.

    Example: palace config store verify --store team
    """
    palace, address = _nearest_palace(ctx), find_store(store)
    from memory_palace.features.store.checking import verify_store
    from memory_palace.index.store import IndexFiles

    with _open_stored(address, palace, "store verify") as stored, progress_line() as advance:
        source = IndexFiles(palace.paths) if palace else None
        findings = verify_store(stored, palace.paths.rooms if palace else None, source, advance)
        said = stored.generation
    record = {"generation": said.number, "notes": said.notes, "rows": said.rows}
    record |= {"compared": palace is not None, "findings": to_record(findings)}
    counts = f"{plural(said.notes, 'note')}, {plural(said.rows, 'passage')}"
    lines = [f"{found.what} {found.where} {found.message}" for found in findings]
    beside = "" if palace else "; there are no notes here to compare it with"
    differences = plural(len(findings), "difference")
    lines.append(f"generation {said.number}: {counts}, {differences}{beside}")
    print_answer(record, lines, as_json=as_json)
    if findings:
        raise CheckFailedError(
            f"the store differs in {plural(len(findings), 'place')}; `palace index --store …` "
            "pushes what is new, with --verify all of it"
        )


@app.command("vacuum")
def vacuum_palace(
    store: Store = None, wait: Wait = SHORT_WAIT_SECONDS, as_json: Json = False
) -> None:
    """Merge what a store keeps of many small pushes, and leave out what is gone.

    Example: palace config store vacuum --store team
    """
    address = find_store(store)
    from memory_palace.features.store.access import find_palace
    from memory_palace.features.store.connecting import asking
    from memory_palace.features.store.schema import open_store
    from memory_palace.features.store.upkeep import vacuum

    with open_store(address, purpose="store vacuum") as connection, asking(address):
        number = find_palace(connection, address)
        with progress_line(stopped="stopped; the store is as it was") as advance:
            done = vacuum(connection, number, wait_seconds=wait, progress=advance)
    left_out = f"{plural(done.dead_rows, 'passage')} that were gone are left out"
    line = f"{left_out}; {plural(done.blocks, 'block')}, before {done.blocks_before}"
    print_answer(done._asdict(), [line], as_json=as_json)


def ask_store(
    text: str, asked: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[QueryResult, list[str]]:
    """Return what a palace of a store answers, and the tags of the question that no note has."""
    address, folders = find_store(given["store"]), given["folder"] or ()
    check_cold(SEVEN, given, folders)
    from memory_palace.features.store.reader import StoreReader  # delayed: it needs an extra

    with StoreReader(address) as reader:
        of_ranking = asked.keys() & RankingOptions.__annotations__
        ranking = cast("RankingOptions", {name: asked[name] for name in of_ranking})
        others = {name: value for name, value in asked.items() if name not in ranking}
        result = reader.ask(text, ranking=ranking, whole=given["full"], folder=folders, **others)
        if "#" not in text:
            return result, []
        return result, reader.find_unknown_tags(text, include_cold=given["include_cold"])


@contextmanager
def _open_stored(address: Address, palace: Palace | None, purpose: str) -> Iterator[StoredIndex]:
    from memory_palace.features.store.access import find_palace
    from memory_palace.features.store.connecting import asking
    from memory_palace.features.store.exporting import StoredIndex
    from memory_palace.features.store.schema import open_store

    address = name_palace(address, palace) if palace else address
    with open_store(address, purpose=purpose) as connection, asking(address):
        yield StoredIndex(connection, find_palace(connection, address))


def _nearest_palace(ctx: Context) -> Palace | None:
    """Open the palace that is meant; where none was named, there may be none."""
    try:
        return open_palace(ctx)
    except NotAPalaceError:
        if ctx.obj is not None:
            raise
        return None


def name_palace(address: Address, palace: Palace) -> Address:
    """Return an address with the palace named: as it is registered here, else as its folder is."""
    if address.palace:
        return address
    folder = palace.paths.root.resolve()
    names = [name for name, place in read_registry().palaces.items() if folder == Path(place)]
    cleaned = re.sub(r"[^\w.-]+", "-", folder.name).strip("-._")[:64]
    return replace(address, palace=names[0] if names else cleaned or "palace")


def find_store(given: str | None) -> Address:
    """Return the address that ``--store`` means, once the libraries are there to ask it."""
    address = read_registry().store_of(given)
    check_postgres()
    return address
