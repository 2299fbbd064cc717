"""The palace as a server of the Model Context Protocol, over the pipes of one client."""

from __future__ import annotations

import gc
import logging
import os
import signal
import traceback
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeVar

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from memory_palace import __version__
from memory_palace.agents import resources
from memory_palace.agents.held import HeldPalace
from memory_palace.agents.instructions import describe_palace
from memory_palace.agents.mcp_streams import Apart, LineReader, LineWriter
from memory_palace.agents.tools.arguments import check_arguments, speak_of_tools
from memory_palace.agents.tools.table import TOOLS, Tool
from memory_palace.errors import PalaceError, UsageError
from memory_palace.language.visible import visible

_ENDING_SECONDS = 5.0
"""How long the end of the input waits for what was asked before it."""
_POLL_SECONDS = 0.05
_ALLOCATED = 5_000
"""New objects between two looks for cycles, which errors and tasks leave; what is loaded at the
start is never looked at."""
_MARKDOWN = "text/markdown"
T = TypeVar("T")


def run_server(
    held: HeldPalace, *, reads: int, writes: int, explain: Callable[[BaseException], str]
) -> None:
    """Answer one client until it closes its end, or a signal comes.

    ``reads`` and ``writes`` are the descriptors of the protocol; ``explain`` says on one line what
    the system did to a call.
    """
    gc.freeze()
    gc.set_threshold(_ALLOCATED)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # nobody may be reading stderr
    try:
        anyio.run(partial(_serve, _Session(held, explain), reads, writes))
    finally:
        held.close()


async def _serve(session: _Session, reads: int, writes: int) -> None:
    server = _make_server(session)
    async with anyio.create_task_group() as tasks:
        end = tasks.cancel_scope.cancel
        tasks.start_soon(_end_on_signal, end)
        lines, writer = LineReader(reads, finish=session.finish), LineWriter(writes, end=end)
        streams: Any = stdio_server(lines, writer)
        async with streams as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        end()


async def _end_on_signal(end: Callable[[], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            end()


def _make_server(session: _Session) -> Server[Any]:
    return Server(
        "memory-palace",
        version=__version__,
        instructions=session.describe(),
        on_list_tools=session.list_tools,
        on_call_tool=session.call_tool,
        on_list_resources=session.list_resources,
        on_list_resource_templates=session.list_templates,
        on_read_resource=session.read_resource,
    )


class _Session:
    """What one client asks, one thing after the other; asking and answering wait for none."""

    def __init__(self, held: HeldPalace, explain: Callable[[BaseException], str]) -> None:
        self._held, self._explain = held, explain
        self._apart = Apart("calls")
        self._waiting = 0

    def describe(self) -> str:
        """Return the instructions."""
        try:
            palace = self._held.open(updates=False)
        except (PalaceError, OSError):
            palace = None
        return describe_palace(palace)

    async def finish(self) -> None:
        """Wait until nothing is being done any more, though not for ever."""
        with anyio.move_on_after(_ENDING_SECONDS):
            await anyio.sleep(_POLL_SECONDS)  # what was just read is on its way
            while self._waiting:
                await anyio.sleep(_POLL_SECONDS)

    async def list_tools(
        self, ctx: ServerRequestContext[Any, Any], params: Any
    ) -> types.ListToolsResult:
        """Return the six tools."""
        return types.ListToolsResult(tools=[_tool_record(tool) for tool in TOOLS.values()])

    async def call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Return the text of an answer, or what is wrong with the call."""
        client = ctx.session.client_params
        agent = os.environ.get("PALACE_AGENT") or (client.client_info.name if client else None)
        work = partial(self._call, params.name, params.arguments or {}, agent)
        text, is_error = await self._do(work)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], is_error=is_error
        )

    async def list_resources(
        self, ctx: ServerRequestContext[Any, Any], params: Any
    ) -> types.ListResourcesResult:
        """Return a page of notes; none where there is no palace."""
        cursor = params.cursor if params else None
        try:
            notes, more = await self._do(lambda: resources.list_page(self._held.open(), cursor))
        except (PalaceError, OSError):
            notes, more = [], None
        listed = [types.Resource(uri=uri, name=name, mime_type=_MARKDOWN) for uri, name in notes]
        return types.ListResourcesResult(resources=listed, next_cursor=more)

    async def list_templates(
        self, ctx: ServerRequestContext[Any, Any], params: Any
    ) -> types.ListResourceTemplatesResult:
        """Return the one form that addresses have."""
        template = types.ResourceTemplate(
            name="note", uri_template=resources.TEMPLATE, mime_type=_MARKDOWN
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, ctx: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return the text of a note."""
        uri = str(params.uri)
        try:
            text = await self._do(lambda: resources.read_resource(self._held.open(), uri))
        except (PalaceError, OSError, UnicodeError) as error:
            raise MCPError(types.INVALID_PARAMS, self._describe_error(error)) from error
        content = types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[content])

    async def _do(self, work: Callable[[], T]) -> T:
        self._waiting += 1
        try:
            return await self._apart.run(work)
        finally:
            self._waiting -= 1

    def _call(self, name: str, given: dict[str, Any], agent: str | None) -> tuple[str, bool]:
        """Call a tool; return its text, and whether it is that of an error."""
        try:
            tool = _find_tool(name)
            arguments = check_arguments(given, tool.properties, tool.required)
            palace = self._held.open()
            if tool.writes:
                arguments["agent"] = agent
                palace.agent = agent or ""
            return tool.run(palace, **arguments), False
        except Exception as error:  # whatever it is, it must not end the session
            return self._describe_error(error), True

    def _describe_error(self, error: Exception) -> str:
        """Return what an agent is told of an error; a defect is told on stderr as well."""
        if isinstance(error, PalaceError):
            return visible(speak_of_tools(str(error)))
        if isinstance(error, OSError | UnicodeError | RecursionError | MemoryError):
            return visible(speak_of_tools(self._explain(error)))
        traceback.print_exception(error)
        return f"a defect of Memory Palace ({type(error).__name__}), told on stderr"


def _find_tool(name: str) -> Tool:
    if name not in TOOLS:
        near = get_close_matches(name, TOOLS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(TOOLS)}"
        raise UsageError(f"there is no tool {name[:40]!r}; {hint}")
    return TOOLS[name]


def _tool_record(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes,
            destructive_hint=False,
            idempotent_hint=not tool.writes,
            open_world_hint=False,
        ),
    )
