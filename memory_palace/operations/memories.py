"""The memories of a palace: which notes they are, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass

from memory_palace.changing import find_note, read_notes
from memory_palace.errors import UsageError
from memory_palace.mnemonics.form import Form, is_memory, read_form
from memory_palace.mnemonics.token_lint import Corpus
from memory_palace.notes.document import Document, Library
from memory_palace.palace import Palace


@dataclass(frozen=True, slots=True)
class Collection:
    """All notes as they are on the disk, and those among them that are memories."""

    library: Library
    memories: tuple[Document, ...]
    """In path order, cold ones left out."""

    def find(self, name: str) -> Document:
        """Return a memory by path, stem, title or alias; raise ``UsageError`` for another note."""
        document = find_note(self.library, name)
        if not is_memory(document):
            raise UsageError(
                f"{document.path} is no memory: it has no sections Image and Content, and no "
                "`type: memory`; `palace memory new` writes one"
            )
        return document

    def forms(self) -> tuple[Form, ...]:
        """Return all memories taken apart."""
        return tuple(read_form(document) for document in self.memories)

    def corpus(self) -> Corpus:
        """Return the visible words of every note, in which no token may stand."""
        documents = self.library.documents.values()
        return Corpus(
            {d.path: "\n".join((d.title, *d.texts("aliases"), d.body)) for d in documents}
        )


def read_collection(palace: Palace) -> Collection:
    """Read the notes of a palace from the disk; the index may be behind or absent."""
    library = read_notes(palace)
    documents = library.documents.values()
    return Collection(library, tuple(d for d in documents if not d.is_cold and is_memory(d)))
