"""The retriever for LangChain, with the package itself."""

import asyncio
import importlib.util
import sys

import pytest
from writing_notes import index_notes

from memory_palace import MissingPartError, Query

NOTES = {"Boats/boat.md": "# Boat\n\nIt leaks at the bow.\n", "bread.md": "# Bread\n\nIt leaks.\n"}
IS_MISSING = importlib.util.find_spec("langchain_core") is None


@pytest.mark.langchain
@pytest.mark.skipif(IS_MISSING, reason="needs the extra [langchain]")
def test_langchain_gets_passages_and_where_they_stand(tmp_path):
    palace = index_notes(tmp_path, NOTES)
    hits = palace.query("what leaks at the bow", neighbors=0)
    found = palace.retriever().invoke("what leaks at the bow")
    assert [one.page_content for one in found] == [hit.text for hit in hits]
    about = {"path": "Boats/boat.md", "line": 3, "title": "Boat", "score": hits[0].score}
    assert found[0].metadata == about
    chain = palace.retriever(Query(folder="Boats")) | len
    assert asyncio.run(chain.ainvoke("what leaks")) == 1 < len(found)


def test_without_langchain_it_says_what_to_install(palace, monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain_core.documents", None)
    with pytest.raises(MissingPartError, match=r"\[langchain\]"):
        palace.retriever()
