"""The door of the live page: who is let in, who is refused, and that nobody holds it open."""

import json
import socket

import pytest
from viewing.conftest import TOKEN
from viewing.visiting import ask, read_reply, send

from memory_palace.server.listening import MOST_CLIENTS
from memory_palace.server.loopback import MOST_HEAD_BYTES

ROOT = f"/{TOKEN}/"
REFUSED = b"refused\n"


def test_a_page_is_given_to_who_has_the_token(door):
    status, fields, body = ask(door.port, ROOT)
    assert (status, json.loads(body)["endpoint"]) == (200, "")
    assert fields["etag"] == '"one"'
    asked = ask(door.port, f"{ROOT}search?q=%E5%AD%97+%26%20a%2Fb")
    assert json.loads(asked[2])["values"] == {"q": "字 & a/b"}
    assert ask(door.port, ROOT, host=f"localhost:{door.port}")[0] == 200
    own = f"http://127.0.0.1:{door.port}"
    assert ask(door.port, f"{ROOT}plan", f"Origin: {own}", "Sec-Fetch-Site: same-origin")[0] == 200


def test_every_reply_forbids_what_a_page_needs_not(door):
    for target in (ROOT, "/", f"{ROOT}nothing"):
        _, fields, _ = ask(door.port, target)
        assert fields["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert fields["x-content-type-options"] == "nosniff"
        assert fields["referrer-policy"] == "no-referrer"
        assert fields["cross-origin-opener-policy"] == "same-origin"
        assert fields["cross-origin-resource-policy"] == "same-origin"
        assert fields["cache-control"] == "no-store"
        assert not [name for name in fields if name.startswith("access-control")]
        assert "server" not in fields


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/favicon.ico",
        "/search?q=x",
        f"/{TOKEN[:-1]}x/",
        f"/{TOKEN[:-1]}/",
        f"/{TOKEN}x/",
        f"/{TOKEN.upper()}/",
        f"//{TOKEN}/",
        f"/x/../{TOKEN}/",
        f"/%61{TOKEN[1:]}/",
        "/ÿ/",
    ],
)
def test_without_the_token_nothing_is_told(door, target):
    status, _, body = ask(door.port, target)
    assert status in (400, 403)
    assert (body, TOKEN in body.decode()) == (REFUSED, False)


@pytest.mark.parametrize(
    "target",
    [
        "../../../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/state",
        "./state",
        "state/",
        "/state",
        "State",
        "state%00",
        "note/Frost.md",
        "notes/../state",
    ],
)
def test_what_has_no_place_is_not_there(door, target):
    assert ask(door.port, ROOT + target)[0] == 404


@pytest.mark.parametrize(
    "query",
    ["", "?", "?q", "?q=%ff", "?q=a&q=b", "?q=a&path=/etc/passwd", "?text=a", f"?q={'a' * 1001}"],
)
def test_what_is_asked_wrongly_is_not_answered(door, query):
    assert ask(door.port, f"{ROOT}search{query}")[0] == 400


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost",
        "127.0.0.1.nip.io:{port}",
        "[::1]:{port}",
        "0.0.0.0:{port}",
        "user@127.0.0.1:{port}",
    ],
)
def test_another_host_is_refused(door, host):
    """A foreign name that is made to lead to 127.0.0.1 has the address, but not the host."""
    assert ask(door.port, ROOT, host=host.format(port=door.port))[0] == 421


def test_a_request_without_host_is_refused(door):
    assert read_reply(send(door.port, f"GET {ROOT} HTTP/1.0\r\n\r\n".encode()))[0] == 421


@pytest.mark.parametrize(
    "field",
    [
        "Origin: https://evil.example",
        "Origin: null",
        "Origin: http://127.0.0.1",
        "Origin: http://127.0.0.1:1",
        "Origin: https://127.0.0.1:{port}",
        "Origin: http://localhost:{port}",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Sec-Fetch-Site: anything",
    ],
)
def test_another_page_is_refused(door, field):
    status, _, body = ask(door.port, ROOT, field.format(port=door.port))
    assert (status, body) == (403, REFUSED)


@pytest.mark.parametrize(
    "method", ["HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"]
)
def test_nothing_can_be_sent(door, method):
    status, fields, _ = ask(door.port, ROOT, method=method)
    assert (status, fields["allow"]) == (405, "GET")


@pytest.mark.parametrize("field", ["Content-Length: 4", "Transfer-Encoding: chunked"])
def test_a_request_with_a_body_is_refused(door, field):
    assert ask(door.port, ROOT, field)[0] == 400


def test_a_long_body_is_not_read(door):
    head = f"POST {ROOT} HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\nContent-Length: 9999999\r\n\r\n"
    assert read_reply(send(door.port, head.encode() + b"x" * 3_000_000))[0] in (0, 405)
    assert ask(door.port, ROOT)[0] == 200


@pytest.mark.parametrize(
    "data",
    [
        b"GET /\r\n\r\n",
        b"GET / HTTP/0.9\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET /\tHTTP/1.1\r\n\r\n",
        b"GET /\0 HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n folded: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nA b: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nA: \0\r\n\r\n",
        b"GET / HTTP/1.1\r\nnothing\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\nHost: a\n\nGET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"\r\n\r\n",
        b"\xff" * 100 + b"\r\n\r\n",
    ],
)
def test_garbage_is_refused(door, data):
    status, _, body = read_reply(send(door.port, data))
    assert (status, body) == (400, REFUSED)


def test_a_request_that_breaks_off_is_refused(door):
    assert read_reply(send(door.port, b"GET / HTT", half_closes=True))[0] == 400
    assert send(door.port, b"", half_closes=True) == b""


def test_only_the_first_of_several_requests_is_answered(door):
    one = f"GET {ROOT} HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\n\r\n".encode()
    assert send(door.port, one + one).count(b"HTTP/1.1 ") <= 1
    assert send(door.port, one + b"\xff\0garbage").count(b"HTTP/1.1 ") <= 1


@pytest.mark.parametrize(
    "rows",
    [
        [f"X-{n}: x" for n in range(65)],
        [f"X: {'x' * MOST_HEAD_BYTES}"],
        [f"X-{n}: {'x' * 4000}" for n in range(60)],
        [f"Cookie: {'x' * 2_000_000}"],
    ],
)
def test_a_flood_of_fields_is_refused(door, rows):
    assert ask(door.port, ROOT, *rows)[0] in (0, 431)
    assert ask(door.port, ROOT)[0] == 200


def test_a_long_address_is_refused(door):
    assert ask(door.port, ROOT + "x" * (MOST_HEAD_BYTES + 1))[0] in (0, 431)


def test_who_is_slow_is_hung_up_on(door):
    assert read_reply(send(door.port, f"GET {ROOT} HTTP/1.1\r\nHost: ".encode()))[0] == 408


def test_a_byte_now_and_then_does_not_hold_a_connection(door):
    """The deadline is for the whole head: each byte would begin another one elsewhere."""
    data = f"GET {ROOT} HTTP/1.1\r\n".encode() + b"X: " + b"x" * 10_000
    with socket.create_connection(("127.0.0.1", door.port), timeout=0.05) as client:
        for place in range(len(data)):
            try:
                client.sendall(data[place : place + 1])
                reply = client.recv(100)
            except TimeoutError:
                continue
            except ConnectionError:
                reply = b""
            break
    assert place < 200
    assert reply[:12] in (b"HTTP/1.1 408", b"")


def test_a_hundred_connections_that_say_nothing_keep_nobody_out(door):
    silent = [socket.create_connection(("127.0.0.1", door.port)) for _ in range(100)]
    assert ask(door.port, ROOT)[0] == 200
    for one in silent:
        one.close()


def test_a_hundred_at_once_are_all_answered(door):
    asking = [socket.create_connection(("127.0.0.1", door.port), timeout=20) for _ in range(100)]
    for client in asking:
        client.sendall(f"GET {ROOT} HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\n\r\n".encode())
    for client in asking:
        with client:
            assert client.recv(12) == b"HTTP/1.1 200"


def test_more_than_it_holds_are_hung_up_on_and_room_is_made_again(door):
    many = [socket.create_connection(("127.0.0.1", door.port)) for _ in range(MOST_CLIENTS + 20)]
    for one in many:
        one.settimeout(20)
        try:
            while one.recv(1000):  # until it hangs up: at once, or when the time is over
                continue
        except ConnectionError:
            pass
        one.close()
    assert ask(door.port, ROOT)[0] == 200


def test_what_is_not_answered_is_no_defect(door, capsys):
    assert ask(door.port, f"{ROOT}search?q=unwanted")[0] == 503
    assert capsys.readouterr().err == ""


def test_a_defect_is_shown_here_and_the_server_goes_on(door, capsys):
    status, _, body = ask(door.port, f"{ROOT}search?q=defect")
    assert (status, body) == (500, b"failed\n")
    assert "ZeroDivisionError: a defect" in capsys.readouterr().err
    assert ask(door.port, ROOT)[0] == 200


def test_it_listens_on_this_machine_alone(door):
    assert door.server_address[0] == "127.0.0.1"
