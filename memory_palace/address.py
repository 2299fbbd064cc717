"""Where a store is, as a person writes it: ``postgresql://anna@host/database#palace``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from memory_palace.errors import UsageError

_NAME = re.compile(r"[^\W_][\w.-]{0,63}")
_SECRETS = ("password", "sslpassword")


@dataclass(frozen=True, slots=True)
class Address:
    """A database, and the palace in it that is meant."""

    url: str = field(repr=False)
    """As it was given, without the palace; it may hold a password and is never printed."""
    palace: str = ""
    """Empty where none was named."""

    @property
    def shown(self) -> str:
        """The address without what should not be read over a shoulder."""
        parts = urlsplit(self.url)
        user, _, host = parts.netloc.rpartition("@")
        name = f"{user.partition(':')[0]}@" if user else ""
        folder = parse_qs(parts.query).get("host", [""])[0]
        place = f"{parts.scheme}://{name}{host}{parts.path}" + (f"?host={folder}" if folder else "")
        return f"{place}#{self.palace}" if self.palace else place

    @property
    def has_password(self) -> bool:
        """Whether a password stands in it."""
        parts = urlsplit(self.url)
        is_beside = ":" in parts.netloc.rpartition("@")[0]
        return is_beside or any(name in parse_qs(parts.query) for name in _SECRETS)


def read_address(text: str) -> Address:
    """Read an address; raise ``UsageError``, which quotes nothing of it: it may hold a password."""
    url, mark, palace = text.partition("#")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise UsageError(_FORM) from None
    is_known = parts.scheme in ("postgresql", "postgres") and "://" in url
    # A second @, or one behind the host: a password with a sign in it, which is not to be a host.
    if not is_known or url.count("@") > 1 or "@" in parts.path + parts.query:
        raise UsageError(_FORM)
    if mark:
        check_name(palace := unquote(palace), shown="what follows # in the address")
    return Address(url, palace)


def is_name(text: str) -> bool:
    """Say whether a palace can be called so."""
    return _NAME.fullmatch(text) is not None


def check_name(name: str, *, shown: str = "") -> None:
    """Raise ``UsageError`` for what cannot be the name of a palace."""
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
