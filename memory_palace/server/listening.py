"""Read requests and write replies for many clients at once; whoever is slow delays nobody.

It runs in a thread of its own. Commands are answered by another, one after the other.
"""

from __future__ import annotations

import os
import selectors
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NamedTuple

from memory_palace.server.request import Request, read_request
from memory_palace.server.resident import MOST_REQUEST_BYTES, VERSION, decode, encode

ARRIVAL_SECONDS = 10.0
"""A request must be there in that time, and its reply be taken."""
LOOK_SECONDS = 2.0
"""How often it is asked whether there is still something to serve."""
ENDING_SECONDS = 5.0
"""How long an end waits for what has been asked."""
MOST_CLIENTS = 64
_PIECE_BYTES = 1 << 16


class Client:
    """One connection. It asks, waits and reads, and may ask again."""

    __slots__ = ("asked", "deadline", "leaves", "received", "sending", "socket")

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.received = bytearray()
        self.sending = memoryview(b"")
        self.asked = False
        self.leaves = False
        """Whether the connection is closed after the reply."""
        self.deadline = time.monotonic() + ARRIVAL_SECONDS


class Asked(NamedTuple):
    """A request, and who waits for its answer."""

    client: Client
    request: Request


class Switchboard:
    """The server's side of all connections."""

    def __init__(
        self,
        listening: socket.socket,
        requests: SimpleQueue[Asked | None],
        *,
        describe: Callable[[], Mapping[str, Any]],
        look: Callable[[], str | None],
        idle_seconds: float,
    ) -> None:
        """``look`` returns why the server must end, if it must; ``describe`` says how it is."""
        self._listening = listening
        self._requests = requests
        self._describe = describe
        self._look = look
        self._idle_seconds = idle_seconds
        self._selector = selectors.DefaultSelector()
        self._clients: set[Client] = set()
        self._replies: deque[tuple[Client, bytes]] = deque()
        self._woken, self._waker = socket.socketpair()
        self.ends: str | None = None
        """Why it ends, once it does."""
        self.answered = 0

    def reply(self, client: Client, record: Mapping[str, Any]) -> None:
        """Send the answer to a request; called from the thread that answers."""
        self._replies.append((client, encode({"v": VERSION, **record})))
        self._wake()

    def end_if(self, why: str | None) -> None:
        """End after what was asked has been answered; may be called from anywhere."""
        if why is not None and self.ends is None:
            self.ends = why
            self._wake()

    def _wake(self) -> None:
        try:
            self._waker.send(b"\0")
        except OSError:  # it is full, and will wake anyway, or all has ended
            return

    def run(self) -> None:
        """Serve until the end; then the thread that answers hears of it."""
        self._listening.listen(MOST_CLIENTS)
        self._listening.setblocking(False)
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        self._selector.register(self._listening, selectors.EVENT_READ, self._accept)
        self._selector.register(self._woken, selectors.EVENT_READ, self._take_replies)
        last_used = last_looked = time.monotonic()
        try:
            while self.ends is None:
                self._turn()
                now = time.monotonic()
                last_used = now if self._clients else last_used
                if now - last_looked >= LOOK_SECONDS:
                    last_looked = now
                    self.end_if(self._look())
                self.end_if("idle" if now - last_used >= self._idle_seconds else None)
            self._finish()
        finally:
            self._requests.put(None)
            self._close_all()

    def _turn(self) -> None:
        for key, events in self._selector.select(timeout=LOOK_SECONDS / 2):
            key.data(events) if callable(key.data) else self._serve(key.data, events)
        now = time.monotonic()
        for client in [c for c in self._clients if not c.asked and c.deadline < now]:
            self._drop(client)

    def _finish(self) -> None:
        """Take no more requests, and wait for the answers to those that came."""
        self._selector.unregister(self._listening)
        self._listening.close()
        deadline = time.monotonic() + ENDING_SECONDS
        while any(c.asked or c.sending for c in self._clients) and time.monotonic() < deadline:
            self._turn()

    def _close_all(self) -> None:
        for client in list(self._clients):
            self._drop(client)
        self._selector.close()
        for end in (self._listening, self._woken, self._waker):
            end.close()

    def _accept(self, events: int) -> None:
        try:
            connection, _ = self._listening.accept()
        except OSError:  # it went away, or there are no descriptors left
            return
        if len(self._clients) >= MOST_CLIENTS or not is_own(connection):
            connection.close()
            return
        connection.setblocking(False)
        client = Client(connection)
        self._clients.add(client)
        self._selector.register(connection, selectors.EVENT_READ, client)

    def _take_replies(self, events: int) -> None:
        with suppress(BlockingIOError):
            self._woken.recv(_PIECE_BYTES)
        while self._replies:
            client, data = self._replies.popleft()
            if client in self._clients:
                self.answered += 1
                self._send(client, data)

    def _serve(self, client: Client, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                self._write(client)
            else:
                self._read(client)
        except OSError:  # the client is gone
            self._drop(client)

    def _read(self, client: Client) -> None:
        data = client.socket.recv(_PIECE_BYTES)
        client.received += data
        if len(client.received) > MOST_REQUEST_BYTES:
            self._reject(client, "a request is shorter")
        elif b"\n" in data[:-1]:
            self._reject(client, "a request waits for the reply to the one before")
        elif data.endswith(b"\n"):
            line, client.received = bytes(client.received), bytearray()
            self._ask(client, line)
        elif not data:
            self._drop(client)

    def _ask(self, client: Client, line: bytes) -> None:
        """Pass a request on, or answer it where nothing needs to be run."""
        try:
            message = decode(line)
            if message.get("do") == "status":
                return self._send(client, encode({"v": VERSION, **self._describe()}))
            if message.get("do") == "stop":
                self._send(client, encode({"v": VERSION, "stopping": True}))
                return self.end_if("stopped")
            if message.get("v") != VERSION:
                client.leaves = True
                self._send(client, encode({"v": VERSION, "refused": "restart"}))
                return self.end_if("asked by another version")
            request = read_request(message)
        except (ValueError, RecursionError) as error:
            return self._reject(client, str(error))
        client.asked = True
        self._selector.unregister(client.socket)
        return self._requests.put(Asked(client, request))

    def _reject(self, client: Client, why: str) -> None:
        client.leaves = True
        self._send(client, encode({"v": VERSION, "refused": "malformed", "why": why[:200]}))

    def _send(self, client: Client, data: bytes) -> None:
        client.sending = memoryview(data)
        client.deadline = time.monotonic() + ARRIVAL_SECONDS
        if client.asked:
            client.asked = False
            self._selector.register(client.socket, selectors.EVENT_WRITE, client)
        else:
            self._selector.modify(client.socket, selectors.EVENT_WRITE, client)
        try:
            self._write(client)
        except OSError:
            self._drop(client)

    def _write(self, client: Client) -> None:
        try:
            sent = client.socket.send(client.sending)
        except BlockingIOError:
            return
        client.sending = client.sending[sent:]
        if client.sending:
            client.deadline = time.monotonic() + ARRIVAL_SECONDS
        elif client.leaves or self.ends:
            self._drop(client)
        else:
            self._selector.modify(client.socket, selectors.EVENT_READ, client)

    def _drop(self, client: Client) -> None:
        self._clients.discard(client)
        if not client.asked:
            with suppress(KeyError):
                self._selector.unregister(client.socket)
        client.socket.close()


def is_own(connection: socket.socket) -> bool:
    """Whether the process at the other end is of this user, where the system tells."""
    if sys.platform == "linux":
        size = struct.calcsize("3i")
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        return bool(struct.unpack("3i", found)[1] == os.getuid())
    if sys.platform == "darwin":  # struct xucred begins with a version and the user
        return bool(struct.unpack_from("2I", connection.getsockopt(0, 1, 76))[1] == os.getuid())
    return True  # the folder of the socket lets nobody else in
