"""``palace config register``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option

from memory_palace.cli.options import Json, completed, locate, open_palace
from memory_palace.cli.registry import Registry, read_registry, write_registry
from memory_palace.errors import UsageError
from memory_palace.palace import Palace
from memory_palace.shown import print_answer, say

Address = Annotated[
    str | None,
    Option(
        "--store",
        metavar="ADDRESS",
        help="A palace in PostgreSQL: postgresql://USER@HOST/DATABASE#PALACE. No password.",
    ),
]


def register_palace(
    ctx: Context,
    name: Annotated[
        str | None,
        Argument(
            help="Name of the palace; without it, list them.", autocompletion=completed("palaces")
        ),
    ] = None,
    folder: Annotated[
        str | None, Argument(help="Folder of the palace; the one you are in by default.")
    ] = None,
    default: Annotated[
        bool, Option("--default", help="Use it wherever no palace is at or above the folder.")
    ] = False,
    remove: Annotated[
        bool, Option("--remove", help="Forget the name. The palace itself stays as it is.")
    ] = False,
    store: Address = None,
    as_json: Json = False,
) -> None:
    """Give a palace a name, so that -C NAME reaches it from every folder.

    Names are kept in ~/.config/memory-palace/palaces.json, which no other verb writes. A name with
    --store is a palace in a database, for --store NAME.
    Example: palace config register work ~/notes --default
    """
    registry = read_registry()
    if name is None:
        if default or remove or store is not None:
            raise UsageError("name the palace that --default, --remove or --store is for")
        _show(registry, as_json=as_json)
        return
    if store is None:
        registry = _change(ctx, registry, name, folder, is_choice=default, is_removal=remove)
    elif folder is not None or default or remove:
        raise UsageError("--store takes a name alone; a folder has a line of its own")
    else:
        registry = registry.add_store(name, store)
    path = write_registry(registry)
    _show(registry, as_json=as_json)
    if not as_json:
        say(f"kept in {path}")


def _change(
    ctx: Context,
    registry: Registry,
    name: str,
    folder: str | None,
    *,
    is_choice: bool,
    is_removal: bool,
) -> Registry:
    if is_removal:
        if folder is not None or is_choice:
            raise UsageError("--remove takes a name alone")
        return registry.remove(name)
    registry = _add(ctx, registry, name, folder, is_choice=is_choice)
    return replace(registry, default=name if is_choice else registry.default)


def _add(
    ctx: Context, registry: Registry, name: str, folder: str | None, *, is_choice: bool
) -> Registry:
    known = registry.palaces.get(name)
    if known is not None and folder is None and is_choice:
        return registry
    palace = _here(ctx) if folder is None else Palace(locate(folder).absolute())
    home = palace.paths.root.resolve()
    if known is not None and folder is None and Path(known) != home:
        raise UsageError(
            f"{name!r} is {known}\n"
            f"`palace config register {name} {home}` gives the name to this palace"
        )
    return registry.add(name, home)


def _here(ctx: Context) -> Palace:
    """Open the palace that ``-C`` names or that one stands in; never the default."""
    return Palace.discover(Path.cwd()) if ctx.obj is None else open_palace(ctx)


def _show(registry: Registry, *, as_json: bool) -> None:
    palaces = [
        {"name": name, "folder": folder, "default": name == registry.default}
        for name, folder in sorted(registry.palaces.items())
    ]
    width = max(map(len, (*registry.palaces, *registry.stores)), default=0)
    marks = {name: "  (default)" if name == registry.default else "" for name in registry.palaces}
    gone = {name for name, folder in registry.palaces.items() if not Path(folder).is_dir()}
    lines = [
        f"{name:<{width}}  {folder}{marks[name]}{'  (not there)' if name in gone else ''}"
        for name, folder in sorted(registry.palaces.items())
    ]
    stores = [{"name": name, "address": place} for name, place in sorted(registry.stores.items())]
    lines += [f"{store['name']:<{width}}  {store['address']}" for store in stores]
    print_answer({"palaces": palaces, "stores": stores}, lines, as_json=as_json)
    if not lines:
        say("no palace is registered; `palace config register NAME FOLDER` gives one a name")
