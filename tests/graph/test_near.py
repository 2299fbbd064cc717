"""The links of a few notes are those of the whole graph."""

from hypothesis import given
from hypothesis import strategies as st

from memory_palace.graph.resolve import NearLinks
from memory_palace.graph.router import LinkGraph, Neighbors, NoteLinks

PARTS = ["a", "b", "A", "é", "e\u0301", "ﬁ", "a.b", ".md", "index", "K", " a"]
SUFFIXES = ["", ".md", ".MD", ".markdown", ".md.md"]
names = st.sampled_from(PARTS)
stems = st.builds(
    "/".join, st.lists(st.one_of(names, st.sampled_from(["..", ".", ""])), min_size=1, max_size=3)
)
targets = st.builds(str.__add__, stems, st.sampled_from([*SUFFIXES, "/", "/.", "/.."]))
paths = st.builds(
    lambda folders, stem, suffix: "/".join(["palace", *folders, stem + suffix]),
    st.lists(names, max_size=2),
    names,
    st.sampled_from([".md", ".MD", ".markdown", ".md.md"]),
)


@st.composite
def vaults(draw):
    found = sorted(set(draw(st.lists(paths, min_size=1, max_size=6))))
    lists = st.lists(st.one_of(targets, st.sampled_from(found)), max_size=4).map(tuple)
    return found, [draw(st.lists(stems, max_size=2)) for _ in found], [draw(lists) for _ in found]


@given(vaults())
def test_neighbors_are_those_of_the_whole_graph(vault):
    found, aliases, links = vault
    graph = LinkGraph(
        [NoteLinks(p, "", a, t) for p, a, t in zip(found, aliases, links, strict=True)]
    )
    near = NearLinks(found, aliases, links).neighbors_of(found)
    assert near == {path: graph.neighbors(path) for path in found}


def test_a_path_that_is_no_node_has_no_neighbors():
    near = NearLinks(["palace/a.md"], [()], [("b",)])
    assert near.neighbors_of(["palace/z.md"]) == {"palace/z.md": Neighbors((), ())}
