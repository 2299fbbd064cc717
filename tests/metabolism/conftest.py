from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from memory_palace.features.metabolism.ledger import make_ledger
from memory_palace.notes.document import parse_document
from memory_palace.notes.usage import Usage

TODAY = date(2026, 11, 21)
ROOT = Path(__file__).parent.parent.parent


class Notes(dict):
    """Notes in memory: ``notes[path below palace/] = text``."""

    def card(self, slug, *, state="completed", project="winter", link="", **fields):
        fields = {"status": state, "project": project, "completed": "2026-11-01", **fields}
        head = "".join(f"{key}: {value}\n" for key, value in fields.items())
        path = f"dispatch_corridor/{state}/2026-10-01_{slug}.md"
        self[path] = f"---\n{head}---\n# {slug}\n\n## Goal\n\n{link}\n"
        return f"palace/{path}"

    def asset(self, slug, folder="principles", *, day="2026-11-01", body="Do it.", **fields):
        head = "".join(f"{key}: {value}\n" for key, value in {"date": day, **fields}.items())
        path = f"reflection_wing/{folder}/{slug}.md"
        self[path] = f"---\n{head}---\n# {slug}\n\n## Principle\n\n{body}\n"
        return f"palace/{path}"

    def ledger(self, *, usage=None, today=TODAY, settled=(), **more):
        documents = {
            f"palace/{path}": parse_document(
                f"palace/{path}", text.encode(), is_cold=path.startswith("archive_basement")
            )
            for path, text in sorted(self.items())
        }
        more = {name: frozenset(paths) for name, paths in (more | {"settled": settled}).items()}
        return replace(make_ledger(documents, usage or Usage(), today), **more)


@pytest.fixture
def notes():
    return Notes()


@pytest.fixture
def sample_ledger():
    """Return the ledger of the sample palace for a log of use."""
    found = sorted((ROOT / "palace").rglob("*.md"))
    paths = [path.relative_to(ROOT).as_posix() for path in found]
    documents = {
        path: parse_document(path, file.read_bytes(), is_cold="archive_basement" in path)
        for path, file in zip(paths, found, strict=True)
    }
    return lambda usage: make_ledger(documents, usage, TODAY)
