"""SHA-256 of weight files that are too large to hash at every start."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any

from memory_palace.models import FileStat
from memory_palace.storage.atomic import write_atomic

CACHE_FILE = "weight-digests.json"


def digest_weights(path: Path, *, cache: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    The digest is remembered in ``cache`` under the file's size, times and inode: 2.3 GB of
    weights take seconds to read, and a query should not wait for them. A file whose stat
    differs is read again, and so is one that changed in the same tick as the cache was written.
    """
    resolved = path.resolve()
    remembered, written_ns = _read(cache / CACHE_FILE)
    stat = resolved.stat()
    key = list(FileStat(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino))
    entry = remembered.get(str(resolved), {})
    if entry.get("stat") == key and stat.st_ctime_ns < written_ns:
        return str(entry["sha256"])
    with resolved.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    _remember(cache, {**remembered, str(resolved): {"stat": key, "sha256": digest}})
    return digest


def _read(path: Path) -> tuple[dict[str, dict[str, Any]], int]:
    """Return the entries that are whole, and when they were written."""
    try:
        values = json.loads(path.read_bytes())
        written_ns = path.stat().st_mtime_ns
    except (OSError, ValueError):
        return {}, 0
    if not isinstance(values, dict):
        return {}, 0
    whole = {
        key: entry
        for key, entry in values.items()
        if isinstance(entry, dict) and isinstance(entry.get("sha256"), str)
    }
    return whole, written_ns


def _remember(cache: Path, values: Mapping[str, Any]) -> None:
    try:
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(cache / CACHE_FILE, json.dumps(values, indent=1, sort_keys=True).encode())
    except OSError:
        # A read-only or full cache costs the next process a few seconds, never the answer.
        return
