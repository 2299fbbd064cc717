"""Requests to a live page, byte by byte."""

import socket


def send(port: int, data: bytes, *, half_closes: bool = False) -> bytes:
    """Return all that a server sends for some bytes before it hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        try:
            client.sendall(data)
            if half_closes:
                client.shutdown(socket.SHUT_WR)
        except OSError:  # it has seen enough
            pass
        received = b""
        try:
            while piece := client.recv(1 << 16):
                received += piece
        except ConnectionError:
            pass
        return received


def ask(
    port: int, target: str, *fields: str, method: str = "GET", host: str | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Return status, fields (names in lower case) and body of a reply."""
    rows = [f"{method} {target} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", *fields]
    return read_reply(
        send(port, ("\r\n".join(rows) + "\r\n\r\n").encode("utf-8", "surrogateescape"))
    )


def read_reply(data: bytes) -> tuple[int, dict[str, str], bytes]:
    """Take a reply apart; status 0 for none."""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rows = head.decode("latin-1").split("\r\n")
    fields = dict(row.split(": ", 1) for row in rows)
    status = int(first.split(" ")[1]) if first else 0
    return status, {name.lower(): value for name, value in fields.items()}, body
