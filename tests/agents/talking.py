"""A palace behind ``palace mcp``, asked over real pipes by the SDK's client, or by raw lines."""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

MODERN, OLDER = "2026-07-28", "legacy"
START = ("-P", "-m", "memory_palace")


@asynccontextmanager
async def connect(
    root: Path, *, mode: str = "auto", start: Sequence[str] = START, **environ: str
) -> AsyncIterator[Client]:
    """Start a server in a folder, with a client of the SDK."""
    names = ("XDG_CONFIG_HOME", "PYTHONPATH")  # the code that is tested
    own = {name: os.environ[name] for name in names if name in os.environ}
    parameters = StdioServerParameters(
        command=sys.executable, args=[*start, "mcp"], cwd=root, env={**own, **environ}
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


def run(talk: Callable[..., Awaitable[None]], *given: Any, **named: Any) -> None:
    """Run a conversation, for two minutes at most."""

    async def bounded() -> None:
        with anyio.fail_after(120):
            await talk(*given, **named)

    anyio.run(partial(bounded))


async def ask(client: Client, tool: str, **arguments: Any) -> str:
    """Return the answer of a tool; it must be no error."""
    text, is_error = await attempt(client, tool, **arguments)
    assert not is_error, text
    return text


async def refuse(client: Client, tool: str, **arguments: Any) -> str:
    """Return what a tool says to a call that is wrong: one thing, and no traceback."""
    text, is_error = await attempt(client, tool, **arguments)
    assert is_error, text
    assert "Traceback" not in text
    assert "a defect" not in text
    return text


async def attempt(client: Client, tool: str, **arguments: Any) -> tuple[str, bool]:
    """Return what a tool says, and whether it is an error."""
    done = await client.call_tool(tool, arguments)
    return "".join(part.text for part in done.content), bool(done.is_error)


class Pipes:
    """A server that is sent whatever bytes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.forbidden: Sequence[str] = ()
        """What no reply may hold."""
        self._number = 1_000_000

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request that is right, and return its reply; others before it are dropped."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        return self.wait_for(self._number)

    def wait_for(self, number: int) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            reply: dict[str, Any] = json.loads(line)  # nothing else is ever written
            assert not any(words in line.decode() for words in self.forbidden), line
            if reply.get("id") == number:
                return reply
        raise AssertionError("the server has ended")

    def shake_hands(self) -> None:
        who = {"name": "tester", "version": "1"}
        self.request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=who)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        result = self.request("tools/call", name=tool, arguments=arguments)["result"]
        return result["content"][0]["text"], bool(result.get("isError"))


@contextmanager
def open_pipes(root: Path, *arguments: str) -> Iterator[Pipes]:
    """Start a server in a folder; whatever happens, it is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, *START, *arguments, "mcp"],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield Pipes(process)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue


def wait_for_updates_of(root: Path) -> list[str]:
    """Return the processes that index a palace and have gone on for 20 seconds."""
    deadline = time.monotonic() + 20
    while (found := list(_find_updates(root))) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _find_updates(root: Path) -> Iterator[str]:
    for line in Path("/proc").glob("[0-9]*/cmdline"):  # none where the system has no such folder
        try:
            words = line.read_bytes().split(b"\0")
        except OSError:
            continue
        if str(root).encode() in words and any(b"indexing" in word for word in words):
            yield line.parent.name
