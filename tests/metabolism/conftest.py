from dataclasses import replace
from datetime import date

import pytest

from memory_palace.features.metabolism.ledger import make_ledger
from memory_palace.notes.document import parse_document
from memory_palace.notes.usage import Usage

TODAY = date(2026, 11, 21)


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
