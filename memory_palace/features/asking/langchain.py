"""A retriever for LangChain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memory_palace.errors import MissingPartError
from memory_palace.libraries import install_command
from memory_palace.palace import Palace
from memory_palace.query import Query


def make_retriever(palace: Palace, asked: Query | None = None) -> Any:
    """Return a LangChain retriever, with the conditions of ``asked``; it needs langchain-core."""
    try:
        from langchain_core.documents import Document
        from langchain_core.retrievers import BaseRetriever
    except ImportError as error:
        needs = f"a retriever needs langchain-core; run `{install_command('langchain')}`"
        raise MissingPartError(needs) from error

    class PalaceRetriever(BaseRetriever):  # type: ignore[misc]
        def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
            found = []
            for hit in palace.ask(replace(asked or Query(neighbors=0), text=query)):
                about = {"path": hit.path, "line": hit.lines[0], "title": hit.title}
                found.append(Document(hit.text, metadata={**about, "score": hit.score}))
            return found

    return PalaceRetriever()
