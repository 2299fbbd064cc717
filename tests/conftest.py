"""What every test shares: no test reaches another machine."""

import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import memory_palace  # noqa: F401 - limits BLAS to one thread, which must come before numpy
from memory_palace import signals
from memory_palace.embedding.e5 import E5Embedder
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.embedding.minilm import MiniLMEmbedder
from memory_palace.embedding.registry import Embedder
from memory_palace.index import chance
from memory_palace.models import Matrix
from memory_palace.palace import Palace

# A busy machine is slower and not wrong: no example has a deadline.
settings.register_profile("palace", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("palace")

SHIPPED = (HashingEmbedder, MiniLMEmbedder, E5Embedder)
LOCAL = ("127.0.0.1", "::1", "localhost")
LONGEST = """
first_minutes/test_readme api/test_deleting faults/test_linear faults/test_fuzzing
golden/test_figures transcripts/test_transcripts first_minutes/test_strangers_notes
changes/test_undo index/test_steps faults/test_power_cuts agents/test_mcp_session
portable/test_without_posix index/test_crash serving/test_life serving/test_kills
serving/test_equality anchors/test_crash markdown/test_markup
""".split()
"""Files of ten to eighty seconds; those of the browser and of the store are others."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest: begun last, it would leave the other processes idle."""
    rank = {Path(__file__).parent / f"{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    """Make an empty palace of seven rooms."""
    return Palace.init(tmp_path)


@pytest.fixture(autouse=True, scope="session")
def offline() -> Iterator[None]:
    """Fail a test that connects anywhere but to this machine."""
    connect = socket.socket.connect

    def connect_locally(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in LOCAL:
            pytest.fail(f"a test tried to connect to {address[0]}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect_locally)
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(autouse=True, scope="module")
def unregistered() -> Iterator[None]:
    """Forget the signals and profiles that a module registers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signals, "_registered", dict(signals._registered))
        yield


@pytest.fixture(autouse=True, scope="session")
def flawless() -> Iterator[None]:
    """Fail a test in which a reader of a question fails: the fence would only name it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memory_palace.notes.note._tell", lambda problem: pytest.fail(str(problem)))
        yield


@pytest.fixture(autouse=True, scope="session")
def asked_once() -> Iterator[None]:
    """Let a model embed the lines that refer to nothing once a process, not once a palace."""
    embed = chance.embed_lines
    kept: dict[str, Matrix] = {}

    def embed_once(embedder: Embedder) -> Matrix:
        if type(embedder) not in SHIPPED:  # fakes may count, or fail
            return embed(embedder)
        if embedder.fingerprint not in kept:
            kept[embedder.fingerprint] = embed(embedder)
        return kept[embedder.fingerprint]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chance, "embed_lines", embed_once)
        yield


@pytest.fixture(autouse=True, scope="session")
def nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run every test as a user who has registered no palace."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        yield


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder whose name is short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="mp-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.delenv("PALACE_ROOT", raising=False)
    monkeypatch.delenv("PALACE_NO_SERVE", raising=False)
    yield folder
    shutil.rmtree(folder)
