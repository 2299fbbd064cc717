"""Live pages in processes of their own: started, asked, killed."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from forking import Forked, run_line
from serving_palaces import wait_until
from viewing.visiting import ask


class LivePage:
    """``palace view --live`` of a palace."""

    def __init__(self, root: Path, *options: str) -> None:
        environ = {**os.environ, "BROWSER": "true"}
        line = ("-C", str(root), "view", "--live", *options)
        self.process = Forked(run_line, *line, folder=root, environ=environ)
        self.printed = Path(self.process.streams.name) / "1"

    @property
    def url(self) -> str:
        """The address, once it is printed."""
        wait_until(lambda: "\n" in self.printed.read_text("utf-8"), "no address is printed")
        return self.printed.read_text("utf-8").split("\n")[0]

    def ask(self, endpoint: str, **values: str) -> Any:
        """Return what it answers."""
        parts = urlsplit(self.url)
        query = f"?{urlencode(values)}" if values else ""
        status, _, body = ask(parts.port or 0, f"{parts.path}{endpoint}{query}")
        assert status == 200, status
        return json.loads(body)

    def end(self, number: int) -> tuple[int, str, str]:
        """Send it a signal; return its status and what it has printed."""
        os.kill(self.process.pid, number)
        return self.process.wait()


@contextmanager
def living(root: Path, *options: str) -> Iterator[LivePage]:
    """Serve the page of a palace; it is killed at the end, if it still runs."""
    page = LivePage(root, *options)
    try:
        yield page
    finally:
        with suppress(ValueError):  # it has ended
            page.process.kill()
            page.process.wait()
