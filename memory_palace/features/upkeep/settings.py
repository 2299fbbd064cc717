"""``palace config``: the settings of a palace; the user's own names, and serve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from memory_palace.cli.group import Group, completed, find_palace, locate
from memory_palace.cli.registry import Registry, read_registry, write_registry
from memory_palace.errors import UsageError
from memory_palace.palace import Palace
from memory_palace.shown import Shown, inner, to_record

config = Group("Show the settings, name palaces, keep them in stores.")


@dataclass(frozen=True, slots=True)
class Settings(Shown):
    """The settings of a palace, and the path of its settings file."""

    settings: Mapping[str, object]
    file: str

    def lines(self) -> Iterable[str]:
        for name, value in self.settings.items():
            shown = str(value).lower() if isinstance(value, bool) else value
            yield f"{name}: {'' if shown is None else shown}".rstrip()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return [] if as_json else [f"settings are read from {self.file}"]


@config.verb("show")
def show(palace: Palace) -> Settings:
    """Print every setting with its value, and the file that has yours.

    Example: palace config show
    """
    return Settings(to_record(palace.config), str(palace.paths.settings))


@dataclass(frozen=True, slots=True)
class Serving(Shown):
    """Whether a question starts the server of its palace."""

    serve: str

    def lines(self) -> Iterable[str]:
        return [f"serve: {self.serve}"]


@config.verb("serve")
def serve(
    mode: Annotated[
        Literal["auto", "off"] | None, Argument(help="auto or off; without it, say which.")
    ] = None,
) -> Serving:
    """Let a question start the server of its palace; yours to say, for all your palaces.

    Example: palace config serve auto
    """
    if mode is not None:
        write_registry(replace(read_registry(), serve=None if mode == "off" else mode))
    return Serving(read_registry().serve or "off")


@dataclass(frozen=True, slots=True)
class NamedPalace:
    """A palace that has a name."""

    name: str
    folder: str
    default: bool


@dataclass(frozen=True, slots=True)
class NamedStore:
    """A store that has a name."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class NameRegistry(Shown):
    """The user's palaces and stores by name, and the file that was written."""

    palaces: tuple[NamedPalace, ...]
    stores: tuple[NamedStore, ...]
    file: Path | None = inner()

    @classmethod
    def of(cls, registry: Registry, file: Path | None) -> NameRegistry:
        """Return the registered palaces and stores, sorted by name."""
        palaces, stores = sorted(registry.palaces.items()), sorted(registry.stores.items())
        named = (NamedPalace(name, at, name == registry.default) for name, at in palaces)
        return cls(tuple(named), tuple(NamedStore(*row) for row in stores), file)

    def lines(self) -> Iterable[str]:
        rows = []
        for one in self.palaces:
            gone = "" if Path(one.folder).is_dir() else "  (not there)"
            rows.append((one.name, f"{one.folder}{'  (default)' * one.default}{gone}"))
        rows += [(one.name, one.address) for one in self.stores]
        width = max((len(name) for name, _ in rows), default=0)
        return (f"{name:<{width}}  {place}" for name, place in rows)

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if not (self.palaces or self.stores):
            yield "no palace is registered; `palace config register NAME FOLDER` gives one a name"
        if self.file and not as_json:
            yield f"kept in {self.file}"


@config.verb("register")
def register(
    place: Path | None,
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
    store: Annotated[
        str | None,
        Option(
            "--store",
            metavar="ADDRESS",
            help="A palace in PostgreSQL: postgresql://USER@HOST/DATABASE#PALACE. No password.",
        ),
    ] = None,
) -> NameRegistry:
    """Give a palace a name, so that -C NAME reaches it from every folder.

    Names are kept in ~/.config/memory-palace/palaces.json, which no other verb writes. A name with
    --store is a palace in a database, for --store NAME.
    Example: palace config register work ~/notes --default
    """
    registry = read_registry()
    if sum((bool(folder) or default, remove, store is not None)) > (name is not None):
        raise UsageError("give a name, and a folder or --default, --store or --remove besides")
    if name is None:
        return NameRegistry.of(registry, None)
    if store is not None:
        registry = registry.add(name, store=store)
    elif remove:
        registry = registry.remove(name)
    elif folder is not None or not default or name not in registry.palaces:
        registry = _add(registry, name, folder, place)
    registry = replace(registry, default=name if default else registry.default)
    return NameRegistry.of(registry, write_registry(registry))


def _add(registry: Registry, name: str, folder: str | None, place: Path | None) -> Registry:
    """Register a palace: ``folder``, else that of ``-C``, else the nearest; never the default."""
    if folder is not None:
        palace = Palace(locate(folder).absolute())
    else:
        palace = Palace.discover(Path.cwd()) if place is None else find_palace(place)
    home, known = palace.paths.root.resolve(), registry.palaces.get(name)
    if folder is None and known is not None and Path(known) != home:
        raise UsageError(
            f"{name!r} is {known}\n"
            f"`palace config register {name} {home}` gives the name to this palace"
        )
    return registry.add(name, folder=home)
