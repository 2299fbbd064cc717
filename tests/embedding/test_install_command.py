import importlib.metadata
import json
import shlex
import sys

import pytest

from memory_palace import libraries


class Installed:
    def __init__(self, origin):
        self.origin = origin

    def read_text(self, name):
        assert name == "direct_url.json"
        return self.origin


@pytest.mark.parametrize("has_pip", [True, False])
@pytest.mark.parametrize(
    ("origin", "source"),
    [
        (json.dumps({"url": "file:///home/me/my%20palace", "dir_info": {}}), "/home/me/my palace"),
        (json.dumps({"url": "https://example.org/palace.git"}), "."),
        (None, "memory-palace"),
        ("torn {", "."),
    ],
)
def test_the_command_for_an_extra_names_what_was_installed_from(
    monkeypatch, origin, source, has_pip
):
    """An environment of ``uv tool`` has no pip; only one from an index has no record."""
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed(origin))
    monkeypatch.setattr(libraries, "find_spec", lambda name: has_pip or None)
    monkeypatch.setattr(libraries.shutil, "which", lambda name: f"/bin/{name}")
    words = shlex.split(libraries.install_command("llm"))
    uv = ["uv", "tool", "run", "pip", "--python", sys.executable]
    pip = [sys.executable, "-m", "pip"] if has_pip else uv
    assert words == [*pip, "install", f"{source}[llm]"]
