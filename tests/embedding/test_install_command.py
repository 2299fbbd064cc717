import importlib.metadata
import json
import shlex
import sys

import pytest

from memory_palace.libraries import install_command


class Installed:
    def __init__(self, origin):
        self.origin = origin

    def read_text(self, name):
        assert name == "direct_url.json"
        return self.origin


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        (json.dumps({"url": "file:///home/me/my%20palace", "dir_info": {}}), "/home/me/my palace"),
        (json.dumps({"url": "https://example.org/palace.git"}), "."),
        (None, "."),
        ("torn {", "."),
    ],
)
def test_the_command_for_an_extra_names_the_folder_that_was_installed_from(
    monkeypatch, origin, source
):
    """The package is on no index: ``pip install 'memory-palace[llm]'`` would find nothing."""
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed(origin))
    words = shlex.split(install_command("llm"))
    assert words == [sys.executable, "-m", "pip", "install", f"{source}[llm]"]
