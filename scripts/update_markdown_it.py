#!/usr/bin/env python3
"""Fetch a version of markdown-it for the page of ``palace view``: update_markdown_it.py VERSION.

The browser build is taken from the npm registry and checked against the digest that the registry
gives. What a page holds is a copy, so the licences of markdown-it and of all that is built into it
stand at the head of the file.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import sys
import tarfile
from pathlib import Path
from typing import Any
from urllib.request import urlopen

REGISTRY = "https://registry.npmjs.org"
BUILD = "package/dist/browser/markdown-it.umd.min.js"
BUNDLED = ("linkify-it", "mdurl", "entities", "uc.micro", "punycode.js")
FOLDER = Path(__file__).resolve().parents[1] / "memory_palace" / "view" / "vendor"
TERMS = re.compile(r"Permission is hereby granted|Redistribution and use")


def fetch_package(name: str, version: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what the registry says of a package, and its files by their path."""
    with urlopen(f"{REGISTRY}/{name}/{version}", timeout=60) as reply:
        entry: dict[str, Any] = json.load(reply)
    with urlopen(entry["dist"]["tarball"], timeout=60) as reply:
        packed = reply.read()
    digest = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()
    if digest != entry["dist"]["integrity"]:
        sys.exit(f"{name}@{version}: the file is {digest}, not {entry['dist']['integrity']}")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        members = [(member.name, archive.extractfile(member)) for member in archive]
        return entry, {path: file.read() for path, file in members if file is not None}


def find_licence(name: str, files: dict[str, bytes]) -> tuple[str, str]:
    """Return the lines of copyright, and the terms."""
    paths = [path for path in files if path.lower().startswith("package/license")]
    text = files[paths[0]].decode() if paths else sys.exit(f"{name} has no licence")
    start = TERMS.search(text)
    if start is None or "*/" in text:
        sys.exit(f"{name} has another kind of licence; read {paths[0]}")
    holders = [line.strip() for line in text[: start.start()].splitlines() if "Copyright" in line]
    if not holders:
        sys.exit(f"{name} names no holder in {paths[0]}")
    return "; ".join(holders), text[start.start() :].strip()


def write_head(packages: list[tuple[dict[str, Any], dict[str, bytes]]]) -> str:
    """Return a comment with all licences, each kind of terms once."""
    holders: dict[str, list[str]] = {}
    terms: dict[str, str] = {}
    for entry, files in packages:
        who, text = find_licence(entry["name"], files)
        kind = " ".join(text.split())
        terms.setdefault(kind, text)
        holders.setdefault(kind, []).append(f"{entry['name']}: {who}")
    parts = ["\n".join(holders[kind]) + "\n\n" + text for kind, text in terms.items()]
    version = packages[0][0]["version"]
    return (
        f"/*! markdown-it {version}, with what is built into it\n\n" + "\n\n".join(parts) + "\n*/\n"
    )


def update(version: str) -> None:
    """Write the library and its manifest."""
    entry, files = fetch_package("markdown-it", version)
    wanted = entry["dependencies"]
    parts = [fetch_package(name, wanted[name].lstrip("^~")) for name in BUNDLED]
    head = write_head([(entry, files), *parts])
    # The comment at the end would have a browser's tools ask for a file that is not there.
    code = files[BUILD].decode().split("//# sourceMappingURL")[0].strip()
    content = f"{head}{code}\n".encode()
    (FOLDER / "markdown-it.min.js").write_bytes(content)
    manifest = {
        "name": "markdown-it",
        "version": version,
        "source": entry["dist"]["tarball"],
        "source_integrity": entry["dist"]["integrity"],
        "source_file": BUILD,
        "file": "markdown-it.min.js",
        "sha256": hashlib.sha256(content).hexdigest(),
        "licences": {part["name"]: part["license"] for part, _ in [(entry, files), *parts]},
    }
    (FOLDER / "markdown-it.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    print(f"{FOLDER / 'markdown-it.min.js'}: {len(content):,} bytes")  # noqa: T201


if __name__ == "__main__":
    update(*sys.argv[1:])
