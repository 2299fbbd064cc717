from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from memory_palace.cli import models as models_command
from memory_palace.cli.models import app
from memory_palace.embedding import fetching, rerankers
from memory_palace.embedding.cross_encoder import open_cross_encoder
from memory_palace.embedding.rerankers import (
    ABOUT,
    FILES,
    RERANKERS,
    find_cross_encoder,
    is_reranker_here,
)
from memory_palace.embedding.weights import PinnedModel, WeightFile
from memory_palace.errors import MissingPartError, UsageError
from tests.cross_encoders import SMALL, write_overlap_model

runner = CliRunner()
NAME = "ms-marco-minilm"


def keep_in_hub(hub: Path, repository: str, revision: str, source: Path, *, main: bool) -> Path:
    """Lay a model out as huggingface_hub does it, with links into blobs."""
    own = hub / f"models--{repository.replace('/', '--')}"
    snapshot = own / "snapshots" / revision
    (own / "blobs").mkdir(parents=True, exist_ok=True)
    snapshot.mkdir(parents=True)
    for file in source.iterdir():
        blob = own / "blobs" / hashlib.sha256(file.read_bytes()).hexdigest()
        blob.write_bytes(file.read_bytes())
        (snapshot / file.name).symlink_to(Path("../../blobs") / blob.name)
    if main:
        (own / "refs").mkdir(exist_ok=True)
        (own / "refs" / "main").write_text(revision)
    return snapshot


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"PALACE_CACHE": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "home")}


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    return tmp_path / "home" / "hub"


def test_a_folder_is_a_model(tmp_path: Path, environ: dict[str, str]) -> None:
    assert find_cross_encoder(str(SMALL / "bert"), environ=environ) == SMALL / "bert"


def test_the_cache_of_the_hub_is_looked_in_and_main_comes_first(
    hub: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    other = write_overlap_model(tmp_path / "other", ["storm"])
    keep_in_hub(hub, "org/model", "aaa", other, main=False)
    main = keep_in_hub(hub, "org/model", "bbb", SMALL / "bert", main=True)
    assert find_cross_encoder("org/model", environ=environ) == main
    only = {**environ, "HF_HUB_CACHE": str(hub), "HF_HOME": "/nowhere"}
    assert find_cross_encoder("org/model", environ=only) == main
    assert open_cross_encoder(main).labels == ("LABEL_0",)


def test_a_revision_without_weights_gives_way_to_a_whole_one(
    hub: Path, environ: dict[str, str]
) -> None:
    main = keep_in_hub(hub, "org/model", "zzz", SMALL / "bert", main=True)
    (main / "model.safetensors").unlink()
    with pytest.raises(MissingPartError, match=r"lacks model.safetensors"):
        open_cross_encoder(find_cross_encoder("org/model", environ=environ))
    whole = keep_in_hub(hub, "org/model", "aaa", SMALL / "bert", main=False)
    assert find_cross_encoder("org/model", environ=environ) == whole


def test_a_pinned_model_is_taken_from_the_cache_of_the_hub(
    hub: Path, environ: dict[str, str]
) -> None:
    assert not is_reranker_here(NAME, environ=environ)
    repository = RERANKERS[NAME].repository
    snapshot = keep_in_hub(hub, repository, "a", SMALL / "bert", main=True)
    assert find_cross_encoder(NAME, environ=environ) == snapshot
    assert is_reranker_here(NAME, environ=environ)


@pytest.mark.parametrize("content", [b"\xff", b"\0", b"../../../..", b"x" * 5000])
def test_odd_references_of_a_cache_are_passed_by(
    hub: Path, environ: dict[str, str], content: bytes
) -> None:
    references = hub / "models--org--model" / "refs"
    references.mkdir(parents=True)
    (references / "main").write_bytes(content)
    with pytest.raises(MissingPartError):
        open_cross_encoder(find_cross_encoder("org/model", environ=environ))


def test_what_stands_for_no_model_is_an_error_that_names_those_there_are(
    environ: dict[str, str],
) -> None:
    for name in ("minilm", "./nothing", "/nothing/here", "a/b/c", "~/nothing-here"):
        with pytest.raises(UsageError, match=f"known: {NAME}, bge-reranker-v2-m3"):
            find_cross_encoder(name, environ=environ)


def test_every_pinned_model_is_described_and_has_the_files_of_a_model() -> None:
    assert ABOUT.keys() == RERANKERS.keys()
    for name, model in RERANKERS.items():
        assert tuple(file.name for file in model.files) == FILES
        assert model.name == name and model.download in ABOUT[name]
        assert len(model.revision) == 40 and all(len(file.sha256) == 64 for file in model.files)
        assert max(model.files, key=lambda file: file.size_bytes) is model.files[-1]


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> PinnedModel:
    """Pin the small BERT in place of the published model."""
    data = {name: (SMALL / "bert" / name).read_bytes() for name in FILES}
    files = (
        WeightFile(name, len(data[name]), hashlib.sha256(data[name]).hexdigest()) for name in FILES
    )
    model = replace(RERANKERS[NAME], files=tuple(files))
    for module in (rerankers, models_command):
        monkeypatch.setattr(module, "RERANKERS", {**RERANKERS, NAME: model})
    return model


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, pinned: PinnedModel) -> Iterator[dict[str, Any]]:
    """Serve the files of the pinned model on this machine, in place of the hub."""
    state: dict[str, Any] = {"asked": [], "spoil": lambda name, data: data}

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state["asked"].append(self.path)
            *_, name = self.path.split("/")
            data = state["spoil"](name, (SMALL / "bert" / name).read_bytes())
            if data is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str((SMALL / "bert" / name).stat().st_size))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()

    def open_here(address: str, timeout: float) -> IO[bytes]:
        assert address.startswith("https://huggingface.co/")
        path = address.removeprefix("https://huggingface.co")
        found: IO[bytes] = urlopen(f"http://127.0.0.1:{httpd.server_port}{path}", timeout=timeout)
        return found

    monkeypatch.setattr(fetching.urllib.request, "urlopen", open_here)
    monkeypatch.setattr(fetching, "_is_known_in_time", lambda host: True)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    yield state
    httpd.shutdown()
    httpd.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PALACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "cache"


def test_a_model_is_fetched_at_its_pinned_revision_and_works(
    cache: Path, server: dict[str, Any], pinned: PinnedModel
) -> None:
    done = runner.invoke(app, ["fetch", NAME])
    assert done.exit_code == 0, done.output
    folder = cache / "models" / NAME
    assert done.stdout == f"{folder}\n" and f"--rerank {NAME}" in done.stderr
    begin = f"/{pinned.repository}/resolve/{pinned.revision}/"
    assert server["asked"] == [begin + name for name in FILES]
    assert runner.invoke(app, ["verify", NAME]).stdout == (
        f"{NAME}: all files have the pinned SHA-256\n"
    )
    assert runner.invoke(app, ["path", NAME]).stdout == f"{folder}\n"
    assert [line.split()[1] for line in runner.invoke(app, ["list"]).stdout.splitlines()][-2:] == [
        "ready",
        "missing",
    ]
    assert find_cross_encoder(NAME) == folder
    assert open_cross_encoder(folder).score([("a", "b")]).shape == (1, 1)


SPOILED = {
    "absent": lambda name, data: None,
    "others": lambda name, data: b"x" * len(data),
    "broken off": lambda name, data: data[:-10] if name == FILES[-1] else data,
    "only weights differ": lambda name, data: (
        data[:-1] + bytes([data[-1] ^ 1]) if name == FILES[-1] else data
    ),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_download_that_fails_is_one_line_and_leaves_no_weights(
    cache: Path, server: dict[str, Any], name: str
) -> None:
    server["spoil"] = SPOILED[name]
    error = runner.invoke(app, ["fetch", NAME]).exception
    assert isinstance(error, MissingPartError)
    message = str(error)
    assert "\n" not in message and f"palace models fetch {NAME}" in message
    assert not (cache / "models" / NAME / FILES[-1]).exists()
    assert not is_reranker_here(NAME)


def test_a_fetched_model_that_was_exchanged_is_not_used(
    cache: Path, server: dict[str, Any]
) -> None:
    runner.invoke(app, ["fetch", NAME])
    path = cache / "models" / NAME / FILES[-1]
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(MissingPartError, match="damaged"):
        find_cross_encoder(NAME)
