"""Write a link as the notes of a vault write theirs."""

from __future__ import annotations

import posixpath
from collections import Counter
from urllib.parse import quote

from memory_palace.graph.resolve import strip_suffix
from memory_palace.redqueen.vault_names import VaultNames


def write_link(vault: VaultNames, source: str, target: str, words: str) -> str:
    """Return a link around ``words`` in the style of the vault.

    The target is spelled as others spell it, where that leads there from this note too.
    """
    if vault.style == "markdown":
        path = posixpath.relpath(target, posixpath.dirname(source) or ".")
        return f"[{words}]({quote(path)})"
    name = _spell(vault, source, target)
    return f"[[{name}]]" if name == words else f"[[{name}|{words}]]"


def _spell(vault: VaultNames, source: str, target: str) -> str:
    whole = strip_suffix(target)
    parts = whole.split("/")
    ends = ["/".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)]
    usual = [*ends[1:], ends[0]] if vault.names_folders else ends
    others = [name for name, _ in vault.spelled.get(target, Counter()).most_common()]
    for name in (*others, *usual):
        if vault.resolves(name, source) == target:
            return name
    return whole
