"""``palace query -i``: results as one types, the note beside them, Enter to open it.

One question is asked at a time, and always the newest: while one is being answered, what is typed
meanwhile only replaces the next. So the screen never waits for keys, and needs no clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

from prompt_toolkit.application import Application, get_app, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import (
    BufferControl,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.styles import Style

from memory_palace.cli.answers import Entry, arrange
from memory_palace.cli.opening import open_entry
from memory_palace.errors import PalaceError
from memory_palace.language.marking import find_marks
from memory_palace.language.visible import visible
from memory_palace.notes.excerpt import excerpt
from memory_palace.palace import Palace

Fragments: TypeAlias = StyleAndTextTuples
"""Text in pieces, each with its style."""

STYLES = {
    "number": "bold ansicyan",
    "selected": "reverse",
    "dim": "ansibrightblack",
    "match": "bold ansimagenta",
    "title": "bold",
}
ROWS = 10
"""Results that are shown."""
PREVIEW = 20_000
"""Characters of a note that are shown at most."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What the screen works with."""

    search: Callable[[str], Sequence[Entry]]
    """Answer a question; run in a thread, one at a time."""
    read: Callable[[Entry], str]
    """Return what is visible of an entry's note, from the place that answers."""
    open: Callable[[Entry], None]
    """Show the note in an editor, and return when that is left."""


class InteractiveSearch:
    """The state of the screen: what is typed, what was found, which result is selected."""

    def __init__(self, tools: Tools, text: str = "") -> None:
        self._tools = tools
        self.input = Buffer(multiline=False, on_text_changed=self._notice)
        self.entries: Sequence[Entry] = ()
        self.selected = 0
        self.status = ""
        self._answered = ""
        self._previews: dict[str, Fragments] = {}
        self._worker = ThreadPoolExecutor(max_workers=1)
        self._task: asyncio.Task[None] | None = None
        self._first = text

    def run(self, **terminal: Any) -> None:
        """Show the screen until it is left; ``terminal`` may name another input and output."""
        application: Application[None] = Application(
            layout=self._layout(),
            key_bindings=self._keys(),
            style=Style.from_dict(STYLES),
            full_screen=True,
            **terminal,
        )
        application.ttimeoutlen = 0.05  # Esc alone is a key here
        try:
            application.run(
                pre_run=lambda: self.input.insert_text(self._first), set_exception_handler=False
            )
        finally:
            self._worker.shutdown(wait=True, cancel_futures=True)

    def _notice(self, _: Buffer) -> None:
        self._ask()

    def _ask(self) -> asyncio.Task[None]:
        """Answer what is typed, unless that is being done already."""
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._answer())
            self._task.add_done_callback(_leave_where_it_failed)
        return self._task

    async def _answer(self) -> None:
        """Search until the answer is to what is typed now."""
        loop = asyncio.get_running_loop()
        while (text := self.input.text.strip()) != self._answered:
            try:
                found = await loop.run_in_executor(self._worker, self._search, text)
                self.entries, self.status = found, "" if found or not text else "nothing found"
            except PalaceError as error:
                self.entries, self.status = (), str(error)
            self._answered, self.selected = text, 0
            self._previews.clear()
            get_app().invalidate()

    def _search(self, text: str) -> Sequence[Entry]:
        return self._tools.search(text) if text else ()

    def _move(self, by: int) -> None:
        self.selected = max(0, min(self.selected + by, len(self.entries) - 1))

    async def _open(self) -> None:
        """Open the selected result, of what is typed by now."""
        await self._ask()
        if not self.entries:
            return
        entry = self.entries[self.selected]
        try:
            await run_in_terminal(lambda: self._tools.open(entry))
            self.status = ""
        except PalaceError as error:
            self.status = str(error)
        get_app().invalidate()

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        steps = {"up": -1, "c-p": -1, "down": 1, "c-n": 1, "pageup": -ROWS, "pagedown": ROWS}
        for key, by in steps.items():
            keys.add(key)(lambda _, by=by: self._move(by))
        keys.add("enter")(_coroutine(self._open))
        for key in ("escape", "c-c", "c-d"):  # eager: no longer combination is waited for
            keys.add(key, eager=True)(lambda event: event.app.exit())
        return keys

    def _layout(self) -> Layout:
        field = Window(BufferControl(self.input), height=1)
        label = FormattedTextControl([("class:number", "search: ")])
        results = FormattedTextControl(self._draw_results)
        preview = FormattedTextControl(self._draw_preview)
        return Layout(
            HSplit(
                [
                    VSplit([Window(label, width=8, height=1), field]),
                    Window(results, height=Dimension(min=1, max=ROWS), dont_extend_height=True),
                    Window(height=1, char="─", style="class:dim"),
                    Window(preview, wrap_lines=True),
                    Window(FormattedTextControl(self._draw_status), height=1, style="class:dim"),
                ]
            ),
            focused_element=field,
        )

    def _draw_results(self) -> Fragments:
        drawn: Fragments = []
        for place, entry in enumerate(self.entries):
            style = " class:selected" if place == self.selected else ""
            title = f"{entry.title} › {entry.above}" if entry.above else entry.title
            drawn += [
                (f"class:number{style}", f"{entry.mark:<3}"),
                (style, f"{entry.sure}  "),
                (f"class:title{style}", title),
                (style, f"  {entry.place}"),
                ("", "\n"),
            ]
        return drawn[:-1]

    def _draw_preview(self) -> Fragments:
        if not self.entries:
            return []
        entry = self.entries[self.selected]
        if entry.place not in self._previews:
            self._previews[entry.place] = self._mark(self._tools.read(entry))
        return self._previews[entry.place]

    def _mark(self, text: str) -> Fragments:
        drawn: Fragments = []
        position = 0
        for start, end in find_marks(text, self._answered):
            drawn += [("", text[position:start]), ("class:match", text[start:end])]
            position = end
        return [*drawn, ("", text[position:])]

    def _draw_status(self) -> Fragments:
        keys = "↑ ↓ choose   Enter opens   Esc leaves"
        return [("", f"{self.status}   {keys}" if self.status else keys)]


def _leave_where_it_failed(task: asyncio.Task[None]) -> None:
    """Leave the screen with what nobody expected: behind it no error would be seen."""
    application = get_app()
    error = None if task.cancelled() else task.exception()
    if error is not None and application.is_running and not application.is_done:
        application.exit(exception=error)


def _coroutine(work: Callable[[], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    async def handle(_: Any) -> None:
        await work()

    return handle


def take_tools(palace: Palace, asked: Mapping[str, Any], environ: Mapping[str, str]) -> Tools:
    """Return what searches a palace; ``asked`` is what its queries take besides the text.

    Only a note that is opened is logged as used.
    """
    given = {**asked, "limit": max(asked["limit"], ROWS), "neighbors": 0}

    def search(question: str) -> Sequence[Entry]:
        return arrange(palace.paths.root, palace.query(question, **given)).entries

    def read(entry: Entry) -> str:
        try:
            shown = excerpt(entry.place, entry.file.read_bytes(), first_line=entry.line)
        except (OSError, PalaceError) as error:
            return visible(str(error))
        return visible(shown.text[:PREVIEW])

    return Tools(search, read, lambda entry: open_entry(palace, entry, environ))
