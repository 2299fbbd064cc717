"""Who may ask for what: only a page that this server itself gave out, and only to read.

Any web page can make a browser send requests to 127.0.0.1. So the address holds a token, ``Host``
is compared (a foreign name may be made to lead here), and so is what the browser says of the page
that asks. Whoever is refused learns nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest
from urllib.parse import parse_qsl

from memory_palace.server.head import RequestHead, Unwanted

MOST_TEXT = 1000
"""Characters of a question."""
_ENDPOINTS: Mapping[str, frozenset[str]] = {
    "": frozenset(),
    "state": frozenset(),
    "plan": frozenset(),
    "note": frozenset({"of", "i"}),
    "search": frozenset({"q"}),
    "recall": frozenset({"text"}),
}
"""What can be asked for below the token, and what each takes."""
_OWN = ("same-origin", "none")
"""Asked by a page of this origin, or by a person."""


@dataclass(frozen=True, slots=True)
class PageVisit:
    """A request that is let in."""

    endpoint: str
    values: Mapping[str, str]
    known: str
    """The entity tag that the page has already; empty without one."""
    is_head: bool


def admit(head: RequestHead, *, port: int, token: str) -> PageVisit:
    """Return what is asked; raise ``Unwanted`` where it is not for the one who asks."""
    _check_origin(head, port)
    path, _, query = head.target.partition("?")
    given = path.removeprefix("/").partition("/")[0]
    if path[:1] != "/" or not compare_digest(given.encode(), token.encode()):
        raise Unwanted(403)
    if path == f"/{token}":
        raise Unwanted(308)
    endpoint = path.removeprefix(f"/{token}/")
    if endpoint not in _ENDPOINTS:
        raise Unwanted(404)
    values = _read_values(query, _ENDPOINTS[endpoint])
    known = head.fields.get("if-none-match", "").removeprefix("W/").strip('"')
    return PageVisit(endpoint, values, known, head.method == "HEAD")


def _check_origin(head: RequestHead, port: int) -> None:
    fields, host = head.fields, head.fields.get("host", "").lower()
    if head.method not in ("GET", "HEAD"):
        raise Unwanted(405)
    if host not in (f"127.0.0.1:{port}", f"localhost:{port}"):
        raise Unwanted(421)
    if fields.get("origin", f"http://{host}").lower() != f"http://{host}":
        raise Unwanted(403)
    if fields.get("sec-fetch-site", "none").lower() not in _OWN:
        raise Unwanted(403)
    if fields.get("content-length", "0") != "0" or "transfer-encoding" in fields:
        raise Unwanted(400)


def _read_values(query: str, names: frozenset[str]) -> Mapping[str, str]:
    try:
        pairs = parse_qsl(
            query,
            keep_blank_values=True,
            strict_parsing=bool(query),
            errors="strict",
            max_num_fields=8,
        )
    except ValueError:
        raise Unwanted(400) from None
    values = dict(pairs)
    if len(values) != len(pairs) or values.keys() != names:
        raise Unwanted(400)
    if any(len(value) > MOST_TEXT for value in values.values()):
        raise Unwanted(400)
    return values
