"""The user's palaces and stores by name: one small file in their own configuration folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.errors import ConfigError, UsageError, did_you_mean
from memory_palace.places import read_registered, registry_path
from memory_palace.storage import write_atomic

if TYPE_CHECKING:
    from memory_palace.address import Address


@dataclass(frozen=True, slots=True)
class Registry:
    """Folders of palaces by name, and which of them is used outside of all palaces."""

    palaces: Mapping[str, str] = field(default_factory=dict)
    """Name and absolute folder."""
    default: str | None = None
    serve: str | None = None
    """``auto`` where a question starts the server that was not there."""
    stores: Mapping[str, str] = field(default_factory=dict)
    """Name and address of a palace in a database; no palace's own settings have these."""

    @property
    def default_folder(self) -> Path | None:
        """The folder of the default palace; raise ``ConfigError`` where it is gone."""
        return None if self.default is None else self.folder_of(self.default)

    def folder_of(self, name: str) -> Path:
        """Return the folder of a registered name; raise ``ConfigError`` where it is gone."""
        folder = Path(self.palaces[name])
        if not folder.is_dir():
            raise ConfigError(
                f"the palace {name!r} is registered in {folder}, which is not there\n"
                f"`palace config register {name} FOLDER` says where it is now, "
                f"`palace config register {name} --remove` forgets it"
            )
        return folder

    def add(self, name: str, *, folder: Path | None = None, store: str = "") -> Registry:
        """Return the registry with a name for a folder, or for the address of a store.

        Raise ``UsageError`` for what is no name, and for an address with a password.
        """
        from memory_palace.address import check_name, read_address  # delayed: few register

        check_name(name)
        if folder is not None:
            return replace(self, palaces={**self.palaces, name: str(folder)})
        if read_address(store).has_password:
            raise UsageError(
                "an address with a password is not kept: leave it out, and set PGPASSWORD or "
                "write it into ~/.pgpass"
            )
        return replace(self, stores={**self.stores, name: store})

    def store_of(self, given: str | None) -> Address:
        """Return what ``--store`` means: an address, a registered name, or the only one."""
        from memory_palace.address import is_name, read_address  # delayed: few have a store

        if given is not None and not is_name(given):
            return read_address(given)  # nothing of what may hold a password is quoted
        known = ", ".join(sorted(self.stores)) or "none"
        name = next(iter(self.stores)) if given is None and len(self.stores) == 1 else given
        if name is None:
            raise UsageError(f"name the store: --store NAME|ADDRESS; registered: {known}")
        if name not in self.stores:
            hint = did_you_mean(name, self.stores, f"; registered: {known}")
            raise UsageError(
                f"no store is registered as {name!r}{hint}; "
                "`palace config register NAME --store ADDRESS` keeps one"
            )
        address = read_address(self.stores[name])
        return address if address.palace else replace(address, palace=name)

    def remove(self, name: str) -> Registry:
        """Return the registry without a name; the folder or store stays as it is."""
        if name not in self.stores and name not in self.palaces:
            raise UsageError(f"no palace is registered as {name!r}{self.hint(name)}")
        left = {known: folder for known, folder in self.palaces.items() if known != name}
        stores = {known: place for known, place in self.stores.items() if known != name}
        default = None if self.default == name else self.default
        return replace(self, palaces=left, default=default, stores=stores)

    def hint(self, name: str) -> str:
        """Return the names that may have been meant."""
        if name in self.stores:
            return f"; it is a store: `palace query --store {name}` asks it"
        known = f"; registered: {', '.join(sorted(self.palaces))}" if self.palaces else ""
        return did_you_mean(name, self.palaces, known, most=2)


def read_registry() -> Registry:
    """Return the user's palaces, none where nothing was registered.

    Raise ``ConfigError`` for a file that was made by something else.
    """
    try:
        return Registry(*read_registered())
    except ValueError as error:
        message = f"{registry_path()} cannot be read: {error}; mend or delete it"
        raise ConfigError(message) from error


def write_registry(registry: Registry) -> Path:
    """Keep the user's palaces, readable by the user alone; return the file."""
    place = registry_path()
    if place is None:
        raise UsageError("there is no home folder to keep names in; set XDG_CONFIG_HOME")
    path = Path(place)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = asdict(registry)
    for names in ("palaces", "stores"):
        kept[names] = dict(sorted(kept[names].items()))
    kept = {key: one for key, one in kept.items() if one or key in ("palaces", "default")}
    write_atomic(path, (json.dumps(kept, ensure_ascii=False, indent=2) + "\n").encode())
    return path


def explain_unknown(place: Path) -> str:
    """Return that ``-C`` names neither a palace nor a folder, and which names come near."""
    name = str(place)
    return f"{name!r} is neither a folder nor a registered palace{read_registry().hint(name)}"
