"""The request loop: a thread per connection, with the same limits for socket and port.

A handler receives and sends sequentially. A slow client delays no other and is disconnected at a
deadline.
"""

from __future__ import annotations

import socket
import socketserver
import time
from contextlib import suppress
from typing import Any

MOST_CLIENTS = 128
"""Maximum simultaneous connections; a browser opens six, some of them in advance."""
ARRIVAL_SECONDS = 5.0
"""Deadline for a complete request to arrive."""
TAKING_SECONDS = 10.0
"""Deadline for a complete reply to be received."""
_DRAIN_SECONDS = 0.5
_PIECE_BYTES = 1 << 16


class Listener(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Accepts connections on a bound socket of either family; ``serve_forever`` runs the loop.

    ``handle`` of a subclass serves one connection, which is closed when it returns. No client can
    connect before ``server_activate`` is called.
    """

    request_queue_size = MOST_CLIENTS
    daemon_threads = True
    block_on_close = False

    def __init__(
        self, listening: socket.socket, *, arrival_seconds: float = ARRIVAL_SECONDS
    ) -> None:
        super().__init__(
            listening.getsockname(), socketserver.BaseRequestHandler, bind_and_activate=False
        )
        self.socket.close()
        self.socket = listening
        self.arrival_seconds = arrival_seconds
        self.open: set[socket.socket] = set()
        self.last_used = time.monotonic()
        """Monotonic time at which the last connection ended."""

    def handle(self, connection: socket.socket) -> None:
        """Serve one connection; an ``OSError`` of a client that is gone or too slow is ignored."""
        raise NotImplementedError

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether the limit of connections is not reached."""
        return len(self.open) < MOST_CLIENTS

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection."""
        self.open.add(request)
        super().process_request(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in its thread."""
        with suppress(OSError):
            self.handle(request)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection and make room for another."""
        super().shutdown_request(request)
        self.last_used = time.monotonic()
        self.open.discard(request)

    def receive(self, connection: socket.socket, end: bytes, most_bytes: int) -> bytes:
        """Receive until ``end`` occurs, the client stops sending, or ``most_bytes`` are exceeded.

        Raise ``TimeoutError`` after ``arrival_seconds``, counted for the whole.
        """
        received, deadline = bytearray(), time.monotonic() + self.arrival_seconds
        while len(received) <= most_bytes:
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            piece = connection.recv(_PIECE_BYTES)
            start = max(len(received) - len(end), 0)
            received += piece
            if not piece or received.find(end, start) >= 0:
                break
        return bytes(received)

    def send(self, connection: socket.socket, data: bytes) -> None:
        """Send a reply; raise ``TimeoutError`` if it is not received in time."""
        connection.settimeout(TAKING_SECONDS)
        connection.sendall(data)

    def drain(self, connection: socket.socket) -> None:
        """Discard further input, so that a refusal is not lost when the connection closes."""
        connection.shutdown(socket.SHUT_WR)
        deadline = time.monotonic() + _DRAIN_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            connection.settimeout(left)
            if not connection.recv(_PIECE_BYTES):
                return
