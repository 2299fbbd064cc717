"""A page on a port of this machine: access control, request parsing and replies.

Any web page can make a browser send requests to 127.0.0.1. Therefore the address contains a token,
``Host`` is compared, since a foreign name may resolve to this address, and so are ``Origin`` and
``Sec-Fetch-Site``. A refusal gives no reason.

The head of a request is parsed here: ``http.server`` accepts HTTP/0.9, bare line feeds, folded and
repeated fields, and 6 MB of them, and restarts its timeout with every piece.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hmac import compare_digest
from http import HTTPStatus
from urllib.parse import parse_qsl

from memory_palace.server.listening import ARRIVAL_SECONDS, Listener
from memory_palace.system import IS_POSIX

MOST_HEAD_BYTES = 16 << 10
"""A question of 1,000 characters of three bytes each takes 9 kB, escaped."""
MOST_TEXT = 1000
"""Characters of a question."""
_MOST_FIELDS = 64
_END = b"\r\n\r\n"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE = re.compile(rf"\A({_TOKEN}) ([\x21-\x7e]+) HTTP/1\.[01]")
_FIELD = re.compile(rf"\A({_TOKEN}):([\t\x20-\x7e\xa1-\xac\xae-\xff]*)")
_OWN = ("same-origin", "none")
"""Accepted values of ``Sec-Fetch-Site``: a page of this origin, or a person."""
_PLAIN = "text/plain; charset=utf-8"
NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""Content security policy of every reply that is not a page."""
_SENT = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    "Connection": "close",
}


class Unwanted(Exception):  # noqa: N818 - it says what the request is
    """A refused request, answered with an HTTP status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class PageVisit:
    """An accepted request."""

    endpoint: str
    values: Mapping[str, str]
    known: str
    """The entity tag of ``If-None-Match``; empty without one."""


@dataclass(frozen=True, slots=True)
class PageReply:
    """The reply to a request."""

    body: bytes = b""
    kind: str = _PLAIN
    status: int = 200
    tag: str = ""
    """Entity tag: the generation of the plan; empty for an answer to a question."""
    policy: str = NOTHING


Answer = Callable[[PageVisit, Callable[[], bool]], PageReply]
"""Answers a visit; the function argument returns whether the client has disconnected."""
Endpoints = Mapping[str, frozenset[str]]
"""Endpoints below the token, each with the names of its query parameters."""


class Door(Listener):
    """Listens on 127.0.0.1 and answers one request per connection."""

    def __init__(
        self,
        port: int,
        token: str,
        endpoints: Endpoints,
        answer: Answer,
        *,
        arrival_seconds: float = ARRIVAL_SECONDS,
    ) -> None:
        """Raise ``OSError`` if the port is taken."""
        super().__init__(_bind(port), arrival_seconds=arrival_seconds)
        self._token, self._endpoints, self._answer = token, endpoints, answer
        self.port = int(self.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/{token}/"
        self.server_activate()

    def handle(self, connection: socket.socket) -> None:
        """Answer the first request of a connection."""
        try:
            visit = self._admit(connection)
            try:
                reply = self._answer(visit, lambda: _has_gone(connection))
            except Unwanted:
                raise
            except Exception:  # a defect: it is shown where the server runs, and the server goes on
                self.handle_error(connection, None)
                reply = PageReply(b"failed\n", status=500)
            self.send(connection, _write(reply))
        except Unwanted as unwanted:
            self.send(connection, _write(PageReply(b"refused\n", status=unwanted.status)))
            self.drain(connection)

    def _admit(self, connection: socket.socket) -> PageVisit:
        """Receive and check a request; raise ``Unwanted`` to refuse it.

        Raise ``ConnectionError`` if the client disconnects without a request.
        """
        try:
            received = self.receive(connection, _END, MOST_HEAD_BYTES)
        except TimeoutError:
            raise Unwanted(408) from None
        if not received:
            raise ConnectionError("nothing was asked")
        method, target, fields = parse_head(received)
        _check_origin(method, fields, self.port)
        path, _, query = target.partition("?")
        given = path.removeprefix("/").partition("/")[0]
        if path[:1] != "/" or not compare_digest(given.encode(), self._token.encode()):
            raise Unwanted(403)
        endpoint = path.removeprefix(f"/{self._token}/")
        if endpoint not in self._endpoints:
            raise Unwanted(404)
        values = _parse_values(query, self._endpoints[endpoint])
        known = fields.get("if-none-match", "").removeprefix("W/").strip('"')
        return PageVisit(endpoint, values, known)


def _bind(port: int) -> socket.socket:
    """Bind a loopback port exclusively, where another process could share it."""
    listening = socket.socket()
    try:
        # On Windows another program could share a port that may be used again.
        option = "SO_REUSEADDR" if IS_POSIX else "SO_EXCLUSIVEADDRUSE"
        listening.setsockopt(socket.SOL_SOCKET, getattr(socket, option), 1)
        listening.bind(("127.0.0.1", port))
    except OSError:
        listening.close()
        raise
    return listening


def parse_head(received: bytes) -> tuple[str, str, Mapping[str, str]]:
    """Parse the head of a request: method, target, and fields by name in lower case.

    Raise ``Unwanted`` for a malformed or oversized head.
    """
    head, end, _ = received.partition(_END)
    first, *rows = head.decode("latin-1").split("\r\n")
    asked = _REQUEST_LINE.fullmatch(first)
    if len(head) > MOST_HEAD_BYTES or (asked and len(rows) > _MOST_FIELDS):
        raise Unwanted(431)
    if asked is None or not end:
        raise Unwanted(400)
    fields: dict[str, str] = {}
    for row in rows:
        found = _FIELD.fullmatch(row)
        if found is None or found[1].lower() in fields:
            raise Unwanted(400)
        fields[found[1].lower()] = found[2].strip(" \t")
    return asked[1], asked[2], fields


def _check_origin(method: str, fields: Mapping[str, str], port: int) -> None:
    host = fields.get("host", "").lower()
    if method != "GET":
        raise Unwanted(405)
    if host not in (f"127.0.0.1:{port}", f"localhost:{port}"):
        raise Unwanted(421)
    is_own = fields.get("sec-fetch-site", "none").lower() in _OWN
    if not is_own or fields.get("origin", f"http://{host}").lower() != f"http://{host}":
        raise Unwanted(403)
    if fields.get("content-length", "0") != "0" or "transfer-encoding" in fields:
        raise Unwanted(400)


def _parse_values(query: str, names: frozenset[str]) -> Mapping[str, str]:
    is_there = bool(query)
    try:
        pairs = parse_qsl(query, True, is_there, errors="strict", max_num_fields=8)
    except ValueError:
        raise Unwanted(400) from None
    values = dict(pairs)
    is_long = any(len(value) > MOST_TEXT for value in values.values())
    if len(values) != len(pairs) or values.keys() != names or is_long:
        raise Unwanted(400)
    return values


def _write(reply: PageReply) -> bytes:
    fields = {**_SENT, "Content-Security-Policy": reply.policy}
    if reply.tag:
        fields["ETag"] = f'"{reply.tag}"'
    if reply.status == HTTPStatus.METHOD_NOT_ALLOWED:
        fields["Allow"] = "GET"
    has_body = reply.status != HTTPStatus.NOT_MODIFIED
    if has_body:
        fields |= {"Content-Type": reply.kind, "Content-Length": str(len(reply.body))}
    rows = [f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}"]
    rows += [f"{name}: {value}" for name, value in fields.items()]
    head = ("\r\n".join(rows) + "\r\n\r\n").encode("ascii")
    return head + reply.body if has_body else head


def _has_gone(connection: socket.socket) -> bool:
    """Whether the client disconnected, as a page does when it has a newer question."""
    connection.setblocking(False)
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
