"""The registry of the user's palaces and stores by name: a JSON file in the configuration folder.

A store's address has the form ``postgresql://anna@host/database#palace``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from memory_palace.errors import ConfigError, UsageError, did_you_mean
from memory_palace.places import read_registered, registry_path
from memory_palace.storage import make_folder, write_atomic

_NAME = re.compile(r"[^\W_][\w.-]{0,63}")
_SECRETS = ("password", "sslpassword")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a palace in a database."""

    url: str = field(repr=False)
    """As given, without the palace; it may contain a password and is never printed."""
    palace: str = ""
    """Empty if none was named."""

    @property
    def shown(self) -> str:
        """The address without password and other parameters, but for a socket's folder."""
        parts = urlsplit(self.url)
        user, _, host = parts.netloc.rpartition("@")
        name = f"{user.partition(':')[0]}@" if user else ""
        folder = parse_qs(parts.query).get("host", [""])[0]
        place = f"{parts.scheme}://{name}{host}{parts.path}" + (f"?host={folder}" if folder else "")
        return f"{place}#{self.palace}" if self.palace else place

    @property
    def has_password(self) -> bool:
        """Whether the address contains a password."""
        parts = urlsplit(self.url)
        is_beside = ":" in parts.netloc.rpartition("@")[0]
        return is_beside or any(name in parse_qs(parts.query) for name in _SECRETS)


def read_address(text: str) -> Address:
    """Parse an address; raise ``UsageError`` without quoting it, since it may hold a password."""
    url, mark, palace = text.partition("#")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise UsageError(_FORM) from None
    is_known = parts.scheme in ("postgresql", "postgres") and "://" in url
    # A second @, or one behind the host, is part of a password: do not take it for a host.
    if not is_known or url.count("@") > 1 or "@" in parts.path + parts.query:
        raise UsageError(_FORM)
    if mark:
        check_name(palace := unquote(palace), shown="what follows # in the address")
    return Address(url, palace)


def is_name(text: str) -> bool:
    """Whether a text is a valid name of a palace."""
    return _NAME.fullmatch(text) is not None


def check_name(name: str, *, shown: str = "") -> None:
    """Raise ``UsageError`` for an invalid name of a palace; messages quote ``shown`` instead."""
    if not is_name(name):
        raise UsageError(
            f"{shown or repr(name)} cannot be the name of a palace: up to 64 letters, digits, "
            "'.', '-' and '_', the first a letter or a digit"
        )


_FORM = (
    "the address of a store is postgresql://USER@HOST/DATABASE#PALACE; "
    "`palace config register NAME --store ADDRESS` keeps one by name (in a part of it that is no "
    "sign of the address itself, : / ? # @ are %3A %2F %3F %23 %40)"
)


@dataclass(frozen=True, slots=True)
class Registry:
    """Registered palaces and stores, and the default palace outside of any other."""

    palaces: Mapping[str, str] = field(default_factory=dict)
    """Name and absolute folder."""
    default: str | None = None
    serve: str | None = None
    """``auto`` if commands start a missing server."""
    stores: Mapping[str, str] = field(default_factory=dict)
    """Name to address of a palace in a database; a palace's own settings have none."""

    def folder_of(self, name: str) -> Path:
        """Return the folder of a registered name; raise ``ConfigError`` if it does not exist."""
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

        Raise ``UsageError`` for an invalid name, and for an address with a password.
        """
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
        """Return the store given by address or registered name; for ``None``, the only one."""
        if given is not None and not is_name(given):
            return read_address(given)  # errors must not quote a password
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
        """Return a hint for messages: similar names, else the registered ones."""
        if name in self.stores:
            return f"; it is a store: `palace query --store {name}` asks it"
        known = f"; registered: {', '.join(sorted(self.palaces))}" if self.palaces else ""
        return did_you_mean(name, self.palaces, known, most=2)


def read_registry() -> Registry:
    """Read the user's registry; it is empty without a file.

    Raise ``ConfigError`` for a malformed file.
    """
    try:
        return Registry(*read_registered())
    except ValueError as error:
        message = f"{registry_path()} cannot be read: {error}; mend or delete it"
        raise ConfigError(message) from error


def write_registry(registry: Registry) -> Path:
    """Write the registry, readable by the user alone; return its path."""
    place = registry_path()
    if place is None:
        raise UsageError("there is no home folder to keep names in; set XDG_CONFIG_HOME")
    path = Path(place)
    make_folder(path.parent, mode=0o700)
    kept = asdict(registry)
    for names in ("palaces", "stores"):
        kept[names] = dict(sorted(kept[names].items()))
    kept = {key: one for key, one in kept.items() if one or key in ("palaces", "default")}
    write_atomic(path, (json.dumps(kept, ensure_ascii=False, indent=2) + "\n").encode())
    return path
